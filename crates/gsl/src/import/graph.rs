//! Substitutions as both collections have them: two graphs over the same inputs.

use rustc_hash::FxHashMap;

/// An operator with what the formats fix of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    Add,
    Multiply,
    /// By one number.
    Scale,
    Matmul,
    Relu,
    Sigmoid,
    Tanh,
    Concatenate {
        axis: i64,
        /// The rank of what is joined, where the format says it: an axis means nothing without.
        rank: Option<i64>,
    },
    /// In two, where its value was joined.
    Split {
        axis: i64,
    },
    Conv {
        strides: [i64; 2],
        /// Zeros around the data keep its extents (for strides of 1), or there are none.
        same: bool,
        /// The window, where the format says it.
        window: Option<[i64; 2]>,
    },
}

impl Operator {
    /// The activation of this number, in both formats; none for 0.
    pub(super) fn activation(number: i64) -> Result<Option<Operator>, String> {
        match number {
            0 => Ok(None),
            1 => Ok(Some(Operator::Sigmoid)),
            2 => Ok(Some(Operator::Relu)),
            3 => Ok(Some(Operator::Tanh)),
            other => Err(format!("there is no activation {other}")),
        }
    }

    /// Whether zeros are added, by the number in both formats.
    pub(super) fn is_same(padding: i64) -> Result<bool, String> {
        match padding {
            0 => Ok(true),
            1 => Ok(false),
            other => Err(format!("there is no padding mode {other}")),
        }
    }
}

/// An operand: an input by its number, or a result of an earlier node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Operand {
    Input(usize),
    Result(usize, usize),
}

/// An application of an operator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) operator: Operator,
    pub(super) operands: Vec<Operand>,
}

/// One side of a rule; operands come before what uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<Operand>,
    /// Where each node is.
    places: FxHashMap<Node, usize>,
}

impl Side {
    /// Adds a node, unless the same one is there: equal terms are one value.
    pub(super) fn add(&mut self, operator: Operator, operands: Vec<Operand>) -> Operand {
        let node = Node { operator, operands };
        let next = self.nodes.len();
        let at = *self.places.entry(node.clone()).or_insert(next);
        if at == next {
            self.nodes.push(node);
        }
        Operand::Result(at, 0)
    }

    /// Adds a node and, on what it makes, an activation.
    pub(super) fn add_active(
        &mut self,
        operator: Operator,
        operands: Vec<Operand>,
        activation: i64,
    ) -> Result<Operand, String> {
        let made = self.add(operator, operands);
        Ok(match Operator::activation(activation)? {
            Some(activation) => self.add(activation, vec![made]),
            None => made,
        })
    }
}

/// A substitution of equally many outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RuleGraph {
    pub(super) source: Side,
    pub(super) target: Side,
}
