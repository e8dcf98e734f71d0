//! Structures as far as declarations tell, and the members that expressions lead to.

use std::collections::BTreeMap;

use lang_c::ast::{
    BinaryOperator, Expression, MemberOperator, SpecifierQualifier, StructDeclaration, StructKind,
    StructType, UnaryOperator,
};
use lang_c::span::Node;

use crate::declare::{Names, shape};
use crate::source::Source;

/// One step from a variable to a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Selector<'n> {
    Subscript(&'n Node<Expression>),
    /// What a pointer points to.
    First,
    Member(&'n str),
}

/// A variable with members and subscripts: `p->f[i].x`.
pub(crate) struct Path<'n> {
    pub base: &'n str,
    pub steps: Vec<Selector<'n>>,
}

impl<'n> Path<'n> {
    /// Takes an expression apart; nothing if it is of another form, or has no member.
    pub fn of(mut node: &'n Expression) -> Option<Self> {
        let mut steps = Vec::new();
        loop {
            match node {
                Expression::Member(member) => {
                    steps.push(Selector::Member(&member.node.identifier.node.name));
                    if member.node.operator.node == MemberOperator::Indirect {
                        steps.push(Selector::First);
                    }
                    node = &member.node.expression.node;
                }
                Expression::BinaryOperator(binary)
                    if binary.node.operator.node == BinaryOperator::Index =>
                {
                    steps.push(Selector::Subscript(&binary.node.rhs));
                    node = &binary.node.lhs.node;
                }
                Expression::UnaryOperator(unary)
                    if unary.node.operator.node == UnaryOperator::Indirection =>
                {
                    steps.push(Selector::First);
                    node = &unary.node.operand.node;
                }
                Expression::Identifier(id) => {
                    steps.reverse();
                    let has_member = steps.iter().any(|step| matches!(step, Selector::Member(_)));
                    return has_member.then_some(Self { base: &id.node.name, steps });
                }
                _ => return None,
            }
        }
    }

    /// Writes it as C, without subscripts.
    pub fn text(&self) -> String {
        let mut text = self.base.to_owned();
        let mut before = ".";
        for step in &self.steps {
            before = match step {
                Selector::Member(name) => {
                    text.push_str(before);
                    text.push_str(name);
                    "."
                }
                Selector::First => "->",
                Selector::Subscript(_) => "[].",
            };
        }
        text
    }

    /// Returns what all ways of writing it have in common.
    pub fn key(&self) -> String {
        key_of(&self.text())
    }
}

/// Returns what all ways of writing a member have in common.
pub(crate) fn key_of(text: &str) -> String {
    text.replace("->", ".").replace("[].", ".")
}

/// A member of a structure.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Its type, or that of its elements.
    pub element: String,
    pub extents: Vec<String>,
    /// Of a pointer, whether it has `restrict`.
    pub restricted: Option<bool>,
}

/// The members of a structure by name.
pub(crate) type Members = BTreeMap<String, Member>;

/// Returns what a structure's type is known by: its tag or, without one, its declaration.
pub(crate) fn key(element: &str) -> Option<String> {
    let text = element.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = text.strip_prefix("struct")?;
    let tag = rest.split('{').next().unwrap_or_default().trim();
    Some(if tag.is_empty() { text } else { format!("struct {tag}") })
}

/// Reads the members of a structure; nothing of a union, and where cells are shared.
pub(crate) fn members(structure: &StructType, source: &Source) -> Option<Members> {
    if structure.kind.node != StructKind::Struct {
        return None;
    }
    let mut all = Members::new();
    for declaration in structure.declarations.as_ref()? {
        let StructDeclaration::Field(field) = &declaration.node else { continue };
        let types = field.node.specifiers.iter().filter_map(|specifier| match &specifier.node {
            SpecifierQualifier::TypeSpecifier(inner) => Some(source.of(inner)),
            _ => None,
        });
        let element = types.collect::<Vec<_>>().join(" ");
        if field.node.declarators.is_empty() {
            return None;
        }
        for declarator in &field.node.declarators {
            let declarator = &declarator.node;
            if declarator.bit_width.is_some() {
                return None;
            }
            let inner = &declarator.declarator.as_ref()?.node;
            // A pointer to a function is no place for data.
            let Some(shape) = shape(inner, source) else { continue };
            let restricted = shape.restricted();
            let extents = shape.extents;
            all.insert(shape.name?, Member { element: element.clone(), extents, restricted });
        }
    }
    Some(all)
}

/// A member that a path leads to.
pub(crate) struct Found {
    pub element: String,
    /// Those of all arrays and pointers on the way.
    pub extents: Vec<String>,
    pub restricted: Option<bool>,
}

impl Names {
    /// Finds what a path leads to, if that is one cell of a type without members.
    pub fn follow(&self, path: &Path) -> Option<Found> {
        let array = self.get(path.base)?;
        let (mut element, mut restricted) = (array.element.clone(), self.restricted(path.base));
        let mut extents = array.extents.clone();
        // How many of the extents have a subscript.
        let mut open = 0;
        for step in &path.steps {
            match step {
                Selector::Member(name) => {
                    let member = self.members(&element)?.get(*name)?;
                    if open != extents.len() {
                        return None;
                    }
                    (element, restricted) = (member.element.clone(), member.restricted);
                    extents.extend(member.extents.iter().cloned());
                    let named = self.extents_of(&element);
                    extents.extend(named);
                }
                Selector::Subscript(_) | Selector::First => open += 1,
            }
        }
        let resolved = self.resolved(&element);
        let plain = self.is_plain_number(&resolved) && open == extents.len();
        plain.then_some(Found { element: resolved, extents, restricted })
    }
}
