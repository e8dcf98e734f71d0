//! Numbers that have names: constants of enumerations, and integers that are `const`.
//!
//! ```c
//! enum { TILE = 32 };                         enum { TILE = 32 };
//! for (int i = 0; i < n; i += TILE)           for (int i = 0; i < n; i += 32)
//!     x[TILE * i] = 0;                            x[32 * i] = 0;
//! ```
//!
//! A name gives way to its number where one has to stand: in steps, factors, divisors and labels of
//! `switch`. Elsewhere it stays, as the parameter that extents of arrays name as well. What is written
//! for a body is its text, which keeps the name.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lang_c::ast::{
    BinaryOperator, BlockItem, Constant, Declaration, DeclarationSpecifier, Enumerator, Expression,
    ForStatement, Initializer, Integer, IntegerBase, IntegerSize, IntegerSuffix, Label, Statement,
    TypeQualifier, UnaryOperator, UnaryOperatorExpression,
};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};

use crate::c_integer::{INT, LONG, Range, SIZE};
use crate::declare::{element, is_integer};
use crate::number::integer;
use crate::source::{Source, declared_name};

/// How much of an expression is looked at to find whether it is a number: nobody writes longer ones, and
/// each factor of a product is looked at anew.
const LONGEST: usize = 64;

/// Numbers by their names, with the types that they have.
#[derive(Clone, Default)]
pub(crate) struct Constants {
    /// Copied only for a function that declares a name of it, or a number of its own.
    known: Rc<BTreeMap<String, (i128, Range)>>,
    /// All that is declared outside of functions.
    global: Rc<BTreeSet<String>>,
}

impl Constants {
    /// Notes what a declaration outside of functions declares.
    pub fn declare(&mut self, declaration: &Declaration, source: &Source) {
        let constants = std::mem::take(self);
        let mut found = Found { source, constants, declared: BTreeMap::new() };
        found.visit_declaration(declaration, &Span::none());
        *self = found.constants;
        Rc::make_mut(&mut self.global).extend(found.declared.into_keys());
    }

    /// Puts numbers in the place of names in a function.
    pub fn replace(&self, function: &mut lang_c::ast::FunctionDefinition, source: &Source) {
        let mut found = Found { source, constants: self.clone(), declared: BTreeMap::new() };
        found.visit_function_definition(function, &Span::none());
        let Found { constants: mut own, declared, .. } = found;
        // A name that the function declares is a number where it can stand for nothing else.
        for (name, count) in declared {
            if count != 1 || self.global.contains(&name) {
                own.forget(&name);
            }
        }
        if !own.known.is_empty() {
            own.inside(&mut function.statement);
        }
    }

    fn forget(&mut self, name: &str) {
        if self.known.contains_key(name) {
            Rc::make_mut(&mut self.known).remove(name);
        }
    }

    fn inside(&self, body: &mut Node<Statement>) {
        let mut open = vec![Place::Statement(body)];
        while let Some(place) = open.pop() {
            match place {
                Place::Statement(statement) => self.statement(&mut statement.node, &mut open),
                Place::Expression(expression) => self.operands(&mut expression.node, &mut open),
            }
        }
    }

    fn statement<'a>(&self, statement: &'a mut Statement, open: &mut Vec<Place<'a>>) {
        let mut some = |inner: &'a mut Option<Box<Node<Expression>>>| {
            open.extend(inner.as_deref_mut().map(Place::Expression));
        };
        match statement {
            Statement::Expression(inner) | Statement::Return(inner) => some(inner),
            Statement::For(inner) => {
                let ForStatement { initializer, condition, step, statement } = &mut inner.node;
                self.step(step.as_deref_mut());
                some(condition);
                if let lang_c::ast::ForInitializer::Declaration(own) = &mut initializer.node {
                    in_values(&mut own.node, open);
                }
                open.push(Place::Statement(statement));
            }
            Statement::If(inner) => {
                open.push(Place::Expression(&mut inner.node.condition));
                open.push(Place::Statement(&mut inner.node.then_statement));
                open.extend(inner.node.else_statement.as_deref_mut().map(Place::Statement));
            }
            Statement::While(inner) => {
                open.push(Place::Expression(&mut inner.node.expression));
                open.push(Place::Statement(&mut inner.node.statement));
            }
            Statement::DoWhile(inner) => {
                open.push(Place::Expression(&mut inner.node.expression));
                open.push(Place::Statement(&mut inner.node.statement));
            }
            Statement::Switch(inner) => {
                open.push(Place::Expression(&mut inner.node.expression));
                open.push(Place::Statement(&mut inner.node.statement));
            }
            Statement::Labeled(inner) => {
                if let Label::Case(value) = &mut inner.node.label.node {
                    self.number(value);
                }
                open.push(Place::Statement(&mut inner.node.statement));
            }
            Statement::Compound(items) => {
                for item in items {
                    match &mut item.node {
                        BlockItem::Statement(inner) => open.push(Place::Statement(inner)),
                        BlockItem::Declaration(own) => in_values(&mut own.node, open),
                        BlockItem::StaticAssert(_) => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Puts numbers in the place of factors and divisors.
    fn operands<'a>(&self, expression: &'a mut Expression, open: &mut Vec<Place<'a>>) {
        match expression {
            Expression::BinaryOperator(binary) => {
                let needs_number = matches!(
                    binary.node.operator.node,
                    BinaryOperator::Multiply
                        | BinaryOperator::Divide
                        | BinaryOperator::Modulo
                        | BinaryOperator::ShiftLeft
                        | BinaryOperator::ShiftRight
                );
                if needs_number {
                    self.number(&mut binary.node.lhs);
                    self.number(&mut binary.node.rhs);
                }
                open.push(Place::Expression(&mut binary.node.lhs));
                open.push(Place::Expression(&mut binary.node.rhs));
            }
            Expression::UnaryOperator(unary) => {
                open.push(Place::Expression(&mut unary.node.operand));
            }
            Expression::Cast(cast) => open.push(Place::Expression(&mut cast.node.expression)),
            Expression::Member(inner) => open.push(Place::Expression(&mut inner.node.expression)),
            Expression::Call(call) => {
                open.extend(call.node.arguments.iter_mut().map(Place::Expression));
            }
            Expression::Conditional(choice) => {
                open.push(Place::Expression(&mut choice.node.condition));
                open.push(Place::Expression(&mut choice.node.then_expression));
                open.push(Place::Expression(&mut choice.node.else_expression));
            }
            Expression::Comma(all) => open.extend(all.iter_mut().map(Place::Expression)),
            _ => {}
        }
    }

    /// Puts a number in the place of what a loop steps by.
    fn step(&self, step: Option<&mut Node<Expression>>) {
        let Some(Expression::BinaryOperator(binary)) = step.map(|step| &mut step.node) else {
            return;
        };
        match binary.node.operator.node {
            BinaryOperator::AssignPlus | BinaryOperator::AssignMinus => {
                self.number(&mut binary.node.rhs);
            }
            BinaryOperator::Assign => {
                if let Expression::BinaryOperator(sum) = &mut binary.node.rhs.node {
                    self.number(&mut sum.node.lhs);
                    self.number(&mut sum.node.rhs);
                }
            }
            _ => {}
        }
    }

    /// Puts numbers in the place of the names of an expression, if it has a value then.
    fn number(&self, node: &mut Node<Expression>) {
        let (mut open, mut seen) = (vec![&*node], 0);
        let mut named = false;
        while let Some(inner) = open.pop() {
            seen += 1;
            match &inner.node {
                _ if seen > LONGEST => return,
                Expression::Constant(_) => {}
                Expression::Identifier(id) if self.known.contains_key(&id.node.name) => {
                    named = true
                }
                Expression::BinaryOperator(binary) => {
                    open.extend([&*binary.node.lhs, &*binary.node.rhs]);
                }
                Expression::UnaryOperator(unary) => open.push(&unary.node.operand),
                _ => return,
            }
        }
        if !named {
            return;
        }
        let mut new = node.clone();
        let mut open = vec![&mut new];
        while let Some(inner) = open.pop() {
            let span = inner.span;
            if let Expression::Identifier(id) = &inner.node {
                let Some(literal) =
                    self.known.get(&id.node.name).and_then(|own| literal(*own, span))
                else {
                    return;
                };
                inner.node = literal;
                continue;
            }
            match &mut inner.node {
                Expression::BinaryOperator(binary) => {
                    open.extend([&mut *binary.node.lhs, &mut *binary.node.rhs]);
                }
                Expression::UnaryOperator(unary) => open.push(&mut unary.node.operand),
                _ => {}
            }
        }
        if integer(&new.node).is_some() {
            *node = new;
        }
    }
}

/// What is left to look through.
enum Place<'a> {
    Statement(&'a mut Node<Statement>),
    Expression(&'a mut Node<Expression>),
}

fn in_values<'a>(declaration: &'a mut Declaration, open: &mut Vec<Place<'a>>) {
    let values = declaration.declarators.iter_mut();
    let values = values.filter_map(|own| own.node.initializer.as_mut());
    open.extend(values.filter_map(|value| match &mut value.node {
        Initializer::Expression(value) => Some(Place::Expression(value)),
        Initializer::List(_) => None,
    }));
}

/// Writes a number as C does in a type; nothing where it would have another one.
fn literal((value, range): (i128, Range), span: Span) -> Option<Expression> {
    let (size, unsigned) = match range {
        INT => (IntegerSize::Int, false),
        LONG => (IntegerSize::Long, false),
        SIZE => (IntegerSize::Long, true),
        own if own == Range::bits(32, false) => (IntegerSize::Int, true),
        _ => return None,
    };
    // The least value of a type is no literal of it with a sign.
    if !range.has(value) || !range.has(value.abs()) {
        return None;
    }
    let number = Integer {
        base: IntegerBase::Decimal,
        number: value.abs().to_string().into(),
        suffix: IntegerSuffix { size, unsigned, imaginary: false },
    };
    let constant = Expression::Constant(Box::new(Node::new(Constant::Integer(number), span)));
    if value >= 0 {
        return Some(constant);
    }
    let operator = Node::new(UnaryOperator::Minus, span);
    let negative =
        UnaryOperatorExpression { operator, operand: Box::new(Node::new(constant, span)) };
    Some(Expression::UnaryOperator(Box::new(Node::new(negative, span))))
}

/// Finds the numbers that have names, and all names that are declared.
struct Found<'a> {
    source: &'a Source<'a>,
    constants: Constants,
    declared: BTreeMap<String, usize>,
}

impl Found<'_> {
    /// Computes the value of an expression with the numbers that are known.
    fn value(&self, node: &Node<Expression>) -> Option<i128> {
        let mut node = node.clone();
        self.constants.number(&mut node);
        integer(&node.node)
    }

    fn note(&mut self, name: &str, value: Option<(i128, Range)>) {
        *self.declared.entry(name.to_owned()).or_default() += 1;
        match value {
            Some(value) => {
                Rc::make_mut(&mut self.constants.known).insert(name.to_owned(), value);
            }
            None => self.constants.forget(name),
        }
    }
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_enum_type(&mut self, own: &'ast lang_c::ast::EnumType, _: &'ast Span) {
        let mut next = Some(0);
        for Node { node: Enumerator { identifier, expression, .. }, .. } in &own.enumerators {
            let value = match expression {
                Some(value) => self.value(value),
                None => next,
            };
            // One that is no `int` has a type that the compiler chooses.
            let value = value.filter(|value| INT.has(*value));
            self.note(&identifier.node.name, value.map(|value| (value, INT)));
            next = value.map(|value| value + 1);
        }
    }

    fn visit_declaration(&mut self, own: &'ast Declaration, span: &'ast Span) {
        let is_const = own.specifiers.iter().any(|specifier| {
            matches!(&specifier.node, DeclarationSpecifier::TypeQualifier(q) if q.node == TypeQualifier::Const)
        });
        let words = element(&own.specifiers, self.source);
        let is_number = is_const && is_integer(&words) && !words.contains("volatile");
        visit::visit_declaration(self, own, span);
        for declarator in &own.declarators {
            let Some(name) = declared_name(&declarator.node.declarator.node) else { continue };
            let plain = is_number && declarator.node.declarator.node.derived.is_empty();
            let value = match declarator.node.initializer.as_ref().map(|value| &value.node) {
                Some(Initializer::Expression(value)) if plain => self.value(value),
                _ => None,
            };
            let range = Range::of(&words);
            let value = value.filter(|value| range.kept().has(*value));
            // Its declarator was counted as all are.
            self.declared.entry(name.clone()).and_modify(|count| *count -= 1);
            self.note(&name, value.map(|value| (value, range.promoted())));
        }
    }

    fn visit_declarator(&mut self, own: &'ast lang_c::ast::Declarator, span: &'ast Span) {
        if let Some(name) = declared_name(own) {
            self.note(&name, None);
        }
        visit::visit_declarator(self, own, span);
    }
}
