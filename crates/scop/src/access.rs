//! What a statement reads and writes.

use lang_c::ast::{BinaryOperator, Expression, MemberOperator, UnaryOperator};
use lang_c::span::Node;

use crate::Problem;
use crate::affine::{Case, both};
use crate::build::{Builder, VOLATILE};

/// Functions without effects whose result depends on their arguments alone.
const PURE: &[&str] = &[
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos",
    "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "fabs", "floor", "ceil",
    "round", "trunc", "rint", "fmod", "fmin", "fmax", "fma", "hypot", "erf", "tgamma", "copysign",
    "abs", "labs", "min", "max", "MIN", "MAX", "floord", "ceild",
];

/// What names that are no variables start with.
const ANYWHERE: &str = "tangram_any_";

/// Cells of an array as text: `A[i + 1, j]`, under a condition.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub cells: String,
    pub condition: String,
    /// Whether these are exactly the cells; otherwise they are more.
    pub exact: bool,
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
                self.reads(&binary.node.rhs, &mut found)?;
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
                if self.is_loop(name) || self.hidden.contains(name) {
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
                UnaryOperator::Address | UnaryOperator::Indirection => {
                    self.wrong(node, "is a pointer: only subscripts of arrays are followed")
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
                Expression::Identifier(id) if self.element(&id.node.name).is_some() => {
                    self.use_array(&id.node.name);
                    accesses.kills.push(self.all_cells(&id.node.name));
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
        Access { cells, condition: String::new(), exact: true }
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
        while let Expression::BinaryOperator(binary) = &base.node {
            if binary.node.operator.node != BinaryOperator::Index {
                return self.wrong(node, "is no variable or array element");
            }
            subscripts.push(&*binary.node.rhs);
            base = &binary.node.lhs;
        }
        subscripts.reverse();
        let Expression::Identifier(id) = &base.node else {
            return self.wrong(node, "is no variable or array element");
        };
        let name = id.node.name.clone();
        if self.is_loop(&name) {
            return self.wrong(node, "is a loop variable");
        }
        if self.hidden.contains(&name) {
            subscripts.into_iter().try_for_each(|subscript| self.reads(subscript, found))?;
            return Ok(Vec::new());
        }
        if self.is_volatile(&name) {
            return self.wrong(node, VOLATILE);
        }
        let extents = self.use_array(&name);
        if extents.is_some_and(|extents| extents != subscripts.len()) {
            return self.wrong(node, "has not one subscript for each dimension of the array");
        }
        let mut all = vec![(String::new(), Vec::new())];
        for (dimension, subscript) in subscripts.into_iter().enumerate() {
            self.reads(subscript, found)?;
            let cases = self.affine(subscript).unwrap_or_else(|_| {
                exact = false;
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
        let access = |(condition, values): (String, Vec<String>)| Access {
            cells: format!("{name}[{}]", values.join(", ")),
            condition,
            exact,
        };
        Ok(all.into_iter().map(access).collect())
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
