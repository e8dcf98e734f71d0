//! Subscripts: sums of what stands in `*(p + i - j)`.

use lang_c::ast::{BinaryOperator, CastExpression, Expression, UnaryOperator};
use lang_c::span::Node;
use tangram_presburger::formula::Expr;

use crate::affine::{Case, Claim, MOST_CASES, always, mapped, pairs};
use crate::build::Builder;
use crate::c_integer::{INT, LONG, Range};
use crate::number::integer;
use crate::polynomial::Polynomial;
use crate::wrapping::Wrapping;

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
    /// The values of the type of the text, if it is known.
    pub range: Option<Range>,
    /// In which types it is computed.
    pub wrapping: Wrapping,
    /// What has to hold for the name to have the value.
    pub claims: Vec<Claim>,
}

/// Something that is added to a pointer, or subtracted.
struct Addend {
    negative: bool,
    /// Whether no parentheses are needed.
    simple: bool,
    text: String,
    range: Option<Range>,
}

impl Addend {
    /// Returns whether the type is an `int` or becomes one.
    fn is_int(&self) -> bool {
        self.range.is_some_and(|range| range.promoted() == INT)
    }

    /// Gives it a type that holds what a pointer can be moved by, unless it has one.
    fn widened(self) -> Self {
        if self.range.is_some_and(|range| !range.promoted().wraps()) {
            return self;
        }
        let text = if self.simple { self.text } else { format!("({})", self.text) };
        Self { text: format!("(long long){text}"), simple: true, range: Some(LONG), ..self }
    }
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
        let addends = self.addends(subscript);
        let range = addends.iter().map(|addend| addend.range).reduce(|a, b| Some(a?.common(b?)));
        let read = self.cases(subscript);
        let (cases, claims) =
            read.map_or_else(|| (None, Vec::new()), |(cases, c)| (Some(cases), c));
        Settled {
            cases,
            polynomial: self.polynomial_of(subscript),
            text: sum(addends),
            range: range.unwrap_or(Some(INT)),
            wrapping: self.wrapping(subscript),
            element: String::new(),
            claims,
        }
    }

    /// Reads the value of a subscript, and what has to hold for it; nothing if it is not affine.
    pub(crate) fn cases(&mut self, subscript: &Subscript) -> Option<(Vec<Case>, Vec<Claim>)> {
        let (mut total, mut claims) = match &subscript.start {
            Some(start) => (Some(start.cases.clone()?), start.claims.clone()),
            None => (None, Vec::new()),
        };
        for (negative, term) in &subscript.terms {
            let (cases, more) = self.claimed(term).ok()?;
            claims.extend(more);
            total = Some(match (total, negative) {
                (None, false) => cases,
                (None, true) => mapped(cases, Expr::negated),
                (Some(total), false) => pairs(&total, &cases, |x, y| x.clone().plus(y)),
                (Some(total), true) => pairs(&total, &cases, |x, y| x.clone().minus(y)),
            });
        }
        let cases = total.unwrap_or_else(|| always(Expr::constant(0)));
        (cases.len() <= MOST_CASES).then_some((cases, claims))
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
        sum(self.addends(subscript))
    }

    /// Lists what a subscript is the sum of. Each moves a pointer by a value of its own type: where they
    /// are added to each other first, none may be converted to a type that wraps around.
    fn addends(&self, subscript: &Subscript) -> Vec<Addend> {
        let is_sum = |text: &str| !text.contains(['?', '<', '>', '&', '|', '^', '=', '!', ',']);
        let start = subscript.start.as_ref();
        let start = start.filter(|start| start.text != "0" || subscript.terms.is_empty());
        let start = start.map(|Settled { text, range, .. }| {
            let simple = is_sum(text);
            Addend { negative: false, simple, text: text.clone(), range: *range }
        });
        let terms = subscript.terms.iter().map(|(negative, term)| Addend {
            negative: *negative,
            simple: matches!(term.node, Expression::Identifier(_) | Expression::Constant(_)),
            text: self.text(term.span),
            range: self.range_of(term),
        });
        let all: Vec<Addend> = start.into_iter().chain(terms).collect();
        match all.as_slice() {
            [Addend { negative: false, .. }] => all,
            addends if addends.iter().all(Addend::is_int) => all,
            _ => all.into_iter().map(Addend::widened).collect(),
        }
    }

    fn is_wide_cast(&self, cast: &Node<CastExpression>) -> bool {
        self.is_wide_type(self.source_of(&cast.node.type_name))
    }
}

/// Writes a sum as C.
fn sum(addends: Vec<Addend>) -> String {
    let alone = matches!(addends.as_slice(), [Addend { negative: false, .. }]);
    let mut text = String::new();
    for Addend { negative, simple, text: own, .. } in addends {
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
