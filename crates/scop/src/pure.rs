//! Functions of the source that have no effects.
//!
//! Such a function takes numbers, uses nothing but these, variables of its own and other
//! functions without effects, and gives back a number: its calls may run in any order.

use std::collections::BTreeSet;

use lang_c::ast::{
    Declaration, DeclarationSpecifier, Expression, FunctionDefinition, MemberOperator, Statement,
    StorageClassSpecifier, UnaryOperator,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

use crate::declare::Names;
use crate::source::{Source, declared_name};

/// Functions without effects whose result depends on their arguments alone.
const PURE: &[&str] = &[
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos",
    "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "fabs", "floor", "ceil",
    "round", "trunc", "rint", "fmod", "fmin", "fmax", "fma", "hypot", "erf", "tgamma", "copysign",
    "abs", "labs", "min", "max", "MIN", "MAX", "floord", "ceild",
];

/// What the constants `INFINITY`, `HUGE_VAL` and `NAN` stand for.
const CONSTANTS: &[&str] = &["inf", "huge_val", "nan"];

/// Returns whether a function is a constant of `<math.h>`, of any of its types.
pub(crate) fn is_constant(name: &str) -> bool {
    let Some(plain) = name.strip_prefix("__builtin_") else { return false };
    let of_type = plain.strip_suffix(['f', 'l']).unwrap_or(plain);
    CONSTANTS.contains(&plain) || CONSTANTS.contains(&of_type)
}

/// Returns whether a function has no effects, and a result that depends on its arguments alone.
pub(crate) fn is_pure(name: &str) -> bool {
    if is_constant(name) {
        return true;
    }
    let plain = name.trim_start_matches("__builtin_");
    let float = plain.strip_suffix(['f', 'l']).unwrap_or(plain);
    PURE.contains(&plain) || PURE.contains(&float)
}

/// Returns whether the calls of a function have no effects and results that depend on the
/// arguments alone.
pub(crate) fn is_without_effects(
    function: &FunctionDefinition,
    globals: &Names,
    source: &Source,
) -> bool {
    let mut names = Names::default();
    names.parameters(function, source);
    let plain = |name: &String| {
        let array = names.get(name);
        array.is_some_and(|array| {
            array.extents.is_empty() && globals.is_plain_number(&array.element)
        })
    };
    let own: BTreeSet<String> = names.all().collect();
    if !own.iter().all(plain) {
        return false;
    }
    let mut body = Body { globals, own, source, pure: true };
    body.visit_statement(&function.statement.node, &function.statement.span);
    body.pure
}

/// What a function does.
struct Body<'a> {
    globals: &'a Names,
    /// Parameters and variables of its own.
    own: BTreeSet<String>,
    source: &'a Source<'a>,
    pure: bool,
}

impl<'ast> Visit<'ast> for Body<'_> {
    fn visit_statement(&mut self, statement: &'ast Statement, span: &'ast Span) {
        self.pure &= !matches!(statement, Statement::Asm(_));
        visit::visit_statement(self, statement, span);
    }

    fn visit_declaration(&mut self, declaration: &'ast Declaration, span: &'ast Span) {
        let stored = |specifier: &Node<DeclarationSpecifier>| match &specifier.node {
            DeclarationSpecifier::StorageClass(class) => {
                !matches!(class.node, StorageClassSpecifier::Auto | StorageClassSpecifier::Register)
            }
            _ => false,
        };
        let mut names = Names::default();
        names.declare(declaration, self.source);
        let numbers = names.all().all(|name| {
            names.get(&name).is_some_and(|array| {
                !array.extents.iter().any(String::is_empty)
                    && self.globals.is_plain_number(&array.element)
            })
        });
        self.pure &= numbers && !declaration.specifiers.iter().any(stored);
        let declared = declaration.declarators.iter();
        self.own.extend(declared.filter_map(|d| declared_name(&d.node.declarator.node)));
        visit::visit_declaration(self, declaration, span);
    }

    fn visit_expression(&mut self, expression: &'ast Expression, span: &'ast Span) {
        match expression {
            Expression::Identifier(id) => {
                let name = &id.node.name;
                // What is neither its own nor a variable is a constant of an enumeration.
                self.pure &= self.own.contains(name) || self.globals.get(name).is_none();
            }
            Expression::Call(call) => {
                self.pure &= match &call.node.callee.node {
                    Expression::Identifier(id) => {
                        is_pure(&id.node.name) || self.globals.is_pure(&id.node.name)
                    }
                    _ => false,
                };
                for argument in &call.node.arguments {
                    self.visit_expression(&argument.node, &argument.span);
                }
                return;
            }
            Expression::UnaryOperator(unary) => {
                let operator = &unary.node.operator.node;
                self.pure &=
                    !matches!(operator, UnaryOperator::Address | UnaryOperator::Indirection);
            }
            Expression::Member(member) => {
                self.pure &= member.node.operator.node == MemberOperator::Direct;
            }
            Expression::Statement(_) => self.pure = false,
            _ => {}
        }
        visit::visit_expression(self, expression, span);
    }
}
