//! How much of an array is used.

use tangram_presburger::{Budget, Union};

use crate::ast::{Ast, AstOptions};
use crate::scop::Scop;
use crate::{Band, Error, Member, NodeKind, ScheduleTree};

impl Scop {
    /// Generates code that finds the largest first subscript with which an array is
    /// accessed: calls `last` with it, perhaps several times with different ones.
    ///
    /// Nothing if it cannot be known, or may be negative.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn last_used(&self, array: &str, budget: &Budget) -> Result<Option<Ast>, Error> {
        let accesses = self.reads.union(&self.may_writes)?;
        let own = accesses.relations().filter(|map| map.space().output.name == array);
        let cells = Union::collect(own.cloned())?.range(budget)?;
        let mut firsts = Union::empty();
        for set in cells.relations() {
            let dims = set.space().output.dims.len();
            if dims == 0 {
                return Ok(None);
            }
            let subscripts: Vec<String> = (0..dims).map(|at| format!("s{at}")).collect();
            let first = format!("{{ {array}[{}] -> last[s0] }}", subscripts.join(", "));
            let first = Union::parse(&first, budget)?;
            firsts = firsts.union(&Union::from(set.clone()).apply_range(&first, budget)?)?;
        }
        let firsts = firsts.range(budget)?;
        let negative = Union::parse("{ last[s] : s < 0 }", budget)?;
        if firsts.is_empty(budget)? || !firsts.intersect(&negative, budget)?.is_empty(budget)? {
            return Ok(None);
        }
        let last = match firsts.lexmax(budget) {
            Ok(last) => last.coalesce(budget)?,
            Err(tangram_presburger::Error::Unbounded { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut tree = ScheduleTree::new(NodeKind::Domain(last));
        let schedule = Union::parse("{ last[s] -> [s] }", budget)?;
        let members = vec![Member { schedule, coincident: false }];
        let band = Band { members, permutable: false, options: Union::empty() };
        tree.add(tree.root(), NodeKind::Band(band));
        tree.close();
        Ok(Some(Ast::of_tree(&tree, None, &AstOptions::default(), budget)?))
    }
}
