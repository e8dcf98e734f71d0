//! Numbers that expressions are, whatever variables hold.

use lang_c::ast::{
    BinaryOperator, Constant, Expression, IntegerBase, SpecifierQualifier, TypeSpecifier,
    UnaryOperator,
};
use lang_c::span::Node;

use crate::c_integer::INT;

/// Returns the value of an integer literal.
pub(crate) fn integer(expression: &Expression) -> Option<i128> {
    match expression {
        Expression::Constant(constant) => match &constant.node {
            Constant::Integer(integer) => {
                let radix = match integer.base {
                    IntegerBase::Decimal => 10,
                    IntegerBase::Octal => 8,
                    IntegerBase::Hexadecimal => 16,
                    IntegerBase::Binary => 2,
                };
                let number = i64::from_str_radix(&integer.number, radix).ok()?;
                Some(number.into())
            }
            Constant::Character(text) => character(text),
            Constant::Float(_) => None,
        },
        Expression::UnaryOperator(unary) if unary.node.operator.node == UnaryOperator::Minus => {
            integer(&unary.node.operand.node).map(|value| -value)
        }
        Expression::BinaryOperator(binary) => {
            let (lhs, rhs) = (&binary.node.lhs.node, &binary.node.rhs.node);
            folded(&binary.node.operator.node, integer(lhs)?, integer(rhs)?)
        }
        Expression::SizeOfTy(own) => {
            let name = &own.node.0.node;
            size(&name.specifiers).filter(|_| name.declarator.is_none())
        }
        _ => None,
    }
}

/// Computes with two constants, as far as the result is the same in each type that they may have.
fn folded(operator: &BinaryOperator, a: i128, b: i128) -> Option<i128> {
    let is_plain = |value: &i128| *value >= 0 && INT.has(*value);
    let (a, b) = Some((a, b)).filter(|(a, b)| is_plain(a) && is_plain(b))?;
    let value = match operator {
        BinaryOperator::Plus => a + b,
        BinaryOperator::Minus => a - b,
        BinaryOperator::Multiply => a * b,
        BinaryOperator::Divide => a.checked_div(b)?,
        BinaryOperator::Modulo => a.checked_rem(b)?,
        BinaryOperator::ShiftLeft if b < 31 => a << b,
        BinaryOperator::ShiftRight if b < 31 => a >> b,
        _ => return None,
    };
    Some(value).filter(is_plain)
}

/// Returns how many bytes a type of numbers has; nothing of `long`, which has what the system says.
fn size(specifiers: &[Node<SpecifierQualifier>]) -> Option<i128> {
    let (mut longs, mut found) = (0, None);
    for specifier in specifiers {
        let SpecifierQualifier::TypeSpecifier(inner) = &specifier.node else { return None };
        let size = match &inner.node {
            TypeSpecifier::Char => 1,
            TypeSpecifier::Short => 2,
            TypeSpecifier::Int | TypeSpecifier::Signed | TypeSpecifier::Unsigned => 4,
            TypeSpecifier::Float => 4,
            TypeSpecifier::Double => 8,
            TypeSpecifier::Long => {
                longs += 1;
                8
            }
            _ => return None,
        };
        // `short int` is a `short`, and `long long int` has 8.
        found = match (found, size) {
            (Some(known @ (1 | 2 | 8)), 4) => Some(known),
            (_, size) => Some(size),
        };
    }
    found.filter(|_| longs != 1)
}

/// Returns the value of a character constant; nothing if the compiler chooses it, as for bytes that
/// are no ASCII, and for several characters in one.
fn character(text: &str) -> Option<i128> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let value = match inner.strip_prefix('\\') {
        None => u32::from(one(inner)?),
        Some(escape) => match escape.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None if escape.starts_with(|c: char| c.is_digit(8)) => {
                u32::from_str_radix(escape, 8).ok()?
            }
            None => match one(escape)? {
                'a' => 7,
                'b' => 8,
                't' => 9,
                'n' => 10,
                'v' => 11,
                'f' => 12,
                'r' => 13,
                same @ ('\\' | '\'' | '"' | '?') => u32::from(same),
                _ => return None,
            },
        },
    };
    (value < 128).then_some(value.into())
}

/// Returns the only character of a text.
fn one(text: &str) -> Option<char> {
    let mut all = text.chars();
    all.next().filter(|_| all.next().is_none())
}
