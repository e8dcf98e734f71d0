//! Explanations: proofs of equality, as trees and as flat lists of terms.

mod check;
mod flat;
mod tree;

pub use check::ProofError;
pub use flat::{FlatExplanation, FlatTerm};
pub use tree::{TreeExplanation, TreeTerm};

use crate::core::{Proof, Proofs};
use crate::{Analysis, EGraph, FromOp, Id, Language, PatternAst, RecExpr, Subst, Symbol};
use num_bigint::BigUint;
use std::fmt::{self, Display};

/// Why a union was made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde-1", derive(serde::Serialize, serde::Deserialize))]
pub enum Justification {
    /// By a rule, or for a reason that the caller named.
    Rule(Symbol),
    /// Because operators and children are equal.
    Congruence,
}

/// Pairs of ids with the reason why they were united.
pub type UnionEqualities = Vec<(Id, Id, Symbol)>;

/// A proof that two terms are equal.
///
/// ```
/// use tangram_egraph::{Runner, SymbolLang, rewrite};
/// let rules = [
///     rewrite!("commute"; "(+ ?a ?b)" => "(+ ?b ?a)"),
///     rewrite!("zero"; "(+ ?a 0)" => "?a"),
/// ];
/// let (start, end) = ("(f (+ 0 x))".parse().unwrap(), "(f x)".parse().unwrap());
/// let mut runner = Runner::<SymbolLang, ()>::default()
///     .with_explanations_enabled()
///     .with_expr(&start)
///     .run(&rules);
/// let mut proof = runner.explain_equivalence(&start, &end);
/// let steps = proof.get_flat_strings();
/// assert_eq!(steps, ["(f (+ 0 x))", "(f (Rewrite=> commute (+ x 0)))", "(f (Rewrite=> zero x))"]);
/// proof.check_proof(&rules);
/// ```
#[derive(Clone, Debug)]
pub struct Explanation<L: Language> {
    /// The proof as a tree.
    pub explanation_trees: TreeExplanation<L>,
    flat: Option<FlatExplanation<L>>,
}

impl<L: Language> Explanation<L> {
    /// Makes an explanation of its tree.
    pub fn new(explanation_trees: TreeExplanation<L>) -> Self {
        Explanation { explanation_trees, flat: None }
    }

    /// Returns the proof as a list of terms, each one rewriting away from the one before.
    pub fn make_flat_explanation(&mut self) -> &FlatExplanation<L> {
        let trees = &self.explanation_trees;
        self.flat.get_or_insert_with(|| tree::flatten(trees))
    }

    /// Counts the rewriting steps, those of shared parts each time.
    pub fn get_tree_size(&self) -> BigUint {
        tree::size(&self.explanation_trees)
    }
}

impl<L: Language + Display + FromOp> Explanation<L> {
    /// Writes the flat proof, one term a line.
    pub fn get_flat_string(&mut self) -> String {
        self.get_flat_strings().join("\n")
    }

    /// Writes each term of the flat proof.
    pub fn get_flat_strings(&mut self) -> Vec<String> {
        let flat = self.make_flat_explanation();
        flat.iter().map(FlatTerm::get_string).collect()
    }

    /// Writes the proof as a tree.
    pub fn get_string(&self) -> String {
        tree::show(&self.explanation_trees)
    }

    /// Writes the proof as a tree whose shared parts are named once.
    pub fn get_string_with_let(&self) -> String {
        tree::show_with_let(&self.explanation_trees)
    }
}

impl<L: Language + Display + FromOp> Display for Explanation<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.get_string())
    }
}

/// What a caller has to do before it asks for proofs.
const ENABLE: &str = "explanations have to be enabled before they are asked for";

impl<L: Language, N: Analysis<L>> EGraph<L, N> {
    /// Explains why two expressions are equal.
    ///
    /// # Panics
    /// If they are not, or if explanations are not enabled.
    pub fn explain_equivalence(
        &mut self,
        left_expr: &RecExpr<L>,
        right_expr: &RecExpr<L>,
    ) -> Explanation<L> {
        let left = self.add_expr_uncanonical(left_expr);
        let right = self.add_expr_uncanonical(right_expr);
        self.explain_id_equivalence(left, right)
    }

    /// Explains why two ids are equal; each stands for the term that it was made for.
    ///
    /// # Panics
    /// If they are not, or if explanations are not enabled.
    pub fn explain_id_equivalence(&mut self, left: Id, right: Id) -> Explanation<L> {
        match self.prove(left, right) {
            Some(proof) => Explanation::new(tree::build(&proof, |op| {
                self.store.ops.templates[op.0 as usize].clone()
            })),
            None => panic!(
                "there is no proof that {left} equals {right}: {ENABLE}, and the ids have to be equal"
            ),
        }
    }

    /// Explains why an expression matches a pattern with a substitution.
    ///
    /// # Panics
    /// If it does not, or if explanations are not enabled.
    pub fn explain_matches(
        &mut self,
        left_expr: &RecExpr<L>,
        right_pattern: &PatternAst<L>,
        subst: &Subst,
    ) -> Explanation<L> {
        let left = self.add_expr_uncanonical(left_expr);
        let right = self.add_instantiation_spelled(right_pattern, subst);
        self.explain_id_equivalence(left, right)
    }

    /// Proves that two ids are equal; `None` if they are not, or if there are no explanations.
    pub fn prove(&self, left: Id, right: Id) -> Option<Proof> {
        if self.find(left) != self.find(right) {
            return None;
        }
        Some(Proofs::new(&self.store.core, self.shorten)?.prove(left, right))
    }

    /// Counts the unions that congruence made.
    ///
    /// # Panics
    /// If explanations are not enabled.
    pub fn get_num_congr(&mut self) -> usize {
        let log = self.store.core.log.as_ref().expect(ENABLE);
        let congruent = |edge: &&crate::core::Edge| edge.why == crate::core::Why::Congruence;
        log.edges.iter().filter(congruent).count()
    }

    /// Counts the terms that explanations can speak of.
    pub fn get_explanation_num_nodes(&mut self) -> usize {
        self.store.core.number_of_ids()
    }
}
