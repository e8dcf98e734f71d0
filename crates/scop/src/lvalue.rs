//! The cells that an expression stands for.

use lang_c::ast::{BinaryOperator, Expression, MemberOperator, UnaryOperator};
use lang_c::span::{Node, Span};
use tangram_presburger::formula::{Expr, Formula};

use crate::Problem;
use crate::access::{Access, Accesses};
use crate::affine::both;
use crate::build::{Builder, VOLATILE};
use crate::c_tokens::{Token, tokens};
use crate::subscript::Subscript;
use crate::wrapping::{Wrapping, Wraps};

/// A variable with subscripts: `a[i][j]`, `*(a[i] + j)`, `a[i].x`.
pub(crate) struct Lvalue<'n> {
    /// The variable, if it is one.
    pub base: &'n Node<Expression>,
    /// The outermost one first.
    pub subscripts: Vec<Subscript<'n>>,
    /// What is left of it without the members that are asked for.
    whole: Span,
    /// Whether it is written with nothing but subscripts.
    plain: bool,
    /// Whether it is a part of its cell, so that writing it keeps what else is there.
    pub member: bool,
}

impl<'n> Lvalue<'n> {
    /// A member of a structure that is an array of its own.
    pub fn of_member(node: &'n Node<Expression>, subscripts: Vec<Subscript<'n>>) -> Self {
        Self { base: node, subscripts, whole: node.span, plain: true, member: false }
    }
}

impl Builder<'_> {
    /// Takes an expression apart into a variable and subscripts.
    ///
    /// `pointed`: whether what it points to is meant.
    pub(crate) fn place<'n>(
        &mut self,
        node: &'n Node<Expression>,
        pointed: bool,
    ) -> Result<Lvalue<'n>, Problem> {
        let mut base = node;
        let mut member = false;
        while let Expression::Member(inner) = &base.node {
            if inner.node.operator.node != MemberOperator::Direct {
                return self.wrong(node, "is a pointer: only subscripts of arrays are followed");
            }
            member = true;
            base = &inner.node.expression;
        }
        let (mut plain, whole) = (!pointed && is_plain(self.source_of(base)), base.span);
        let mut subscripts: Vec<Subscript> = pointed.then(Subscript::default).into_iter().collect();
        loop {
            match &base.node {
                Expression::BinaryOperator(binary)
                    if binary.node.operator.node == BinaryOperator::Index =>
                {
                    subscripts.push(Subscript::one(&binary.node.rhs));
                    base = &binary.node.lhs;
                }
                Expression::UnaryOperator(unary)
                    if unary.node.operator.node == UnaryOperator::Indirection =>
                {
                    subscripts.push(Subscript::default());
                    base = &unary.node.operand;
                    plain = false;
                }
                // `*(p + i)`, and `(p + i)[j]`.
                Expression::BinaryOperator(binary) => {
                    let subscript = match subscripts.last_mut() {
                        Some(subscript) => subscript,
                        None => return self.wrong(node, "is no variable or array element"),
                    };
                    let (lhs, rhs) = (&*binary.node.lhs, &*binary.node.rhs);
                    base = match &binary.node.operator.node {
                        BinaryOperator::Plus if self.is_pointer(lhs) => {
                            subscript.terms.push((false, rhs));
                            lhs
                        }
                        BinaryOperator::Plus if self.is_pointer(rhs) => {
                            subscript.terms.push((false, lhs));
                            rhs
                        }
                        BinaryOperator::Minus if self.is_pointer(lhs) => {
                            subscript.terms.push((true, rhs));
                            lhs
                        }
                        _ => return self.wrong(node, "is no variable or array element"),
                    };
                    plain = false;
                }
                _ => break,
            }
        }
        subscripts.reverse();
        subscripts.iter_mut().for_each(|subscript| subscript.terms.reverse());
        Ok(Lvalue { base, subscripts, whole, plain, member })
    }

    /// Reads the cells that `a[i][j]` or a scalar stands for.
    pub(crate) fn cell(
        &mut self,
        node: &Node<Expression>,
        found: &mut Accesses,
    ) -> Result<Vec<Access>, Problem> {
        if let Some(cells) = self.member_cells(node, found)? {
            return Ok(cells);
        }
        let mut place = self.place(node, false)?;
        let Expression::Identifier(id) = &place.base.node else {
            return self.wrong(node, "is no variable or array element");
        };
        if self.hidden.contains(&id.node.name) {
            let terms = place.subscripts.iter().flat_map(|subscript| &subscript.terms);
            terms.into_iter().try_for_each(|(_, term)| self.reads(term, found))?;
            return Ok(Vec::new());
        }
        let mut name = self.named(&id.node.name).to_owned();
        if self.is_loop(&name) {
            return self.wrong(node, "is a loop variable");
        }
        if !place.subscripts.is_empty() && self.is_assigned(&id.node.name) {
            return self.wrong(node, "goes through a pointer that is assigned in the part");
        }
        if let Some(row) = self.row(&name) {
            let (base, all) = row.with(std::mem::take(&mut place.subscripts));
            if all.is_empty() {
                return self
                    .wrong(node, "is a pointer into an array: only its elements are followed");
            }
            (name, place.subscripts, place.plain) = (base, all, false);
        }
        if self.is_volatile(&name) {
            return self.wrong(node, VOLATILE);
        }
        let extents = self.use_array(&name);
        if extents.is_some_and(|extents| extents != place.subscripts.len()) {
            return self.wrong(node, "has not one subscript for each dimension of the array");
        }
        self.cells(&name, &place, found)
    }

    /// Reads the cells of a variable at subscripts.
    pub(crate) fn cells(
        &mut self,
        name: &str,
        place: &Lvalue,
        found: &mut Accesses,
    ) -> Result<Vec<Access>, Problem> {
        let mut exact = !place.member;
        let (mut pending, mut linear, mut wraps) = (false, None, Wraps::default());
        let mut all = vec![(Formula::always(), Vec::new())];
        for subscript in &place.subscripts {
            subscript.terms.iter().try_for_each(|(_, term)| self.reads(term, found))?;
            if place.subscripts.len() == 1 {
                linear = self.polynomial_of(subscript);
            }
            let wrapping = self.wrapping(subscript);
            wraps.narrow |= wrapping.is_narrow();
            let cases: Vec<(Formula, Option<Expr>)> = match self.cases(subscript) {
                Some((cases, claims)) => {
                    wraps.claims.extend(claims.into_iter().map(|claim| self.assuming(claim)));
                    cases.into_iter().map(|c| (c.condition, Some(c.value))).collect()
                }
                None => {
                    match wrapping {
                        Wrapping::Mixed => linear = None,
                        Wrapping::In(range) => wraps.product = Some(range),
                        Wrapping::Never => {}
                    }
                    pending = linear.is_some();
                    exact &= pending;
                    vec![(Formula::always(), None)]
                }
            };
            let extended = |(condition, values): (Formula, Vec<Option<Expr>>)| {
                cases
                    .iter()
                    .map(move |(own, value)| {
                        let mut values = values.clone();
                        values.push(value.clone());
                        (both(&condition, own), values)
                    })
                    .collect::<Vec<_>>()
            };
            all = all.into_iter().flat_map(extended).collect();
        }
        if !place.plain {
            let texts =
                place.subscripts.iter().map(|subscript| format!("[{}]", self.sum(subscript)));
            let text = format!("{name}{}", texts.collect::<String>());
            self.edit(place.whole, text);
        }
        let access = |(condition, subscripts)| Access {
            condition,
            exact,
            pending,
            linear: linear.clone(),
            wraps: wraps.clone(),
            ..Access::certain(name, subscripts)
        };
        Ok(all.into_iter().map(access).collect())
    }

    /// Returns whether an expression is an array, or leads to one.
    pub(crate) fn is_pointer(&self, mut node: &Node<Expression>) -> bool {
        loop {
            node = match &node.node {
                Expression::Identifier(id) => {
                    let name = self.named(&id.node.name);
                    return self.dimensions(name).is_some_and(|dimensions| dimensions > 0);
                }
                Expression::BinaryOperator(binary) => match binary.node.operator.node {
                    BinaryOperator::Index | BinaryOperator::Minus => &binary.node.lhs,
                    BinaryOperator::Plus if self.is_number(&binary.node.rhs) => &binary.node.lhs,
                    BinaryOperator::Plus => &binary.node.rhs,
                    _ => return false,
                },
                Expression::UnaryOperator(unary)
                    if unary.node.operator.node == UnaryOperator::Indirection =>
                {
                    &unary.node.operand
                }
                _ => return false,
            };
        }
    }

    /// Returns whether an expression is certainly no pointer, as far as it matters for sums.
    fn is_number(&self, node: &Node<Expression>) -> bool {
        match &node.node {
            Expression::Identifier(id) => {
                let name = self.named(&id.node.name);
                self.is_loop(name) || self.dimensions(name).is_none_or(|dimensions| dimensions == 0)
            }
            Expression::BinaryOperator(binary) => match binary.node.operator.node {
                BinaryOperator::Plus | BinaryOperator::Minus => {
                    self.is_number(&binary.node.lhs) && self.is_number(&binary.node.rhs)
                }
                _ => true,
            },
            Expression::UnaryOperator(unary) => {
                unary.node.operator.node != UnaryOperator::Indirection
            }
            _ => true,
        }
    }
}

/// Returns whether a text is a name with nothing but subscripts behind it: `a[i][j]`, and not `(a[i])[j]`.
fn is_plain(text: &str) -> bool {
    let mut depth = 0_usize;
    tokens(text).enumerate().all(|(at, (_, token))| {
        match token {
            Token::Name(_) => return at == 0 || depth > 0,
            Token::Other("[") => depth += 1,
            Token::Other("]") => depth = depth.saturating_sub(1),
            Token::Other(other) => return depth > 0 || other.trim().is_empty(),
        }
        true
    })
}
