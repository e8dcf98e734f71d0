//! Affine expressions and conditions of C as expressions and formulas over names.
//!
//! An expression is a list of cases, each a condition and a value: C's `/` and `%` round
//! towards zero, so they have a case for each sign; `min`, `max` and `?:` have cases, too.
//!
//! Lines that were generated, and extents, are read by `polynomial`, which keeps products.

use lang_c::ast::{
    BinaryOperator, CallExpression, Constant, Expression, IntegerSize, UnaryOperator,
};
use lang_c::span::Node;
use tangram_presburger::formula::{Comparison, Expr, Formula};

use crate::Problem;
use crate::access::is_assignment;
use crate::build::quoted;
use crate::c_integer::{INT, Range, SIZE};
use crate::declare::{Names, is_wide};
use crate::number::integer;
use crate::polynomial::Polynomial;
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

/// A value that has to be one of a type where a condition holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    pub condition: Formula,
    pub value: Expr,
    pub range: Range,
}

impl Claim {
    /// Says that values are those of a type; nothing of constants that are.
    pub fn of(cases: &[Case], range: Range) -> Vec<Self> {
        let range = range.kept();
        let fits = |case: &&Case| {
            case.value
                .as_constant()
                .and_then(|value| value.to_i128())
                .is_some_and(|value| range.has(value))
        };
        let open = cases.iter().filter(|case| !fits(case)).cloned();
        open.map(|Case { condition, value }| Self { condition, value, range }).collect()
    }
}

/// Returns the values of the type of a name, or of the key of a member.
pub(crate) type TypeOf<'a> = dyn Fn(&str) -> Option<Range> + 'a;

/// Returns what a name stands for in an affine expression, or says why it may not stand there.
pub(crate) type Resolve<'a> = dyn FnMut(&str) -> Result<Vec<Case>, String> + 'a;

/// Reads affine expressions out of a source.
pub(crate) struct Affine<'a, 'b> {
    pub source: &'a Source<'a>,
    pub resolve: &'a mut Resolve<'b>,
    pub names: &'a Names,
    pub type_of: &'a TypeOf<'b>,
    /// What has to hold for values to be what they are read as.
    pub claims: Vec<Claim>,
    /// Conditions under which what is read is computed.
    pub given: Vec<Formula>,
}

/// Holds where both conditions hold.
pub(crate) fn both(a: &Formula, b: &Formula) -> Formula {
    Formula::all([a.clone(), b.clone()])
}

pub(crate) fn always(value: Expr) -> Vec<Case> {
    vec![Case { condition: Formula::always(), value }]
}

impl Affine<'_, '_> {
    fn wrong<T, U>(&self, node: &Node<T>, message: &str) -> Result<U, Problem> {
        let text = quoted(self.source.of(node));
        Err(self.source.problem(node.span.start, format!("`{text}` {message}")))
    }

    /// Notes that values are converted to a type.
    fn convert(&mut self, node: &Node<Expression>, cases: &[Case], to: Range) {
        if self.range(node).is_none_or(|own| !to.keeps(own)) {
            self.claim(cases, to);
        }
    }

    fn claim(&mut self, cases: &[Case], to: Range) {
        for claim in Claim::of(cases, to) {
            let condition = Formula::all(self.given.iter().cloned().chain([claim.condition]));
            self.claims.push(Claim { condition, ..claim });
        }
    }

    /// Notes what two operands are converted to, if that wraps around; returns the type.
    fn operands(
        &mut self,
        (lhs, a): (&Node<Expression>, &[Case]),
        (rhs, b): (&Node<Expression>, &[Case]),
    ) -> Option<Range> {
        let to = self.range(lhs)?.common(self.range(rhs)?);
        if to.wraps() {
            self.convert(lhs, a, to);
            self.convert(rhs, b, to);
        }
        Some(to)
    }

    /// Returns the values of the type of an expression, if it is known.
    pub fn range(&self, node: &Node<Expression>) -> Option<Range> {
        range_of(&node.node, &|cast| self.cast_type(cast), self.type_of)
    }

    fn cast_type(&self, cast: &Node<lang_c::ast::TypeName>) -> Range {
        Range::of(&self.names.resolved(self.source.of(cast)))
    }

    /// Reads an expression under a condition.
    fn under<T>(
        &mut self,
        condition: Formula,
        read: impl FnOnce(&mut Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.given.push(condition);
        let result = read(self);
        self.given.pop();
        result
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
                    let cases = self.value(&cast.node.expression)?;
                    let to = self.cast_type(&cast.node.type_name);
                    self.convert(&cast.node.expression, &cases, to);
                    Ok(cases)
                } else {
                    self.wrong(node, "is not affine: the cast may change the value")
                }
            }
            Expression::UnaryOperator(unary) => {
                let inner = self.value(&unary.node.operand)?;
                match unary.node.operator.node {
                    UnaryOperator::Plus => Ok(inner),
                    UnaryOperator::Minus => {
                        let negated = mapped(inner, Expr::negated);
                        let own = self.range(node).filter(|own| own.wraps());
                        own.into_iter().for_each(|own| self.claim(&negated, own));
                        Ok(negated)
                    }
                    _ => self.wrong(node, "is not affine"),
                }
            }
            Expression::BinaryOperator(binary) => {
                let (lhs, rhs) = (&binary.node.lhs, &binary.node.rhs);
                if let Some(count) = self.count(&binary.node.operator.node, lhs, rhs) {
                    return Ok(always(Expr::constant(count)));
                }
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
                let not = condition.clone().negated();
                let (yes, no) = (&choice.node.then_expression, &choice.node.else_expression);
                let then = self.under(condition.clone(), |own| own.value(yes))?;
                let other = self.under(not.clone(), |own| own.value(no))?;
                self.operands((yes, &then), (no, &other));
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
        let to = self.operands((lhs, &a), (rhs, &b));
        let joined = self.few(node, pairs(&a, &b, join))?;
        to.filter(|to| to.wraps()).into_iter().for_each(|to| self.claim(&joined, to));
        Ok(joined)
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
        let product = mapped(inner.clone(), |value| value.times(factor));
        if let Some(to) = self.range(node).filter(|to| to.wraps()) {
            self.convert(other, &inner, to);
            self.claim(&product, to);
        }
        Ok(product)
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
        let dividend = self.value(lhs)?;
        if let Some(to) = self.range(node).filter(|to| to.wraps()) {
            self.convert(lhs, &dividend, to);
        }
        for case in dividend {
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
        let (first, second) = (a, b);
        let (a, b) = (self.value(first)?, self.value(second)?);
        self.operands((first, &a), (second, &b));
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
                        let a = self.condition(lhs)?;
                        let b = self.under(a.clone(), |own| own.condition(rhs))?;
                        return Ok(Formula::all([a, b]));
                    }
                    BinaryOperator::LogicalOr => {
                        let a = self.condition(lhs)?;
                        let b = self.under(a.clone().negated(), |own| own.condition(rhs))?;
                        return Ok(Formula::any([a, b]));
                    }
                    _ => return self.truth(node),
                };
                let (a, b) = (self.value(lhs)?, self.value(rhs)?);
                self.operands((lhs, &a), (rhs, &b));
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

    /// Reads `sizeof(A) / sizeof(A[0])`, or `sizeof(A) / sizeof(double)`, the number of elements of an
    /// array.
    fn count(
        &self,
        operator: &BinaryOperator,
        lhs: &Node<Expression>,
        rhs: &Node<Expression>,
    ) -> Option<i128> {
        let Expression::SizeOfVal(whole) = &lhs.node else { return None };
        let (name, skipped) = indexed(&whole.node.0.node)?;
        let array = self.names.get(name)?;
        let more = match &rhs.node {
            Expression::SizeOfVal(one) => {
                let (other, more) = indexed(&one.node.0.node)?;
                (name == other).then_some(more)?
            }
            Expression::SizeOfTy(one) => {
                let element = self.names.resolved(self.source.of(&one.node.0));
                let is_element = element == self.names.resolved(&array.element);
                is_element.then_some(array.extents.len())?
            }
            _ => return None,
        };
        let is_array = self.names.restricted(name).is_none() && skipped <= more;
        let within = array.extents.get(skipped..more).filter(|_| is_array)?;
        let counts = within.iter().map(|extent| Polynomial::read(extent)?.number());
        let count = counts.product::<Option<i128>>()?;
        (*operator == BinaryOperator::Divide).then_some(count)
    }

    /// A number as a condition.
    fn truth(&mut self, node: &Node<Expression>) -> Result<Formula, Problem> {
        let cases = self.value(node)?;
        Ok(compared(&cases, Comparison::Differs, &always(Expr::constant(0))))
    }
}

/// Returns an array and how many subscripts stand behind it.
fn indexed(mut node: &Expression) -> Option<(&str, usize)> {
    let mut count = 0;
    loop {
        match node {
            Expression::Identifier(id) => return Some((&id.node.name, count)),
            Expression::BinaryOperator(binary)
                if binary.node.operator.node == BinaryOperator::Index =>
            {
                (node, count) = (&binary.node.lhs.node, count + 1);
            }
            Expression::UnaryOperator(unary)
                if unary.node.operator.node == UnaryOperator::Indirection =>
            {
                (node, count) = (&unary.node.operand.node, count + 1);
            }
            _ => return None,
        }
    }
}

/// Returns the values of the type of an expression, if it is known.
pub(crate) fn range_of(
    node: &Expression,
    cast_type: &dyn Fn(&Node<lang_c::ast::TypeName>) -> Range,
    type_of: &TypeOf,
) -> Option<Range> {
    let of = |node: &Node<Expression>| range_of(&node.node, cast_type, type_of);
    match node {
        Expression::Constant(constant) => match &constant.node {
            Constant::Integer(own) => {
                let value = integer(node)?;
                let (signed, wide) = (!own.suffix.unsigned, own.suffix.size != IntegerSize::Int);
                let fits = Range::bits(32, signed).has(value) && !wide;
                Some(Range::bits(if fits { 32 } else { 64 }, signed))
            }
            Constant::Character(_) => Some(INT),
            Constant::Float(_) => None,
        },
        Expression::Identifier(id) => type_of(&id.node.name),
        Expression::Member(_) => type_of(&Path::of(node)?.key()),
        Expression::Cast(cast) => Some(cast_type(&cast.node.type_name)),
        Expression::SizeOfVal(_) | Expression::SizeOfTy(_) => Some(SIZE),
        Expression::UnaryOperator(unary) => match unary.node.operator.node {
            UnaryOperator::Negate => Some(INT),
            _ => Some(of(&unary.node.operand)?.promoted()),
        },
        Expression::BinaryOperator(binary) => match binary.node.operator.node {
            BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::BitwiseAnd
            | BinaryOperator::BitwiseOr
            | BinaryOperator::BitwiseXor => {
                Some(of(&binary.node.lhs)?.common(of(&binary.node.rhs)?))
            }
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                Some(of(&binary.node.lhs)?.promoted())
            }
            // The name of an array has the type of its elements here.
            BinaryOperator::Index => type_of(indexed(node)?.0),
            ref operator if is_assignment(operator) => of(&binary.node.lhs),
            _ => Some(INT),
        },
        Expression::Conditional(choice) => {
            Some(of(&choice.node.then_expression)?.common(of(&choice.node.else_expression)?))
        }
        Expression::Call(call) => match call.node.arguments.as_slice() {
            [a, b] => Some(of(a)?.common(of(b)?)),
            _ => None,
        },
        _ => None,
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
