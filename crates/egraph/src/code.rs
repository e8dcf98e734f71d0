//! Patterns compiled apart from any e-graph.
//!
//! A pattern names operators by their place in a list of its own, so it is compiled once, however
//! many e-graphs it meets. To run in one, it only needs that e-graph's numbers for the operators:
//! a lookup each, by hashes that are known.

use crate::core::{Atom, Ground, Link, Program, Template, Term, compile_all};
use crate::id::to_u32;
use crate::{ENodeOrVar, Id, Language, PatternAst, Var};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::sync::OnceLock;

/// The operators that a pattern names: nodes with all children zero, and their hashes.
#[derive(Clone, Debug)]
pub(crate) struct Operators<L> {
    pub(crate) templates: Vec<L>,
    pub(crate) hashes: Vec<u64>,
    /// The [bits](bit_of) of the hashes: where an e-graph lacks one, it lacks an operator.
    pub(crate) bits: u64,
}

/// A left-hand side: one pattern, or several that share variables.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct LeftCode<L> {
    pub(crate) operators: Operators<L>,
    pub(crate) vars: Vec<Var>,
    /// The patterns, each with the number of the variable that stands for its class.
    pub(crate) clauses: Vec<(Option<u32>, Term)>,
    program: Program,
    /// The program for e-graphs where an operator matches others than itself.
    loose: OnceLock<Program>,
}

/// A right-hand side.
#[derive(Clone, Debug)]
pub(crate) struct RightCode<L> {
    pub(crate) operators: Operators<L>,
    pub(crate) vars: Vec<Var>,
    pub(crate) term: Term,
    pub(crate) template: Template,
}

impl<L: Language> Operators<L> {
    fn new() -> Self {
        Operators { templates: Vec::new(), hashes: Vec::new(), bits: 0 }
    }

    /// Returns the place of a node's operator.
    fn place(&mut self, node: &L) -> u32 {
        let template = node.clone().map_children(|_| Id(0));
        let hash = hash_of(&template);
        let same = |&at: &usize| self.hashes[at] == hash && self.templates[at] == template;
        let place = (0..self.templates.len()).find(same).unwrap_or(self.templates.len());
        if place == self.templates.len() {
            self.templates.push(template);
            self.hashes.push(hash);
            self.bits |= bit_of(hash);
        }
        place as u32
    }

    /// Translates a pattern; `vars` grows by the variables that are new.
    fn term(&mut self, ast: &PatternAst<L>, vars: &mut Vec<Var>) -> Term {
        let atom = |atom: &ENodeOrVar<L>| match atom {
            ENodeOrVar::ENode(node) => {
                let kids = node.children().iter().map(|child| child.0).collect();
                Atom::Node(crate::core::Op(self.place(node)), kids)
            }
            ENodeOrVar::Var(var) => Atom::Var(number_of(*var, vars)),
        };
        Term { atoms: ast.iter().map(atom).collect() }
    }
}

/// Hashes a node with all children zero.
#[inline]
pub(crate) fn hash_of<L: Language>(template: &L) -> u64 {
    FxBuildHasher.hash_one(template)
}

/// Returns the bit of an operator in a set of such bits, which others may share.
#[inline]
pub(crate) fn bit_of(hash: u64) -> u64 {
    1 << (hash >> 32 & 63)
}

/// Returns the number of a variable, a new one if need be.
pub(crate) fn number_of(var: Var, vars: &mut Vec<Var>) -> u32 {
    let known = vars.iter().position(|other| *other == var).unwrap_or_else(|| {
        vars.push(var);
        vars.len() - 1
    });
    to_u32(known, "variables")
}

impl<L: Language> LeftCode<L> {
    /// Compiles patterns, each with the variable for its class, if it has one.
    pub(crate) fn new<'a>(
        clauses: impl IntoIterator<Item = (Option<Var>, &'a PatternAst<L>)>,
    ) -> Self
    where
        L: 'a,
    {
        let (mut operators, mut vars) = (Operators::new(), Vec::new());
        let mut terms = Vec::new();
        for (var, ast) in clauses {
            let var = var.map(|var| number_of(var, &mut vars));
            terms.push((var, operators.term(ast, &mut vars)));
        }
        let program = compile(&terms, Ground::LookUp);
        LeftCode { operators, vars, clauses: terms, program, loose: OnceLock::new() }
    }

    /// Returns what runs in an e-graph with the given operators.
    pub(crate) fn program(&self, link: &Link) -> &Program {
        match link.loose.is_empty() {
            true => &self.program,
            false => self.loose.get_or_init(|| compile(&self.clauses, Ground::BindLeaves)),
        }
    }
}

fn compile(clauses: &[(Option<u32>, Term)], ground: Ground) -> Program {
    let clauses: Vec<_> = clauses.iter().map(|(var, term)| (*var, term)).collect();
    compile_all(&clauses, ground)
}

impl<L: Language> RightCode<L> {
    /// Compiles a pattern to be built.
    pub(crate) fn new(ast: &PatternAst<L>) -> Self {
        let (mut operators, mut vars) = (Operators::new(), Vec::new());
        let term = operators.term(ast, &mut vars);
        let template = Template::new(&term);
        RightCode { operators, vars, term, template }
    }
}
