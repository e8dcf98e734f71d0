//! Affine expressions and conditions of C as expressions and formulas over names.
//!
//! An expression is a list of cases, each a condition and a value: C's `/` and `%` round
//! towards zero, so they have a case for each sign; `min`, `max` and `?:` have cases, too.
//!
//! Lines that were generated, and extents, are read by `polynomial`, which keeps products.

use lang_c::ast::{
    BinaryOperator, CallExpression, Constant, Expression, IntegerBase, UnaryOperator,
};
use lang_c::span::Node;
use tangram_presburger::formula::{Comparison, Expr, Formula};

use crate::Problem;
use crate::build::quoted;
use crate::declare::{Names, is_wide};
use crate::source::Source;
use crate::structure::Path;

/// More cases than this are not worth it.
pub(crate) const MOST_CASES: usize = 64;

/// A value under a condition.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub condition: Formula,
    pub value: Expr,
}

/// Returns what a name stands for in an affine expression, or says why it may not stand there.
pub(crate) type Resolve<'a> = dyn FnMut(&str) -> Result<Vec<Case>, String> + 'a;

/// Reads affine expressions out of a source.
pub(crate) struct Affine<'a, 'b> {
    pub source: &'a Source<'a>,
    pub resolve: &'a mut Resolve<'b>,
    pub names: &'a Names,
}

/// Holds where both conditions hold.
pub(crate) fn both(a: &Formula, b: &Formula) -> Formula {
    Formula::all([a.clone(), b.clone()])
}

pub(crate) fn always(value: Expr) -> Vec<Case> {
    vec![Case { condition: Formula::always(), value }]
}

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
        _ => None,
    }
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

impl Affine<'_, '_> {
    fn wrong<T, U>(&self, node: &Node<T>, message: &str) -> Result<U, Problem> {
        let text = quoted(self.source.of(node));
        Err(self.source.problem(node.span.start, format!("`{text}` {message}")))
    }

    /// Reads an expression.
    pub fn value(&mut self, node: &Node<Expression>) -> Result<Vec<Case>, Problem> {
        if let Some(value) = integer(&node.node) {
            return Ok(always(Expr::constant(value)));
        }
        match &node.node {
            Expression::Identifier(id) => match (self.resolve)(&id.node.name) {
                Ok(cases) => Ok(cases),
                Err(reason) => self.wrong(node, &reason),
            },
            Expression::Member(_) => match Path::of(&node.node) {
                Some(path) => match (self.resolve)(&path.key()) {
                    Ok(cases) => Ok(cases),
                    Err(reason) => self.wrong(node, &reason),
                },
                None => self.wrong(node, "is not affine"),
            },
            Expression::Cast(cast) => {
                let to = self.names.resolved(self.source.of(&cast.node.type_name));
                if is_wide(&to) {
                    self.value(&cast.node.expression)
                } else {
                    self.wrong(node, "is not affine: the cast may change the value")
                }
            }
            Expression::UnaryOperator(unary) => {
                let inner = self.value(&unary.node.operand)?;
                match unary.node.operator.node {
                    UnaryOperator::Plus => Ok(inner),
                    UnaryOperator::Minus => Ok(mapped(inner, Expr::negated)),
                    _ => self.wrong(node, "is not affine"),
                }
            }
            Expression::BinaryOperator(binary) => {
                let (lhs, rhs) = (&binary.node.lhs, &binary.node.rhs);
                match binary.node.operator.node {
                    BinaryOperator::Plus => self.joined(node, lhs, rhs, |x, y| x.clone().plus(y)),
                    BinaryOperator::Minus => self.joined(node, lhs, rhs, |x, y| x.clone().minus(y)),
                    BinaryOperator::Multiply => self.product(node, lhs, rhs),
                    BinaryOperator::Divide => self.quotient(node, lhs, rhs, false),
                    BinaryOperator::Modulo => self.quotient(node, lhs, rhs, true),
                    _ => self.wrong(node, "is not affine"),
                }
            }
            Expression::Conditional(choice) => {
                let condition = self.condition(&choice.node.condition)?;
                let then = self.value(&choice.node.then_expression)?;
                let other = self.value(&choice.node.else_expression)?;
                let not = condition.clone().negated();
                let within = |cases: Vec<Case>, outer: &Formula| -> Vec<Case> {
                    let case =
                        |case: Case| Case { condition: both(outer, &case.condition), ..case };
                    cases.into_iter().map(case).collect()
                };
                self.few(node, [within(then, &condition), within(other, &not)].concat())
            }
            Expression::Call(call) => self.call(node, &call.node),
            _ => self.wrong(node, "is not affine"),
        }
    }

    fn few(&self, node: &Node<Expression>, cases: Vec<Case>) -> Result<Vec<Case>, Problem> {
        if cases.len() > MOST_CASES { self.wrong(node, "has too many cases") } else { Ok(cases) }
    }

    fn joined(
        &mut self,
        node: &Node<Expression>,
        lhs: &Node<Expression>,
        rhs: &Node<Expression>,
        join: impl Fn(&Expr, &Expr) -> Expr,
    ) -> Result<Vec<Case>, Problem> {
        let (a, b) = (self.value(lhs)?, self.value(rhs)?);
        self.few(node, pairs(&a, &b, join))
    }

    fn product(
        &mut self,
        node: &Node<Expression>,
        lhs: &Node<Expression>,
        rhs: &Node<Expression>,
    ) -> Result<Vec<Case>, Problem> {
        let (factor, other) = match (integer(&lhs.node), integer(&rhs.node)) {
            (Some(factor), _) => (factor, rhs),
            (_, Some(factor)) => (factor, lhs),
            _ => return self.wrong(node, "is not affine: one factor must be a constant"),
        };
        let inner = self.value(other)?;
        Ok(mapped(inner, |value| value.times(factor)))
    }

    /// C rounds quotients towards zero, and a remainder has the sign of the dividend.
    fn quotient(
        &mut self,
        node: &Node<Expression>,
        lhs: &Node<Expression>,
        rhs: &Node<Expression>,
        remainder: bool,
    ) -> Result<Vec<Case>, Problem> {
        let Some(divisor) = integer(&rhs.node).filter(|divisor| *divisor > 0) else {
            return self.wrong(node, "is not affine: the divisor must be a positive constant");
        };
        let mut cases = Vec::new();
        for case in self.value(lhs)? {
            let (value, opposite) = (case.value.clone(), case.value.clone().negated());
            let (up, down) = if remainder {
                (value.modulo(divisor), opposite.modulo(divisor).negated())
            } else {
                (value.floor_div(divisor), opposite.floor_div(divisor).negated())
            };
            let against_zero = |comparison| {
                let compared = case.value.clone().compared(comparison, Expr::constant(0));
                both(&case.condition, &compared)
            };
            let (positive, negative) =
                (against_zero(Comparison::AtLeast), against_zero(Comparison::Below));
            cases.push(Case { condition: positive, value: up });
            cases.push(Case { condition: negative, value: down });
        }
        self.few(node, cases)
    }

    fn call(
        &mut self,
        node: &Node<Expression>,
        call: &CallExpression,
    ) -> Result<Vec<Case>, Problem> {
        let name = match &call.callee.node {
            Expression::Identifier(id) => id.node.name.as_str(),
            _ => "",
        };
        let [a, b] = call.arguments.as_slice() else {
            return self.wrong(node, "is not affine");
        };
        if matches!(name, "floord" | "ceild") {
            let Some(divisor) = integer(&b.node).filter(|divisor| *divisor > 0) else {
                return self.wrong(node, "is not affine: the divisor must be a positive constant");
            };
            let inner = self.value(a)?;
            return Ok(mapped(inner, |value| match name {
                "floord" => value.floor_div(divisor),
                _ => value.ceil_div(divisor),
            }));
        }
        let order = match name {
            "min" | "MIN" => Comparison::AtMost,
            "max" | "MAX" => Comparison::AtLeast,
            _ => return self.wrong(node, "is not affine"),
        };
        let (a, b) = (self.value(a)?, self.value(b)?);
        let mut cases = Vec::new();
        for x in &a {
            for y in &b {
                let common = both(&x.condition, &y.condition);
                let first = x.value.clone().compared(order, y.value.clone());
                cases.push(Case { condition: both(&common, &first), value: x.value.clone() });
                let second = both(&common, &first.negated());
                cases.push(Case { condition: second, value: y.value.clone() });
            }
        }
        self.few(node, cases)
    }

    /// Reads a condition.
    pub fn condition(&mut self, node: &Node<Expression>) -> Result<Formula, Problem> {
        match &node.node {
            Expression::BinaryOperator(binary) => {
                let (lhs, rhs) = (&binary.node.lhs, &binary.node.rhs);
                let sign = match binary.node.operator.node {
                    BinaryOperator::Less => Comparison::Below,
                    BinaryOperator::LessOrEqual => Comparison::AtMost,
                    BinaryOperator::Greater => Comparison::Above,
                    BinaryOperator::GreaterOrEqual => Comparison::AtLeast,
                    BinaryOperator::Equals => Comparison::Equal,
                    BinaryOperator::NotEquals => Comparison::Differs,
                    BinaryOperator::LogicalAnd => {
                        let (a, b) = (self.condition(lhs)?, self.condition(rhs)?);
                        return Ok(Formula::all([a, b]));
                    }
                    BinaryOperator::LogicalOr => {
                        let (a, b) = (self.condition(lhs)?, self.condition(rhs)?);
                        return Ok(Formula::any([a, b]));
                    }
                    _ => return self.truth(node),
                };
                let (a, b) = (self.value(lhs)?, self.value(rhs)?);
                Ok(compared(&a, sign, &b))
            }
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Negate =>
            {
                Ok(self.condition(&unary.node.operand)?.negated())
            }
            _ => self.truth(node),
        }
    }

    /// A number as a condition.
    fn truth(&mut self, node: &Node<Expression>) -> Result<Formula, Problem> {
        let cases = self.value(node)?;
        Ok(compared(&cases, Comparison::Differs, &always(Expr::constant(0))))
    }
}

/// Compares all cases of two expressions.
pub(crate) fn compared(a: &[Case], comparison: Comparison, b: &[Case]) -> Formula {
    Formula::any(a.iter().flat_map(|x| b.iter().map(move |y| (x, y))).map(|(x, y)| {
        let fact = x.value.clone().compared(comparison, y.value.clone());
        Formula::all([x.condition.clone(), y.condition.clone(), fact])
    }))
}

pub(crate) fn mapped(cases: Vec<Case>, f: impl Fn(Expr) -> Expr) -> Vec<Case> {
    cases.into_iter().map(|case| Case { value: f(case.value), ..case }).collect()
}

pub(crate) fn pairs(a: &[Case], b: &[Case], f: impl Fn(&Expr, &Expr) -> Expr) -> Vec<Case> {
    let pair = |x: &Case, y: &Case| Case {
        condition: both(&x.condition, &y.condition),
        value: f(&x.value, &y.value),
    };
    a.iter().flat_map(|x| b.iter().map(move |y| (x, y))).map(|(x, y)| pair(x, y)).collect()
}
