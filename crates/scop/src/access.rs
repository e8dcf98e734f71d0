//! What a statement reads and writes.

use lang_c::ast::{BinaryOperator, CastExpression, Expression, MemberOperator, UnaryOperator};
use lang_c::span::Node;

use crate::Problem;
use crate::affine::{Case, always, both, integer, mapped, pairs};
use crate::build::{Builder, VOLATILE};
use crate::polynomial::Polynomial;

/// Functions without effects whose result depends on their arguments alone.
const PURE: &[&str] = &[
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos",
    "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "fabs", "floor", "ceil",
    "round", "trunc", "rint", "fmod", "fmin", "fmax", "fma", "hypot", "erf", "tgamma", "copysign",
    "abs", "labs", "min", "max", "MIN", "MAX", "floord", "ceild",
];

/// What names that are no variables start with.
pub(crate) const ANYWHERE: &str = "tangram_any_";

/// Cells of an array as text: `A[i + 1, j]`, under a condition.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub cells: String,
    pub condition: String,
    /// Whether these are exactly the cells; otherwise they are more.
    pub exact: bool,
    /// Whether they are every place until the array has several dimensions.
    pub pending: bool,
    /// The subscript of an array in one dimension.
    pub linear: Option<Polynomial>,
}

impl Access {
    /// Cells that the notation of sets says exactly.
    pub fn certain(cells: String) -> Self {
        Self { cells, condition: String::new(), exact: true, pending: false, linear: None }
    }

    /// Returns the name of the array.
    pub fn array(&self) -> &str {
        self.cells.split('[').next().unwrap_or_default()
    }

    /// Says whether it is of all cells, and certain.
    pub fn is_whole(&self) -> bool {
        self.exact && !self.pending && self.cells.contains(ANYWHERE)
    }
}

/// The accesses of one statement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accesses {
    pub reads: Vec<Access>,
    /// What is certainly written.
    pub writes: Vec<Access>,
    /// What is perhaps written.
    pub may_writes: Vec<Access>,
    /// Whose value ends.
    pub kills: Vec<Access>,
}

impl Accesses {
    fn write(&mut self, cells: Vec<Access>) {
        let (exact, other): (Vec<_>, Vec<_>) = cells.into_iter().partition(|access| access.exact);
        self.writes.extend(exact);
        self.may_writes.extend(other);
    }
}

impl Builder<'_> {
    /// Collects the accesses of an expression that is a statement.
    pub(crate) fn effects(&mut self, node: &Node<Expression>) -> Result<Accesses, Problem> {
        let mut found = Accesses::default();
        match &node.node {
            Expression::BinaryOperator(binary) if is_assignment(&binary.node.operator.node) => {
                match &binary.node.rhs.node {
                    // `a = b = c`
                    Expression::BinaryOperator(inner)
                        if is_assignment(&inner.node.operator.node) =>
                    {
                        found = self.effects(&binary.node.rhs)?;
                    }
                    _ => self.reads(&binary.node.rhs, &mut found)?,
                }
                let target = self.cell(&binary.node.lhs, &mut found)?;
                if binary.node.operator.node != BinaryOperator::Assign {
                    found.reads.extend(target.iter().cloned());
                }
                found.write(target);
            }
            Expression::UnaryOperator(unary) if is_step(&unary.node.operator.node) => {
                let target = self.cell(&unary.node.operand, &mut found)?;
                found.reads.extend(target.iter().cloned());
                found.write(target);
            }
            _ => return self.wrong(node, "is no assignment"),
        }
        Ok(found)
    }

    /// Collects what an expression reads.
    pub(crate) fn reads(
        &mut self,
        node: &Node<Expression>,
        found: &mut Accesses,
    ) -> Result<(), Problem> {
        match &node.node {
            Expression::Constant(_) | Expression::SizeOfTy(_) | Expression::SizeOfVal(_) => Ok(()),
            Expression::Identifier(id) => {
                let name = &id.node.name;
                if self.hidden.contains(name) || self.is_loop(self.named(name)) {
                    return Ok(());
                }
                if self.is_loop_variable(name) {
                    return self.wrong(node, "is a loop variable, used outside its loop");
                }
                let cells = self.cell(node, found)?;
                if self.is_written(name) {
                    found.reads.extend(cells);
                }
                Ok(())
            }
            Expression::Cast(cast) => self.reads(&cast.node.expression, found),
            Expression::UnaryOperator(unary) => match unary.node.operator.node {
                UnaryOperator::Plus
                | UnaryOperator::Minus
                | UnaryOperator::Complement
                | UnaryOperator::Negate => self.reads(&unary.node.operand, found),
                UnaryOperator::Indirection => {
                    let cells = self.cell(node, found)?;
                    found.reads.extend(cells);
                    Ok(())
                }
                UnaryOperator::Address => {
                    self.wrong(node, "takes an address: only elements of arrays are followed")
                }
                _ => self.wrong(node, "has an effect inside an expression"),
            },
            Expression::BinaryOperator(binary) => {
                let operator = &binary.node.operator.node;
                if *operator == BinaryOperator::Index {
                    let cells = self.cell(node, found)?;
                    found.reads.extend(cells);
                    return Ok(());
                }
                if is_assignment(operator) {
                    return self.wrong(node, "has an effect inside an expression");
                }
                self.reads(&binary.node.lhs, found)?;
                self.reads(&binary.node.rhs, found)
            }
            Expression::Conditional(choice) => {
                self.reads(&choice.node.condition, found)?;
                self.reads(&choice.node.then_expression, found)?;
                self.reads(&choice.node.else_expression, found)
            }
            Expression::Call(call) => {
                let name = match &call.node.callee.node {
                    Expression::Identifier(id) => id.node.name.as_str(),
                    _ => "",
                };
                if !is_pure(name) && !self.is_pure_here(name) {
                    return self.wrong(node, "calls a function that is not known to be pure");
                }
                call.node.arguments.iter().try_for_each(|argument| self.reads(argument, found))
            }
            Expression::Member(_) => {
                let cells = self.cell(node, found)?;
                found.reads.extend(cells);
                Ok(())
            }
            _ => self.wrong(node, "is not supported in a static control part"),
        }
    }

    /// Collects what a call of a kill ends the value of.
    pub(crate) fn killed(&mut self, node: &Node<Expression>) -> Result<Accesses, Problem> {
        let mut accesses = Accesses::default();
        let Expression::Call(call) = &node.node else { return Ok(accesses) };
        for argument in &call.node.arguments {
            match &argument.node {
                Expression::Identifier(id) if self.element(self.named(&id.node.name)).is_some() => {
                    let name = self.named(&id.node.name).to_owned();
                    self.use_array(&name);
                    accesses.kills.push(self.all_cells(&name));
                }
                _ => {
                    let cells = self.cell(argument, &mut accesses)?;
                    // What is perhaps not the cell keeps its value.
                    accesses.kills.extend(cells.into_iter().filter(|cell| cell.exact));
                }
            }
        }
        accesses.reads.clear();
        Ok(accesses)
    }

    /// Returns every cell of a variable.
    pub(crate) fn all_cells(&mut self, name: &str) -> Access {
        let dims = self.dimensions(name).unwrap_or_default();
        let subscripts: Vec<String> = (0..dims).map(|at| format!("{ANYWHERE}{at}")).collect();
        let cells = format!("{name}[{}]", subscripts.join(", "));
        Access::certain(cells)
    }

    /// Reads the cells that `a[i][j]` or a scalar stands for.
    fn cell(
        &mut self,
        node: &Node<Expression>,
        found: &mut Accesses,
    ) -> Result<Vec<Access>, Problem> {
        let mut subscripts = Vec::new();
        let mut base = node;
        // A member is a part of its cell: writing it keeps what else is there.
        let mut exact = true;
        while let Expression::Member(member) = &base.node {
            if member.node.operator.node != MemberOperator::Direct {
                return self.wrong(node, "is a pointer: only subscripts of arrays are followed");
            }
            exact = false;
            base = &member.node.expression;
        }
        let (mut plain, whole) = (true, base);
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
        let Expression::Identifier(id) = &base.node else {
            return self.wrong(node, "is no variable or array element");
        };
        if self.hidden.contains(&id.node.name) {
            let terms = subscripts.iter().flat_map(|subscript| &subscript.terms);
            terms.into_iter().try_for_each(|(_, term)| self.reads(term, found))?;
            return Ok(Vec::new());
        }
        let name = self.named(&id.node.name).to_owned();
        if self.is_loop(&name) {
            return self.wrong(node, "is a loop variable");
        }
        if self.is_volatile(&name) {
            return self.wrong(node, VOLATILE);
        }
        let extents = self.use_array(&name);
        if extents.is_some_and(|extents| extents != subscripts.len()) {
            return self.wrong(node, "has not one subscript for each dimension of the array");
        }
        if !subscripts.is_empty() && self.is_assigned(&id.node.name) {
            return self.wrong(node, "goes through a pointer that is assigned in the part");
        }
        let (mut pending, mut linear) = (false, None);
        let mut all = vec![(String::new(), Vec::new())];
        for (dimension, subscript) in subscripts.iter().enumerate() {
            subscript.terms.iter().try_for_each(|(_, term)| self.reads(term, found))?;
            let cases = self.cases(subscript);
            if subscripts.len() == 1 {
                linear = self.polynomial_of(subscript);
            }
            let cases = cases.unwrap_or_else(|_| {
                pending = linear.is_some();
                exact &= pending;
                // A name of its own is free: it stands for every place.
                let value = format!("{ANYWHERE}{dimension}");
                vec![Case { condition: String::new(), value }]
            });
            let extended = |(condition, values): (String, Vec<String>)| {
                cases
                    .iter()
                    .map(move |case| {
                        let mut values = values.clone();
                        values.push(case.value.clone());
                        (both(&condition, &case.condition), values)
                    })
                    .collect::<Vec<_>>()
            };
            all = all.into_iter().flat_map(extended).collect();
        }
        if !plain {
            let texts = subscripts.iter().map(|subscript| format!("[{}]", self.sum(subscript)));
            let text = format!("{name}{}", texts.collect::<String>());
            self.edit(whole.span, text);
        }
        let access = |(condition, values): (String, Vec<String>)| Access {
            cells: format!("{name}[{}]", values.join(", ")),
            condition,
            exact,
            pending,
            linear: linear.clone(),
        };
        Ok(all.into_iter().map(access).collect())
    }
}

/// A subscript as the sum of what stands in `*(p + i - j)`: each term, and whether it is
/// subtracted.
#[derive(Default)]
struct Subscript<'a> {
    terms: Vec<(bool, &'a Node<Expression>)>,
}

impl<'a> Subscript<'a> {
    fn one(node: &'a Node<Expression>) -> Self {
        Self { terms: vec![(false, node)] }
    }
}

impl Builder<'_> {
    /// Reads the value of a subscript.
    fn cases(&mut self, subscript: &Subscript) -> Result<Vec<Case>, Problem> {
        let mut total: Option<Vec<Case>> = None;
        for (negative, term) in &subscript.terms {
            let cases = self.affine(term)?;
            total = Some(match (total, negative) {
                (None, false) => cases,
                (None, true) => mapped(cases, |value| format!("-({value})")),
                (Some(total), false) => pairs(&total, &cases, |x, y| format!("{x} + ({y})")),
                (Some(total), true) => pairs(&total, &cases, |x, y| format!("{x} - ({y})")),
            });
        }
        Ok(total.unwrap_or_else(|| always("0".into())))
    }

    fn polynomial_of(&mut self, subscript: &Subscript) -> Option<Polynomial> {
        subscript.terms.iter().try_fold(Polynomial::default(), |sum, (negative, term)| {
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
            Expression::Identifier(_) => match self.affine(node).ok()?.as_slice() {
                [Case { value, .. }] => Some(Polynomial::name(value.clone())),
                _ => None,
            },
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
        let names = || sum.terms.keys().flatten();
        if is_sum && !names().any(|name| self.is_loop(name)) && sum.affine().is_some() {
            return Some(Polynomial::name(sum.affine()?));
        }
        Some(sum)
    }

    /// Writes a subscript as C.
    fn sum(&self, subscript: &Subscript) -> String {
        let mut text = String::new();
        for (negative, term) in &subscript.terms {
            let simple = matches!(term.node, Expression::Identifier(_) | Expression::Constant(_));
            let own = self.text(term.span);
            let own = if simple || subscript.terms.len() == 1 && !negative {
                own
            } else {
                format!("({own})")
            };
            text.push_str(match (text.is_empty(), negative) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            });
            text.push_str(&own);
        }
        if text.is_empty() { "0".into() } else { text }
    }

    fn is_wide_cast(&self, cast: &Node<CastExpression>) -> bool {
        self.is_wide_type(self.source_of(&cast.node.type_name))
    }

    /// Says whether an expression is an array, or leads to one.
    fn is_pointer(&self, mut node: &Node<Expression>) -> bool {
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

    /// Says whether an expression is certainly no pointer, as far as it matters for sums.
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

/// Says whether a function has no effects, and a result that depends on its arguments alone.
pub(crate) fn is_pure(name: &str) -> bool {
    let plain = name.trim_start_matches("__builtin_");
    let float = plain.strip_suffix(['f', 'l']).unwrap_or(plain);
    PURE.contains(&plain) || PURE.contains(&float)
}

pub(crate) fn is_step(operator: &UnaryOperator) -> bool {
    matches!(
        operator,
        UnaryOperator::PostIncrement
            | UnaryOperator::PostDecrement
            | UnaryOperator::PreIncrement
            | UnaryOperator::PreDecrement
    )
}

pub(crate) fn is_assignment(operator: &BinaryOperator) -> bool {
    matches!(
        operator,
        BinaryOperator::Assign
            | BinaryOperator::AssignMultiply
            | BinaryOperator::AssignDivide
            | BinaryOperator::AssignModulo
            | BinaryOperator::AssignPlus
            | BinaryOperator::AssignMinus
            | BinaryOperator::AssignShiftLeft
            | BinaryOperator::AssignShiftRight
            | BinaryOperator::AssignBitwiseAnd
            | BinaryOperator::AssignBitwiseXor
            | BinaryOperator::AssignBitwiseOr
    )
}
