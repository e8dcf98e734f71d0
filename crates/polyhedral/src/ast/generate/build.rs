//! What generation carries from one dimension of the schedule to the next.

use std::collections::HashMap;

use tangram_presburger::{Budget, Error, Relation, Space, Tuple, Union};

use crate::ast::basic_set::{BasicSet, Linear};
use crate::ast::{Ast, AstNode, AstOptions};
use crate::{Node, ScheduleTree};

/// For each statement, the instances to run at each point of the schedule so far.
pub(in crate::ast) type Executed = Vec<Relation>;

/// Statements, by their tuples, and the residues of their values of one dimension.
pub(in crate::ast) type Classes = Vec<(Tuple, i128)>;

/// Generated code and the condition under which it runs.
#[derive(Debug, Clone)]
pub(in crate::ast) struct Graft {
    /// A set over the outer dimensions; nothing if it always runs.
    pub guard: Option<Relation>,
    pub node: AstNode,
}

/// What holds where code is being generated.
#[derive(Debug, Clone)]
pub(in crate::ast) struct Surroundings {
    /// Dimensions of the schedule that are fixed.
    pub depth: usize,
    /// What outer loops and conditions make sure of.
    pub known: BasicSet,
    /// Whether the instances are in the part that a band isolates.
    pub isolated: bool,
    /// Of each statement, its residue where the dimension being generated counts multiples.
    pub classes: Classes,
}

/// What the dimension after the outer ones is, and what comes after it.
#[derive(Debug, Clone, Copy)]
pub(in crate::ast) enum Next {
    /// A member of a band of the tree.
    Member { band: Node, member: usize },
    /// A dimension of a schedule map.
    Dimension { total: usize },
}

pub(in crate::ast) struct Builder<'a> {
    pub ast: Ast,
    pub params: Vec<String>,
    pub tree: Option<&'a ScheduleTree>,
    /// Whether no node of the tree refers to values of the schedule's dimensions.
    pub free_dimensions: bool,
    /// For each dimension that is fixed, whether there is a loop over it.
    pub loops: Vec<bool>,
    /// Options of a schedule map.
    pub map_options: Union,
    pub options: &'a AstOptions,
    pub budget: &'a Budget,
    /// Loops to unroll and jam, with their factors.
    pub jams: HashMap<AstNode, super::unroll_and_jam::Jam>,
}

impl Builder<'_> {
    /// Returns the space of the first `depth` dimensions.
    pub fn space(&self, depth: usize) -> Space {
        Space::set(self.params.clone(), Tuple::anonymous(depth))
    }

    /// Returns the column of a dimension of the schedule.
    pub fn col(&self, depth: usize) -> usize {
        1 + self.params.len() + depth
    }

    pub fn vars(&self, depth: usize) -> usize {
        self.params.len() + depth
    }

    /// Makes a set over the first dimensions of disjuncts.
    pub fn set(&self, cells: &[BasicSet], depth: usize) -> Result<Relation, Error> {
        let parts: Vec<_> = cells.iter().map(|cell| cell.part.clone()).collect();
        Relation::from_conjunctions(self.space(depth), &parts)
    }

    /// Returns whether `cell` and what is known hold no integer point together.
    pub fn is_empty(&self, cell: &BasicSet, known: &BasicSet, depth: usize) -> Result<bool, Error> {
        let mut both = cell.clone();
        both.join(&known.widened(cell.vars));
        both.relation(self.space(depth))?.is_empty(self.budget)
    }

    /// Projects the points of the schedule with instances to the first `depth` dimensions.
    pub fn domain(&self, executed: &Relation, depth: usize) -> Result<Relation, Error> {
        let pairs = executed.wrap()?;
        let all = pairs.space().output.dims.len();
        let set = pairs.project_out(depth..all, self.budget)?;
        set.align_params(&self.params)?.cast(None, Tuple::anonymous(depth))
    }

    /// Returns a superset of [`Self::domain`] that costs less and has no more disjuncts.
    ///
    /// Loops may have it as bounds: what is not there is empty further inside.
    pub fn shadow(&self, executed: &Relation, depth: usize) -> Result<Relation, Error> {
        let pairs = executed.wrap()?;
        let all = pairs.space().output.dims.len();
        let set = pairs.real_shadow(depth..all, self.budget)?;
        set.align_params(&self.params)?.cast(None, Tuple::anonymous(depth))
    }

    /// Returns what is said about the first `depth` dimensions without inner ones.
    ///
    /// Most bounds that inner dimensions imply are kept to by the inner loops.
    pub fn explicit_bounds(&self, executed: &Relation, depth: usize) -> Result<Relation, Error> {
        let pairs = executed.wrap()?;
        let all = pairs.space().output.dims.len();
        let set = pairs.explicit_bounds(depth..all, self.budget)?;
        set.align_params(&self.params)?.cast(None, Tuple::anonymous(depth))
    }

    /// Fixes a dimension of the schedule to a value over the outer ones.
    pub fn fixed(
        &self,
        executed: &Relation,
        depth: usize,
        value: &Linear,
    ) -> Result<Relation, Error> {
        let executed = executed.align_params(&self.params)?;
        let mut parts = Vec::new();
        for cell in BasicSet::all_of(&executed)? {
            let value = self.spread(value, cell.vars);
            let mut cell = cell.substitute(self.col(depth), &value)?;
            cell.fix(self.col(depth), &value);
            parts.push(cell.part);
        }
        Relation::from_conjunctions(executed.space().clone(), &parts)
    }

    /// Rewrites a form over more variables; the new ones follow the old.
    pub fn spread(&self, value: &Linear, vars: usize) -> Linear {
        let old = value.row.len() - 1 - value.divisions.len();
        let mut cell = BasicSet::universe(old);
        cell.part.divisions.clone_from(&value.divisions);
        cell.part.equalities.push(value.row.clone());
        let mut cell = cell.widened(vars);
        Linear {
            row: cell.part.equalities.pop().unwrap_or_default(),
            divisions: cell.part.divisions,
        }
    }

    /// Keeps the instances at the points of `set`, over the first dimensions.
    pub fn restricted(&self, executed: &Relation, set: &Relation) -> Result<Relation, Error> {
        let depth = set.space().output.dims.len();
        let dims = executed.space().input.as_ref().map_or(depth, |tuple| tuple.dims.len());
        let vars = self.vars(dims);
        let cells: Vec<BasicSet> =
            BasicSet::all_of(set)?.iter().map(|cell| cell.widened(vars)).collect();
        executed.intersect_domain(&self.set(&cells, dims)?, self.budget)
    }
}
