//! How much of an array is used.

use tangram_presburger::formula::{Comparison, Expr};
use tangram_presburger::{Budget, Relation, Space, Tuple, Union};

use crate::ast::{Ast, AstOptions};
use crate::scop::Scop;
use crate::{Band, Error, Member, NodeKind, ScheduleTree};

impl Scop {
    /// Generates code that finds the largest subscript with which an array is accessed in a
    /// dimension: calls `last` with it, perhaps several times with different ones.
    ///
    /// Nothing if it cannot be known, or may be negative.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn last_used(
        &self,
        array: &str,
        dim: usize,
        budget: &Budget,
    ) -> Result<Option<Ast>, Error> {
        let accesses = self.reads.union(&self.may_writes)?;
        let own = accesses.relations().filter(|map| map.space().output.name == array);
        let cells = Union::collect(own.cloned())?.range(budget)?;
        let mut firsts = Union::empty();
        for set in cells.relations() {
            let dims = set.space().output.dims.len();
            if dim >= dims {
                return Ok(None);
            }
            let cells = Tuple::new(array, (0..dims).map(|at| format!("s{at}")));
            let first = is_coordinate(cells, dim, Tuple::new("last", ["first"]), budget)?;
            firsts = firsts.union(&Union::from(set.clone()).apply_range(&first, budget)?)?;
        }
        let firsts = firsts.range(budget)?;
        let last = Tuple::new("last", ["s"]);
        let below = Expr::output(0).compared(Comparison::Below, Expr::constant(0));
        let space = Space::set(Vec::new(), last.clone());
        let negative = Union::from(Relation::such_that(space, &below, budget)?);
        if firsts.is_empty(budget)? || !firsts.intersect(&negative, budget)?.is_empty(budget)? {
            return Ok(None);
        }
        let largest = match firsts.lexmax(budget) {
            Ok(largest) => largest.coalesce(budget)?,
            Err(tangram_presburger::Error::Unbounded { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut tree = ScheduleTree::new(NodeKind::Domain(largest));
        let schedule = is_coordinate(last, 0, Tuple::anonymous(1), budget)?;
        let members = vec![Member { schedule, coincident: false }];
        let band = Band { members, permutable: false, options: Union::empty() };
        tree.add(tree.root(), NodeKind::Band(band));
        tree.close();
        Ok(Some(Ast::of_tree(&tree, None, &AstOptions::default(), budget)?))
    }
}

/// Relates points to a coordinate that they have; `from` names its coordinates otherwise than `to`.
fn is_coordinate(from: Tuple, dim: usize, to: Tuple, budget: &Budget) -> Result<Union, Error> {
    let own = Expr::name(from.dims.get(dim).cloned().unwrap_or_default());
    let equal = Expr::output(0).compared(Comparison::Equal, own);
    Ok(Relation::such_that(Space::map(Vec::new(), from, to), &equal, budget)?.into())
}
