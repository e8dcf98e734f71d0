//! The log that proofs are made from.
//!
//! Every union that changed something appends one edge between the two ids it was asked for. As
//! an edge is only added between classes that were apart, the edges form a forest, and the path
//! between two ids in it uses only edges from before they became equal. So a proof needs no more
//! than the log: see [`proof`](super::proof). Nothing is rooted, balanced or instantiated while
//! rewriting runs, which is what keeps explanations cheap.

use super::nodes::Core;
use super::proof::{Proof, Proofs};
use super::term::{Atom, Term};
use crate::id::to_u32;
use crate::{Id, Symbol};

/// Why two ids were united.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub enum Why {
    /// The nodes have the same operator and equal children.
    Congruence,
    /// The terms of the two ids are equal for a named reason.
    Given(Symbol),
    /// A rule matched: its place in the log's match rows.
    Match(u32),
}

/// A rule as the log knows it.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RuleForm {
    pub(crate) name: Symbol,
    pub(crate) left: Term,
    pub(crate) right: Term,
}

impl RuleForm {
    /// Returns the node that the left side's root matched: proofs start there.
    pub(crate) fn matched_root(&self, row: &[u32]) -> u32 {
        match self.left.atoms.last() {
            Some(Atom::Node(..)) => row[self.left.var_count() + self.left.node_count()],
            _ => row[0],
        }
    }
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Edge {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) why: Why,
}

/// Edges, match rows and the rules that they name.
///
/// A row is `[rule, bindings of the variables, nodes matched by the left side's operators, nodes
/// that stand for the right side's operators]`, in the order of the terms' atoms.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Log {
    pub(crate) edges: Vec<Edge>,
    pub(crate) rows: Vec<u32>,
    pub(crate) rules: Vec<RuleForm>,
}

impl Log {
    pub(crate) fn push(&mut self, left: u32, right: u32, why: Why) {
        self.edges.push(Edge { left, right, why });
    }

    /// Tells whether edges and rows name ids that are there.
    #[cfg(feature = "serde-1")]
    pub(crate) fn stays_inside(&self, ids: usize) -> bool {
        let row_is_whole = |at: usize| {
            let rule = self.rows.get(at).and_then(|&rule| self.rules.get(rule as usize));
            rule.is_some_and(|rule| {
                let (left, right) = (&rule.left, &rule.right);
                let vars = left.var_count();
                let len = vars + left.node_count() + right.node_count();
                let row = self.rows.get(at + 1..at + 1 + len);
                right.var_count() <= vars
                    && row.is_some_and(|row| row.iter().all(|&id| (id as usize) < ids))
            })
        };
        self.rules.iter().all(|rule| rule.left.is_ordered() && rule.right.is_ordered())
            && self.edges.iter().all(|edge| {
                let ends = (edge.left as usize) < ids && (edge.right as usize) < ids;
                ends && !matches!(edge.why, Why::Match(at) if !row_is_whole(at as usize))
            })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.edges.capacity() * size_of::<Edge>() + self.rows.capacity() * 4
    }
}

impl Core {
    /// Starts to keep what proofs need; only possible before the first union.
    ///
    /// Returns whether proofs are kept from here on.
    pub fn keep_proofs(&mut self) -> bool {
        if self.log.is_none() && self.classes == self.find.len() {
            self.origin = self.words.clone();
            self.log = Some(Log::default());
        }
        self.log.is_some()
    }

    /// Forgets all proofs and stops keeping any.
    pub fn forget_proofs(&mut self) {
        self.log = None;
        self.origin = Vec::new();
    }

    /// Tells whether proofs are kept.
    pub fn keeps_proofs(&self) -> bool {
        self.log.is_some()
    }

    /// Returns the name of the rule behind a union.
    pub(crate) fn rule_name(&self, why: Why) -> Option<Symbol> {
        match why {
            Why::Congruence => None,
            Why::Given(name) => Some(name),
            Why::Match(row) => {
                let log = self.log.as_ref()?;
                let rule = *log.rows.get(row as usize)?;
                Some(log.rules.get(rule as usize)?.name)
            }
        }
    }

    /// Registers a rule with the log and returns its number, if proofs are kept.
    ///
    /// [`Template::apply`](super::Template::apply) takes the number, with rows that a
    /// [`RuleSet`](super::RuleSet) with witnesses found for the left side.
    pub fn log_rule(&mut self, name: Symbol, left: Term, right: Term) -> Option<u32> {
        let log = self.log.as_mut()?;
        log.rules.push(RuleForm { name, left, right });
        Some(to_u32(log.rules.len() - 1, "rules"))
    }

    /// Proves that two ids are equal; `None` if they are not, or if no proofs are kept.
    pub fn prove(&self, left: Id, right: Id) -> Option<Proof> {
        if self.find(left) != self.find(right) {
            return None;
        }
        Some(Proofs::new(self, true)?.prove(left, right))
    }
}
