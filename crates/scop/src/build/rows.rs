//! Pointers into arrays.
//!
//! ```c
//! const double *row = A + i * n;
//! for (int j = 0; j < n; j++) s += row[j];            // A[i * n + j]
//! ```
//!
//! A pointer that is set once, where it is declared, to a place that only loops and parameters
//! decide is another way to write that place.

use lang_c::ast::{Declaration, Declarator, DeclaratorKind, DerivedDeclarator, Expression};
use lang_c::ast::{InitDeclarator, Initializer, UnaryOperator};
use lang_c::span::Node;

use super::Builder;
use crate::Problem;
use crate::source::declared_name;
use crate::subscript::{Settled, Subscript};

/// Where a pointer leads.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    array: String,
    subscripts: Vec<Settled>,
    /// Whether the pointer's first subscript is added to the last one of these.
    open: bool,
}

impl Row {
    /// Returns the array and its subscripts for those of the pointer.
    pub fn with<'n>(&self, own: Vec<Subscript<'n>>) -> (String, Vec<Subscript<'n>>) {
        let mut all: Vec<Subscript> = Vec::new();
        let mut own = own.into_iter();
        let Some(first) = own.next() else { return (self.array.clone(), all) };
        let start = |start: &Settled| Subscript { start: Some(start.clone()), terms: Vec::new() };
        all.extend(self.subscripts.iter().map(start));
        match all.last_mut().filter(|_| self.open) {
            Some(last) => last.terms = first.terms,
            None => all.push(first),
        }
        all.extend(own);
        (self.array.clone(), all)
    }

    /// How many dimensions of the array the pointer has left behind.
    fn depth(&self) -> usize {
        self.subscripts.len() - usize::from(self.open)
    }
}

/// Returns the value that a pointer gets where it is declared.
pub(super) fn pointed(declarator: &InitDeclarator) -> Option<&Node<Expression>> {
    let is_pointer = |declarator: &Declarator| {
        let pointers =
            |d: &Node<DerivedDeclarator>| matches!(d.node, DerivedDeclarator::Pointer(_));
        declarator.derived.iter().any(pointers)
    };
    let inner = match &declarator.declarator.node.kind.node {
        DeclaratorKind::Declarator(inner) => is_pointer(&inner.node),
        _ => false,
    };
    match &declarator.initializer.as_ref()?.node {
        Initializer::Expression(value) if inner || is_pointer(&declarator.declarator.node) => {
            Some(value)
        }
        _ => None,
    }
}

impl Builder<'_> {
    /// Returns where a pointer of the part leads.
    pub(crate) fn row(&self, name: &str) -> Option<Row> {
        let rows = self.scopes.rows.iter().rev();
        rows.into_iter().find(|(own, _)| own == name).map(|(_, row)| row.clone())
    }

    pub(super) fn declare_row(
        &mut self,
        node: &Node<Declaration>,
        declarator: &Node<InitDeclarator>,
        value: &Node<Expression>,
    ) -> Result<(), Problem> {
        let own = &declarator.node.declarator;
        let source = declared_name(&own.node).unwrap_or_default();
        if self.is_assigned(&source) {
            return self.wrong(declarator, "is a pointer that gets another value in the part");
        }
        if self.is_outermost() && self.kept.contains(&source) {
            let message = "is a pointer that what follows could use: declare it in front of the \
                           part or in a loop";
            return self.wrong(declarator, message);
        }
        let row = self.leads(value)?;
        let Some(name) = self.declare(node, own)? else { return Ok(()) };
        let Some((own, array)) = self.names.get(&name).zip(self.names.get(&row.array)) else {
            return Ok(());
        };
        let rest = array.extents.get(row.depth()..).unwrap_or_default();
        let alike = self.names.resolved(&own.element) == self.names.resolved(&array.element)
            && own.extents.len() == rest.len()
            && own.extents.get(1..) == rest.get(1..);
        if !alike {
            return self.wrong(declarator, "is a pointer to another type than that of the array");
        }
        self.scopes.rows.push((name, row));
        Ok(())
    }

    /// Reads where the value of a pointer leads.
    fn leads(&mut self, value: &Node<Expression>) -> Result<Row, Problem> {
        let place = match &value.node {
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Address =>
            {
                self.place(&unary.node.operand, false)?
            }
            _ => self.place(value, true)?,
        };
        let no_place = "is no place in an array that only loops and parameters decide";
        let Expression::Identifier(id) = &place.base.node else {
            return self.wrong(value, no_place);
        };
        let name = self.named(&id.node.name).to_owned();
        let is_array = self.dimensions(&name).is_some_and(|dimensions| dimensions > 0);
        let moves = self.is_assigned(&id.node.name) || self.hidden.contains(&id.node.name);
        if !is_array || moves || place.member || place.subscripts.is_empty() {
            return self.wrong(value, no_place);
        }
        let (array, mut all) = match self.row(&name) {
            Some(row) => row.with(place.subscripts),
            None => (name, place.subscripts),
        };
        let open = all.last().is_some_and(|last| !last.is_empty());
        if !open {
            all.pop();
        }
        let subscripts: Vec<Settled> =
            all.iter().map(|subscript| self.settled(subscript)).collect();
        if subscripts.iter().any(|s| s.cases.is_none() && s.polynomial.is_none()) {
            return self.wrong(value, no_place);
        }
        let row = Row { array, subscripts, open };
        let outer = &row.subscripts[..row.depth()];
        // Who starts at a fixed row goes through all of them.
        if !outer.is_empty() && outer.iter().all(|s| s.text.parse::<i64>().is_ok()) {
            return self.wrong(value, "leads through rows of an array: use the array itself");
        }
        Ok(row)
    }
}
