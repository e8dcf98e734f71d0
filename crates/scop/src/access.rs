//! What a statement reads and writes.

use lang_c::ast::{BinaryOperator, Expression, UnaryOperator};
use lang_c::span::{Node, Span};
use lang_c::visit::{self, Visit};
use tangram_presburger::formula::{Expr, Formula};

use crate::Problem;
use crate::build::Builder;
use crate::c_tokens::words;
use crate::polynomial::Polynomial;
use crate::pure::is_pure;
use crate::wrapping::Wraps;

/// What is wrong with a call that is a statement.
const EFFECTS: &str = "calls a function that may change anything: write out what it does, or \
                       move the call out of the loops";

/// What is wrong with a call whose result is used.
const IMPURE: &str = "calls a function that is not known to be pure: define it in front of the \
                      loops, or declare it with `__attribute__((const))`";

/// Cells of an array, `A[i + 1, j]`, under a condition.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub array: String,
    /// One for each dimension; nothing stands for every place in it.
    pub subscripts: Vec<Option<Expr>>,
    pub condition: Formula,
    /// Whether these are exactly the cells; otherwise they are more.
    pub exact: bool,
    /// Whether they are every place until the array has several dimensions.
    pub pending: bool,
    /// The subscript of an array in one dimension.
    pub linear: Option<Polynomial>,
    /// What it needs of the types in which its subscripts are computed.
    pub wraps: Wraps,
}

impl Access {
    /// Cells that are known exactly.
    pub fn certain(array: impl Into<String>, subscripts: Vec<Option<Expr>>) -> Self {
        let (array, condition) = (array.into(), Formula::always());
        let wraps = Wraps::default();
        Self { array, subscripts, condition, exact: true, pending: false, linear: None, wraps }
    }

    /// Returns the name of the array.
    pub fn array(&self) -> &str {
        &self.array
    }

    /// Returns whether it is of all cells, and certain.
    pub fn is_whole(&self) -> bool {
        self.exact && !self.pending && self.subscripts.contains(&None)
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
            Expression::Call(_) => return self.wrong(node, EFFECTS),
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
            Expression::Constant(_) | Expression::SizeOfTy(_) => Ok(()),
            Expression::SizeOfVal(_) => {
                let is_row = |word| self.row(self.named(word)).is_some();
                match words(self.source_of(node)).any(is_row) {
                    true => self.wrong(node, "asks for a pointer that is declared in the part"),
                    false => Ok(()),
                }
            }
            Expression::Identifier(id) => {
                let name = &id.node.name;
                let is_value = self.value_of(name).is_some() || self.is_loop(self.named(name));
                if self.hidden.contains(name) || is_value {
                    return Ok(());
                }
                if self.is_outer_loop_variable(name) {
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
                match operator {
                    BinaryOperator::LogicalAnd => {
                        self.reads_where((&binary.node.lhs, true), &binary.node.rhs, found)
                    }
                    BinaryOperator::LogicalOr => {
                        self.reads_where((&binary.node.lhs, false), &binary.node.rhs, found)
                    }
                    _ => self.reads(&binary.node.rhs, found),
                }
            }
            Expression::Conditional(choice) => {
                self.reads(&choice.node.condition, found)?;
                let condition = &choice.node.condition;
                self.reads_where((condition, true), &choice.node.then_expression, found)?;
                self.reads_where((condition, false), &choice.node.else_expression, found)
            }
            Expression::Call(call) => {
                let name = match &call.node.callee.node {
                    Expression::Identifier(id) => id.node.name.as_str(),
                    _ => "",
                };
                if !is_pure(name) && !self.is_pure_here(name) {
                    return self.wrong(node, IMPURE);
                }
                call.node.arguments.iter().try_for_each(|argument| self.reads(argument, found))
            }
            Expression::Statement(block) => self.reads_block(block, found),
            Expression::Member(_) if self.is_constant_member(node) => Ok(()),
            Expression::Member(_) => {
                let cells = self.cell(node, found)?;
                found.reads.extend(cells);
                Ok(())
            }
            _ => self.wrong(node, "is not supported in a static control part"),
        }
    }

    /// Collects what an expression reads that is computed where a condition holds, or does not.
    fn reads_where(
        &mut self,
        (condition, holds): (&Node<Expression>, bool),
        node: &Node<Expression>,
        found: &mut Accesses,
    ) -> Result<(), Problem> {
        let (depth, before) = (self.assumed.len(), self.nested);
        // What is known is for subscripts: a long chain of scalars does not ask for it at each link, nor
        // do operands behind more conditions than anybody writes.
        if before < TERMS {
            let asks = reaches_memory(node);
            if asks && !is_chain(condition) {
                let known = self.plain_condition(condition);
                let known = known.map(|known| if holds { known } else { known.negated() });
                self.assumed.extend(known);
            }
            self.nested = if asks { before + 1 } else { TERMS };
        }
        let outcome = self.reads(node, found);
        self.assumed.truncate(depth);
        self.nested = before;
        outcome
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
        Access::certain(name, vec![None; dims])
    }
}

/// Terms of a chain of `&&` or `||` of which what holds is worked out for each term behind them, and
/// conditions that one operand stands behind.
const TERMS: usize = 100;

/// Returns whether a condition is a chain of more than [`TERMS`]: what holds is looked at anew for each
/// term behind it.
fn is_chain(mut condition: &Node<Expression>) -> bool {
    for _ in 0..TERMS {
        match &condition.node {
            Expression::BinaryOperator(binary)
                if matches!(
                    binary.node.operator.node,
                    BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr
                ) =>
            {
                condition = &binary.node.lhs;
            }
            _ => return false,
        }
    }
    true
}

/// Returns whether an expression is more than arithmetic on variables and constants.
fn reaches_memory(node: &Node<Expression>) -> bool {
    #[derive(Default)]
    struct Reach(bool);
    impl<'ast> Visit<'ast> for Reach {
        fn visit_expression(&mut self, expression: &'ast Expression, span: &'ast Span) {
            self.0 |= match expression {
                Expression::Identifier(_)
                | Expression::Constant(_)
                | Expression::Cast(_)
                | Expression::Conditional(_) => false,
                Expression::UnaryOperator(unary) => {
                    unary.node.operator.node == UnaryOperator::Indirection
                }
                Expression::BinaryOperator(binary) => {
                    binary.node.operator.node == BinaryOperator::Index
                }
                _ => true,
            };
            if !self.0 {
                visit::visit_expression(self, expression, span);
            }
        }
    }
    let mut reach = Reach::default();
    reach.visit_expression(&node.node, &node.span);
    reach.0
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
