//! Passes over one big operand that become one.
//!
//! Products of a matrix and a vector take as long as reading the matrix does. Where two nests go
//! through the rows of one, blocks of rows run through both while they are in a cache:
//!
//! ```text
//! for i, j: t[i] += A[i][j] * x[j];        for i/8: { for i, j: t[i] += A[i][j] * x[j];
//! for i, j: y[j] += A[i][j] * t[i];                   for i, j: y[j] += A[i][j] * t[i]; }
//! ```
//!
//! The loops in a block stay what they are, jammed and vectorised; dependences say whether a block
//! may run before the next one's first pass.

use tangram_machine::Machine;
use tangram_presburger::{Budget, Relation, Union};

use super::tile_innermost::{Work, below as descendants, is_band};
use crate::scop::Scop;
use crate::{Band, Error, Member, Node, NodeKind, ScheduleTree};

/// Rows of a block: twice as many as run side by side, and few enough that rows of a hundred
/// thousand elements stay in a second cache.
const BLOCK: i128 = 8;

/// The same where threads share out each pass over a block: they wait for each other twice in it, which
/// takes far less time than its work, and it stays in a last cache. Of 64, 128, 256 and 512 rows of 2000
/// elements, two threads gain most by these.
const SHARED_BLOCK: i128 = 128;
/// Bytes of a row where nobody knows how many it has: 2000 doubles, the size that blocks were measured with.
const ROW: usize = 2000 * 8;

/// Returns whether caches of the cores hold a block that threads share out. Where they do not, the second
/// pass reads it from further away, and two threads took 1.0 to 1.3 times as long as one that reads
/// the matrix once.
pub(super) fn hold_shared_blocks(machine: &Machine) -> bool {
    machine.bytes_beside_cores() >= SHARED_BLOCK as usize * ROW
}

/// Says that loops inside loops that are not parallel run on one thread, but for the innermost ones, which
/// vectors run: what a thread would do in a block takes less time than starting it.
pub(super) fn on_one_thread(tree: &mut ScheduleTree) {
    let mut open = vec![(tree.root(), false)];
    while let Some((node, within)) = open.pop() {
        let below: Vec<Node> = tree.children(node).collect();
        let mut inside = within;
        if let NodeKind::Band(band) = tree.kind(node) {
            inside |= band.members.iter().any(|member| !member.coincident);
            let leads_on = descendants(tree, node).into_iter().any(|node| is_band(tree, node));
            let outer = band.members.len().saturating_sub(usize::from(!leads_on));
            if within {
                let mut band = band.clone();
                band.members[..outer].iter_mut().for_each(|member| member.coincident = false);
                tree.put(node, NodeKind::Band(band));
            }
        }
        open.extend(below.into_iter().map(|node| (node, inside)));
    }
}

impl Work<'_> {
    /// Lets neighbours in the outermost list that read the same rows share blocks of these; says
    /// whether any of the blocks wait for each other.
    pub(super) fn share_passes(&mut self, scop: &Scop) -> Result<bool, Error> {
        let (mut at, mut any) = (0, false);
        let tree = self.editor.tree();
        let Some(top) = tree.children(tree.root()).next() else { return Ok(any) };
        if !matches!(tree.kind(top), NodeKind::Sequence | NodeKind::Set) {
            return Ok(any);
        }
        loop {
            let children: Vec<Node> = self.editor.tree().children(top).collect();
            let Some([first, second]) = children.get(at..at + 2) else { return Ok(any) };
            at += 1;
            let Some(rows) = self.shared_rows(scop, *first, *second)? else { continue };
            let before = self.editor.tree().clone();
            match self.in_blocks(top, at - 1, rows) {
                Ok(waits) => any |= waits,
                Err(Error::Illegal { .. } | Error::Operand { .. } | Error::IllFormed { .. }) => {
                    self.editor.reset(before);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts a loop over blocks of rows around two children of a list; says whether blocks wait for each
    /// other, so that threads share out what is inside.
    fn in_blocks(&mut self, top: Node, at: usize, rows: Union) -> Result<bool, Error> {
        let list = self.editor.group(top, at..at + 2)?;
        let tree = self.editor.tree();
        let child = tree.children(list).nth(at).unwrap_or(list);
        let list = tree.children(child).next().unwrap_or(child);
        let member = Member { schedule: rows, coincident: false };
        let size = if self.recipe.parallel { SHARED_BLOCK } else { BLOCK };
        let member = self.editor.blocked(&member, size)?;
        let waits = !member.coincident;
        let band = Band { members: vec![member], permutable: false, options: Union::empty() };
        self.editor.insert_band(list, band)?;
        Ok(waits)
    }

    /// Finds the rows of a matrix that two nests go through: values of an outermost loop of each.
    fn shared_rows(&self, scop: &Scop, first: Node, second: Node) -> Result<Option<Union>, Error> {
        let tree = self.editor.tree();
        for (a, array) in self.row_loops(scop, tree, first)? {
            for (b, other) in self.row_loops(scop, tree, second)? {
                if array == other {
                    return Ok(Some(a.union(&b)?));
                }
            }
        }
        Ok(None)
    }

    /// Lists members of a nest's loops that are rows of a matrix, with its name.
    fn row_loops(
        &self,
        scop: &Scop,
        tree: &ScheduleTree,
        filter: Node,
    ) -> Result<Vec<(Union, String)>, Error> {
        let Some(node) = tree.children(filter).next() else { return Ok(Vec::new()) };
        let active = tree.active(node, self.budget)?;
        let mut found = Vec::new();
        // Deeper nests use again what is in a cache by themselves.
        if active.relations().any(|set| set.space().output.dims.len() > 2) {
            return Ok(found);
        }
        for node in self.chain(node) {
            let NodeKind::Band(band) = tree.kind(node) else { continue };
            for member in &band.members {
                let all =
                    scop.reads.union(&scop.may_writes)?.intersect_domain(&active, self.budget)?;
                for access in all.relations().filter(|access| access.space().output.dims.len() == 2)
                {
                    if is_row(access, &member.schedule, self.budget)? {
                        let name = access.space().output.name.clone();
                        found.push((member.schedule.clone(), name));
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Says whether the first subscript of an access is a loop.
fn is_row(access: &Relation, schedule: &Union, budget: &Budget) -> Result<bool, Error> {
    let name = access.space().input.as_ref().map(|input| &input.name);
    let own = |map: &&Relation| map.space().input.as_ref().map(|input| &input.name) == name;
    let Some(map) = schedule.relations().find(own) else { return Ok(false) };
    let loops = map.space().clone();
    let subscript = access.project_out(1..2, budget)?;
    let subscript = subscript.cast(loops.input.clone(), loops.output.clone())?;
    Ok(subscript.is_subset(map, budget)?)
}
