//! Subscripts: sums of what stands in `*(p + i - j)`.

use lang_c::ast::{BinaryOperator, CastExpression, Expression, UnaryOperator};
use lang_c::span::Node;
use tangram_presburger::formula::Expr;

use crate::affine::{Case, Claim, MOST_CASES, always, integer, mapped, pairs};
use crate::build::Builder;
use crate::polynomial::Polynomial;

/// A subscript of which nothing of the source is left to read.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    /// Nothing if it is not affine.
    pub cases: Option<Vec<Case>>,
    pub polynomial: Option<Polynomial>,
    /// As C.
    pub text: String,
    /// The type of its name, if it has one.
    pub element: String,
    /// What has to hold for the name to have the value.
    pub claims: Vec<Claim>,
}

/// A subscript as a sum.
#[derive(Default)]
pub(crate) struct Subscript<'a> {
    /// Where a pointer that it is applied to leads.
    pub start: Option<Settled>,
    /// Each term, and whether it is subtracted.
    pub terms: Vec<(bool, &'a Node<Expression>)>,
}

impl<'a> Subscript<'a> {
    pub fn one(node: &'a Node<Expression>) -> Self {
        Self { start: None, terms: vec![(false, node)] }
    }

    pub fn is_empty(&self) -> bool {
        self.start.is_none() && self.terms.is_empty()
    }
}

impl Builder<'_> {
    /// Reads a subscript, for good.
    pub(crate) fn settled(&mut self, subscript: &Subscript) -> Settled {
        Settled {
            cases: self.cases(subscript),
            polynomial: self.polynomial_of(subscript),
            text: self.sum(subscript),
            element: String::new(),
            claims: Vec::new(),
        }
    }

    /// Reads the value of a subscript; nothing if it is not affine.
    pub(crate) fn cases(&mut self, subscript: &Subscript) -> Option<Vec<Case>> {
        let mut total = match &subscript.start {
            Some(start) => Some(start.cases.clone()?),
            None => None,
        };
        for (negative, term) in &subscript.terms {
            let cases = self.affine(term).ok()?;
            total = Some(match (total, negative) {
                (None, false) => cases,
                (None, true) => mapped(cases, Expr::negated),
                (Some(total), false) => pairs(&total, &cases, |x, y| x.clone().plus(y)),
                (Some(total), true) => pairs(&total, &cases, |x, y| x.clone().minus(y)),
            });
        }
        Some(total.unwrap_or_else(|| always(Expr::constant(0))))
            .filter(|cases| cases.len() <= MOST_CASES)
    }

    pub(crate) fn polynomial_of(&mut self, subscript: &Subscript) -> Option<Polynomial> {
        let start = match &subscript.start {
            Some(start) => start.polynomial.clone()?,
            None => Polynomial::default(),
        };
        subscript.terms.iter().try_fold(start, |sum, (negative, term)| {
            let term = self.polynomial(term)?;
            Some(sum.plus(&term, if *negative { -1 } else { 1 }))
        })
    }

    /// Reads sums and products of loop variables and parameters.
    fn polynomial(&mut self, node: &Node<Expression>) -> Option<Polynomial> {
        if let Some(value) = integer(&node.node) {
            return Some(Polynomial::constant(value));
        }
        match &node.node {
            Expression::Identifier(id)
                if !self.hidden.contains(&id.node.name)
                    && self.value_of(&id.node.name).is_some() =>
            {
                self.value_of(&id.node.name)?.polynomial.clone()
            }
            Expression::Identifier(_) | Expression::Member(_) => {
                match self.affine(node).ok()?.as_slice() {
                    [Case { value, .. }] => Some(Polynomial::name(value.clone())),
                    _ => None,
                }
            }
            // What changes no value is nothing to look at.
            Expression::Cast(cast) if self.is_wide_cast(cast) => {
                self.polynomial(&cast.node.expression)
            }
            Expression::UnaryOperator(unary) => {
                let factor = match unary.node.operator.node {
                    UnaryOperator::Plus => 1,
                    UnaryOperator::Minus => -1,
                    _ => return None,
                };
                Some(Polynomial::default().plus(&self.polynomial(&unary.node.operand)?, factor))
            }
            Expression::BinaryOperator(binary) => {
                let (lhs, rhs) = (&binary.node.lhs, &binary.node.rhs);
                let (a, b) = (self.polynomial(lhs)?, self.polynomial(rhs)?);
                match binary.node.operator.node {
                    BinaryOperator::Plus => Some(a.plus(&b, 1)),
                    BinaryOperator::Minus => Some(a.plus(&b, -1)),
                    BinaryOperator::Multiply => match (a.number(), b.number()) {
                        (None, None) => self.factor(a)?.times(&self.factor(b)?),
                        _ => a.times(&b),
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A sum of parameters, as `n + 1`, that something is multiplied by is one extent.
    fn factor(&self, sum: Polynomial) -> Option<Polynomial> {
        let is_sum = sum.terms.len() > 1;
        let names = || sum.terms.keys().flatten().filter_map(Expr::as_name);
        if is_sum && !names().any(|name| self.is_loop(name)) && sum.affine().is_some() {
            return Some(Polynomial::name(sum.affine()?));
        }
        Some(sum)
    }

    /// Writes a subscript as C.
    pub(crate) fn sum(&self, subscript: &Subscript) -> String {
        let is_sum = |text: &str| !text.contains(['?', '<', '>', '&', '|', '^', '=', '!', ',']);
        let start = subscript.start.as_ref().map(|start| start.text.clone());
        let start = start.filter(|text| text != "0" || subscript.terms.is_empty());
        let start = start.map(|text| (false, is_sum(&text), text));
        let terms = subscript.terms.iter().map(|(negative, term)| {
            let simple = matches!(term.node, Expression::Identifier(_) | Expression::Constant(_));
            (*negative, simple, self.text(term.span))
        });
        let all: Vec<_> = start.into_iter().chain(terms).collect();
        let alone = matches!(all.as_slice(), [(false, ..)]);
        let mut text = String::new();
        for (negative, simple, own) in all {
            text.push_str(match (text.is_empty(), negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            });
            text.push_str(&if simple || alone { own } else { format!("({own})") });
        }
        if text.is_empty() { "0".into() } else { text }
    }

    fn is_wide_cast(&self, cast: &Node<CastExpression>) -> bool {
        self.is_wide_type(self.source_of(&cast.node.type_name))
    }
}
