//! Rows of a recurrence side by side.
//!
//! Where each iteration of an innermost loop waits for the one before, a processor has one chain
//! of operations to do, and is idle for most of their latency. Rows that follow each other at a distance
//! are chains of their own:
//!
//! ```text
//! for i: for j: A[i][j] = f(A[i][j - 1], A[i - 1][j + 1], ..)
//!
//! for i by 8: for w: { A[i][w] = ..; A[i + 1][w - 2] = ..; A[i + 2][w - 4] = ..; .. }
//! ```
//!
//! The distance is the least at which no row waits for another one: loops are skewed by it, interchanged, and the
//! inner one unrolled where all rows take part; the ends of rows run in loops.
//!
//! # Source
//! L. Lamport, "The parallel execution of DO loops" (CACM 17(2), 1974), for the skewing; D. Callahan,
//! S. Carr, K. Kennedy, "Improving register allocation for subscripted variables" (PLDI 1990) for
//! unroll and jam. Divergence: whole groups of rows are isolated in the schedule tree.

use std::ops::Range;

use tangram_presburger::{Budget, Relation, Rows, Space, Tuple, Union};

use super::cost::Along;
use super::private::is_of;
use super::skewed_rows::side_by_side;
use super::stride::{self, AccessStride, Accesses};
use super::tile_innermost::{below, is_band};
use super::{Arranged, Improved, fronts, pivot, substitution};
use crate::schedule::Constraints;
use crate::scop::{Basis, Kind, Scop};
use crate::transform::Editor;
use crate::{Error, Member, Node, NodeKind, ScheduleTree, legality};

/// Statements side by side: their chains hide the latency of a division. Of 2, 4, 6, 8 and 12 rows of a
/// Gauss-Seidel sweep, time falls up to 8.
pub(super) const SIDE_BY_SIDE: i128 = 8;
/// Iterations that wait for one further back than this are run by vectors.
const CHAIN: i128 = 3;

impl Scop {
    /// Puts rows of recurrences side by side, in the order of the source otherwise; nothing if there
    /// are none. `threads`: whether rows, or groups of rows of several steps, may run in parallel.
    pub(super) fn chained(
        &self,
        constraints: &Constraints,
        threads: bool,
        budget: &Budget,
    ) -> Result<Option<Improved>, Error> {
        let private = self.own_scalars(budget)?;
        let validity = match private.is_empty() {
            true => constraints.validity.clone(),
            false => self.without_private(&private, budget)?,
        };
        let mut editor = Editor::new(self.schedule.clone(), validity, budget)?;
        editor.intersect_domain(&constraints.domain)?;
        let accesses = Accesses::of(self, budget)?;
        let mut bands = Vec::new();
        let mut flow = None;
        let mut done = 0;
        while let Some(Nest { outer, inner, own }) = nest(editor.tree(), done) {
            done = own.end;
            let next = stride::next(editor.tree(), inner, 0, budget)?;
            let along = accesses.along(&next, budget)?;
            let is_smooth = is_smooth(&along);
            let made = self.reformed(&mut editor, (outer, inner), (&accesses, &along), budget)?;
            // A variable of an iteration is right for iterations as a whole only.
            let made = match made {
                None if private.is_empty() => {
                    let along = (&accesses, along.as_slice());
                    let top = substitution::by_rows(&mut editor, (outer, inner), along, budget)?;
                    top.map(|top| (top, vec![SIDE_BY_SIDE]))
                }
                list => list.map(|list| (list, Vec::new())),
            };
            if let Some((top, jams)) = made
                && let Some(all) = first_leaves(editor.tree(), top)
            {
                let statements = self.active_statements(editor.tree(), all.clone(), budget)?;
                let vector = jams.is_empty();
                bands.push(Arranged { statements, tiles: Vec::new(), jams, vector });
                done = all.end;
                continue;
            }
            let chain = Chain { nest: (outer, inner), own, is_smooth, private: &private };
            if let Some((band, end)) =
                self.rows(&mut editor, chain, (threads, &mut flow), budget)?
            {
                done = end;
                bands.push(band);
            }
        }
        let (tree, idle) = (editor.into_tree(), Vec::new());
        let made = !bands.is_empty();
        let (gained, ratio, shared, passes) = (true, None, false, false);
        Ok(made.then_some(Improved { tree, bands, gained, ratio, idle, shared, passes }))
    }

    /// Puts rows of recurrences side by side in a tree whose other loops have their form; nothing if there
    /// are none.
    pub(super) fn with_chains(
        &self,
        found: &Improved,
        constraints: &Constraints,
        budget: &Budget,
    ) -> Result<Option<Improved>, Error> {
        let mut editor = Editor::new(found.tree.clone(), constraints.validity.clone(), budget)?;
        split_rows(&mut editor)?;
        let accesses = Accesses::of(self, budget)?;
        let (mut bands, mut flow, mut done) = (found.bands.clone(), None, 0);
        let mut made = false;
        while let Some(Nest { outer, inner, own }) = nest(editor.tree(), done) {
            done = own.end;
            if [outer, inner].iter().any(|band| is_arranged(editor.tree(), *band))
                || member(editor.tree(), inner).is_some_and(|inner| inner.coincident)
            {
                continue;
            }
            let next = stride::next(editor.tree(), inner, 0, budget)?;
            let is_smooth = is_smooth(&accesses.along(&next, budget)?);
            let chain = Chain { nest: (outer, inner), own, is_smooth, private: &[] };
            if let Some((band, end)) = self.rows(&mut editor, chain, (false, &mut flow), budget)? {
                done = end;
                made = true;
                bands.retain(|other| {
                    !other.statements.iter().all(|at| band.statements.contains(at))
                });
                bands.push(band);
            }
        }
        let Improved { gained, ratio, shared, passes, .. } = *found;
        let (tree, idle) = (editor.into_tree(), found.idle.clone());
        Ok(made.then_some(Improved { tree, bands, gained, ratio, idle, shared, passes }))
    }

    /// Puts rows of one nest side by side, if each of them is a chain; returns what became of it, and
    /// the leaf behind it. `flow`: [`Self::between_cells`], once it is known.
    fn rows(
        &self,
        editor: &mut Editor,
        chain: Chain,
        (threads, flow): (bool, &mut Option<Union>),
        budget: &Budget,
    ) -> Result<Option<(Arranged, usize)>, Error> {
        let Chain { nest: (outer, inner), own, is_smooth, private } = chain;
        let results = self.results(editor.tree(), own, private, budget)?;
        let rows = SIDE_BY_SIDE / i128::try_from(results.max(1)).unwrap_or(SIDE_BY_SIDE);
        if rows < 2 {
            return Ok(None);
        }
        let flow = match flow {
            Some(flow) => flow,
            None => flow.insert(self.between_cells(budget)?),
        };
        if !waits(editor.tree(), inner, (flow, is_smooth), budget)? {
            return Ok(None);
        }
        let before = editor.tree().clone();
        // Several threads need variables of their own, which only parallel loops of the scheduler get.
        let threads = threads && private.is_empty();
        let (outer, inner) = match threads {
            true => fronts::shared(editor, (outer, inner), budget)?,
            false => (outer, inner),
        };
        let Some(all) = side_by_side(editor, (outer, inner), rows, budget)? else {
            editor.reset(before);
            return Ok(None);
        };
        let statements = self.active_statements(editor.tree(), all.clone(), budget)?;
        let arranged = Arranged { statements, tiles: Vec::new(), jams: vec![rows], vector: false };
        Ok(Some((arranged, all.end)))
    }

    /// Gives loops a form in which vectors run the inner one, but for a single iteration that all others
    /// wait for; returns the list of its parts.
    fn reformed(
        &self,
        editor: &mut Editor,
        (outer, inner): (Node, Node),
        (accesses, along): (&Accesses, &[Along]),
        budget: &Budget,
    ) -> Result<Option<Node>, Error> {
        // Vectors that write some of their elements alone are slower than what a compiler makes.
        if !self.writes_surely(editor.tree(), inner, budget)? {
            return Ok(None);
        }
        match is_smooth(along) {
            true => pivot::split(editor, inner, budget),
            false => turned(editor, (outer, inner), accesses, budget),
        }
    }

    /// Returns whether all writes below a node are certain.
    fn writes_surely(
        &self,
        tree: &ScheduleTree,
        node: Node,
        budget: &Budget,
    ) -> Result<bool, Error> {
        let writes = self.may_writes.intersect_domain(&tree.active(node, budget)?, budget)?;
        Ok(writes.is_subset(&self.must_writes, budget)?)
    }

    /// The flow of values from one cell to another: sums in one cell are a matter of their own. Integers
    /// are ready after a cycle, so that their chains leave nothing to hide.
    fn between_cells(&self, budget: &Budget) -> Result<Union, Error> {
        let mut flow = self.dependences(Kind::Flow, Basis::Value, budget)?;
        let is_integer = |tagged: &Relation| {
            self.arrays.iter().any(|array| array.integer && is_of(tagged, &array.name))
        };
        let slow = flow.tagged.relations().filter(|tagged| !is_integer(tagged));
        flow.tagged = Union::collect(slow.cloned())?;
        flow.tagged = flow.tagged.subtract_range(&self.may_writes.wrap()?, budget)?;
        flow.pairs(budget)
    }

    /// Names the local variables whose values stay within one iteration of one innermost loop.
    ///
    /// Copies of an iteration side by side run one after the other, each as a whole: one such
    /// variable is enough for all of them.
    fn own_scalars(&self, budget: &Budget) -> Result<Vec<String>, Error> {
        let mut names = self.privatisable(budget)?;
        names.retain(|name| {
            self.arrays.iter().any(|own| own.name == *name && own.extents.is_empty())
        });
        if names.is_empty() {
            return Ok(names);
        }
        let flow = self.dependences(Kind::Flow, Basis::Value, budget)?;
        let mut found = Vec::new();
        for name in names {
            let mut own = flow.clone();
            let of = |map: &&Relation| {
                map.space().output.nested.as_ref().is_some_and(|sides| sides.1.name == name)
            };
            own.tagged = Union::collect(flow.tagged.relations().filter(of).cloned())?;
            if self.is_in_one_body(&name)? && stays(&own.pairs(budget)?, budget)? {
                found.push(name);
            }
        }
        Ok(found)
    }

    /// Returns whether all statements that access a variable stand in one innermost loop.
    fn is_in_one_body(&self, name: &str) -> Result<bool, Error> {
        let mut names = Vec::new();
        for accesses in [&self.reads, &self.may_writes] {
            for map in accesses.relations().filter(|map| map.space().output.name == *name) {
                names.extend(map.space().input.as_ref().map(|input| input.name.clone()));
            }
        }
        let tree = &self.schedule;
        let mut bodies = Vec::new();
        for leaf in leaves(tree) {
            let mut above = std::iter::successors(tree.parent(leaf), |node| tree.parent(*node));
            let has =
                |set: &Union| set.relations().any(|set| names.contains(&set.space().output.name));
            let filters = std::iter::successors(Some(leaf), |node| tree.parent(*node));
            let is_own = filters
                .filter_map(|node| match tree.kind(node) {
                    NodeKind::Filter(set) | NodeKind::Domain(set) => Some(has(set)),
                    _ => None,
                })
                .all(|own| own);
            if is_own {
                bodies.push(above.find(|node| is_band(tree, *node)));
            }
        }
        bodies.dedup();
        // Where another loop stands in the same body, what is around it is copied piece by piece.
        let is_innermost = |band: Node| {
            leaves(tree).into_iter().all(|leaf| {
                let above = std::iter::successors(tree.parent(leaf), |node| tree.parent(*node));
                let above: Vec<Node> = above.filter(|node| is_band(tree, *node)).collect();
                !above.contains(&band) || above.first() == Some(&band)
            })
        };
        Ok(matches!(bodies[..], [Some(band)] if is_innermost(band)))
    }

    /// Counts the results at some leaves that are more than variables of their iteration: statements
    /// that write them, those that keep the state of a row in local cells as one.
    fn results(
        &self,
        tree: &ScheduleTree,
        range: Range<usize>,
        private: &[String],
        budget: &Budget,
    ) -> Result<usize, Error> {
        let (mut results, mut states) = (0, 0);
        let active = self.active_statements(tree, range, budget)?;
        let loops = |at: &usize| self.statements[*at].domain.space().output.dims.len();
        let most = active.iter().map(loops).max().unwrap_or(0);
        // Others begin or end rows.
        for at in active.into_iter().filter(|at| loops(at) == most) {
            let statement = &self.statements[at];
            let own = |map: &&Relation| {
                map.space().input.as_ref().is_some_and(|from| from.name == statement.name)
            };
            let targets = self.may_writes.relations().filter(own);
            let targets = targets.map(|map| &map.space().output.name);
            let mut targets = targets.filter(|name| !private.contains(name)).peekable();
            if targets.peek().is_none() {
                continue;
            }
            let is_local = |name: &String| self.arrays.iter().any(|a| a.name == *name && a.local);
            match statement.update.is_none() && targets.all(is_local) {
                true => states = 1,
                false => results += 1,
            }
        }
        Ok(results + states)
    }

    /// Lists the statements that reach some leaves.
    fn active_statements(
        &self,
        tree: &ScheduleTree,
        range: Range<usize>,
        budget: &Budget,
    ) -> Result<Vec<usize>, Error> {
        let mut names = Vec::new();
        for leaf in &leaves(tree)[range] {
            let active = tree.active(*leaf, budget)?;
            names.extend(active.relations().map(|set| set.space().output.name.clone()));
        }
        let all = self.statements.iter().enumerate();
        Ok(all.filter(|(_, own)| names.contains(&own.name)).map(|(at, _)| at).collect())
    }
}

/// Interchanges two loops if vectors can run the outer one, but for an iteration that all others wait
/// for; returns the list of its parts.
fn turned(
    editor: &mut Editor,
    (outer, inner): (Node, Node),
    accesses: &Accesses,
    budget: &Budget,
) -> Result<Option<Node>, Error> {
    if editor.tree().parent(inner) != Some(outer) {
        return Ok(None);
    }
    let before = editor.tree().clone();
    let both = editor.combine(outer)?;
    let next = stride::next(editor.tree(), both, 0, budget)?;
    let along = accesses.along(&next, budget)?;
    let goes = along.iter().any(|along| along.step == Some(AccessStride::Next));
    let made = match goes && is_smooth(&along) {
        true => interchanged(editor, both),
        false => Ok(None),
    };
    let made = match made {
        Ok(Some(inner)) => pivot::split(editor, inner, budget)?,
        Ok(None) | Err(Error::Illegal { .. } | Error::Operand { .. }) => None,
        Err(error) => return Err(error),
    };
    if made.is_none() {
        editor.reset(before);
    }
    Ok(made)
}

/// Interchanges the two loops of a band; returns that of the inner one.
fn interchanged(editor: &mut Editor, both: Node) -> Result<Option<Node>, Error> {
    let both = editor.interchange(both, 0, 1)?;
    let outer = editor.split(both, 1)?;
    Ok(editor.tree().children(outer).next())
}

/// Returns whether pairs are of iterations with the same coordinates.
fn stays(pairs: &Union, budget: &Budget) -> Result<bool, Error> {
    for pairs in pairs.relations() {
        let space = pairs.space();
        let inputs = space.input.as_ref().map_or(0, |input| input.dims.len());
        if inputs != space.output.dims.len() {
            return Ok(false);
        }
        let mut rows = Rows::new(space.params.len(), inputs, inputs);
        for at in 0..inputs {
            let column = rows.input(at);
            rows.output_is(at, &[], &[(column, 1)]);
        }
        if !pairs.is_subset(&rows.relation(space.clone())?, budget)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A nest whose rows may be chains.
struct Chain<'a> {
    /// The loop over rows, and the one along them.
    nest: (Node, Node),
    /// The leaves below it.
    own: Range<usize>,
    /// Whether vectors could run it but for what it waits for.
    is_smooth: bool,
    /// Variables of one iteration.
    private: &'a [String],
}

/// Gives the last loop of an innermost band a band of its own, and the one around it, if rows of these could
/// be chains.
fn split_rows(editor: &mut Editor) -> Result<(), Error> {
    for band in below(editor.tree(), editor.tree().root()) {
        let NodeKind::Band(own) = editor.tree().kind(band) else { continue };
        let count = own.members.len();
        let [.., rows, along] = &own.members[..] else { continue };
        let is_innermost =
            !below(editor.tree(), band).iter().any(|node| is_band(editor.tree(), *node));
        if !is_innermost || !rows.coincident || along.coincident || is_arranged(editor.tree(), band)
        {
            continue;
        }
        let band = editor.split(band, count - 1)?;
        if count > 2 {
            editor.split(band, count - 2)?;
        }
    }
    Ok(())
}

/// Returns whether iterations of a band run side by side already.
fn is_arranged(tree: &ScheduleTree, band: Node) -> bool {
    matches!(tree.kind(band), NodeKind::Band(band) if band.options.relations().next().is_some())
}

/// An innermost band, the one around it, and the leaves below it.
struct Nest {
    outer: Node,
    inner: Node,
    own: Range<usize>,
}

/// Lists leaves from left to right.
fn leaves(tree: &ScheduleTree) -> Vec<Node> {
    let is_leaf = |node: &Node| matches!(tree.kind(*node), NodeKind::Leaf);
    below(tree, tree.root()).into_iter().filter(is_leaf).collect()
}

/// Finds the leaves below a node, one of which is at a position.
fn leaves_below(tree: &ScheduleTree, node: Node, at: usize) -> Range<usize> {
    let is_below = |leaf: &Node| {
        std::iter::successors(Some(*leaf), |node| tree.parent(*node)).any(|other| other == node)
    };
    let all = leaves(tree);
    let before = all[..at].iter().rev().take_while(|leaf| is_below(leaf)).count();
    let behind = all[at..].iter().take_while(|leaf| is_below(leaf)).count();
    at - before..at + behind
}

/// Finds the leaves below a node.
pub(super) fn first_leaves(tree: &ScheduleTree, node: Node) -> Option<Range<usize>> {
    let is_below = |leaf: &Node| {
        std::iter::successors(Some(*leaf), |node| tree.parent(*node)).any(|n| n == node)
    };
    let at = leaves(tree).iter().position(is_below)?;
    Some(leaves_below(tree, node, at))
}

/// Returns whether accesses go to the next element or stay.
pub(super) fn is_smooth(along: &[Along]) -> bool {
    let far = |along: &Along| matches!(along.step, Some(AccessStride::Near(_) | AccessStride::Far));
    !along.iter().any(far)
}

/// Finds the next innermost band in another one, from a leaf on.
fn nest(tree: &ScheduleTree, mut at: usize) -> Option<Nest> {
    let all = leaves(tree);
    let band_above = |node: Node| {
        std::iter::successors(tree.parent(node), |node| tree.parent(*node))
            .find(|node| is_band(tree, *node))
    };
    while let Some(leaf) = all.get(at).copied() {
        let Some(inner) = band_above(leaf) else {
            at += 1;
            continue;
        };
        let own = leaves_below(tree, inner, at);
        if own.start == at
            && all[own.clone()].iter().all(|leaf| band_above(*leaf) == Some(inner))
            && let Some(outer) = band_above(inner)
            && [inner, outer].iter().all(|node| member(tree, *node).is_some())
        {
            return Some(Nest { outer, inner, own });
        }
        at += 1;
    }
    None
}

/// Returns the only member of a band.
pub(super) fn member(tree: &ScheduleTree, node: Node) -> Option<&Member> {
    match tree.kind(node) {
        NodeKind::Band(band) if band.members.len() == 1 => band.members.first(),
        _ => None,
    }
}

/// The pairs of instances below a node that the loops around it leave together.
pub(super) fn together_at(
    tree: &ScheduleTree,
    node: Node,
    pairs: &Union,
    budget: &Budget,
) -> Result<Union, Error> {
    let active = tree.active(node, budget)?;
    let mut pairs = pairs.intersect_domain(&active, budget)?.intersect_range(&active, budget)?;
    for above in std::iter::successors(tree.parent(node), |node| tree.parent(*node)) {
        if let NodeKind::Band(band) = tree.kind(above) {
            for member in &band.members {
                pairs = legality::together(&pairs, &member.schedule, budget)?;
            }
        }
    }
    Ok(pairs)
}

/// Returns whether iterations of an innermost band wait for one shortly before; where accesses are
/// smooth, so that vectors could run it, for more than a single one.
fn waits(
    tree: &ScheduleTree,
    inner: Node,
    (flow, is_smooth): (&Union, bool),
    budget: &Budget,
) -> Result<bool, Error> {
    let pairs = together_at(tree, inner, flow, budget)?;
    let Some(Member { schedule, .. }) = member(tree, inner) else { return Ok(false) };
    let steps = schedule.apply_range(&near()?, budget)?;
    let pairs = pairs.intersect(&steps.apply_range(&schedule.inverse()?, budget)?, budget)?;
    if pairs.is_empty(budget)? {
        return Ok(false);
    }
    if !is_smooth {
        return Ok(true);
    }
    let sources = pairs.domain(budget)?;
    let mut around = sources.identity(budget)?;
    let mut first = true;
    for above in std::iter::successors(tree.parent(inner), |node| tree.parent(*node)) {
        let NodeKind::Band(band) = tree.kind(above) else { continue };
        for outer in &band.members {
            let own = outer.schedule.intersect_domain(&sources, budget)?;
            around = match first {
                true => own,
                false => around.flat_range_product(&own, budget)?,
            };
            first = false;
        }
    }
    let values = around.inverse()?.apply_range(schedule, budget)?;
    Ok(!values.is_single_valued(budget)?)
}

/// Relates values to those up to [`CHAIN`] further.
fn near() -> Result<Union, Error> {
    let mut rows = Rows::new(0, 1, 1);
    let (from, to) = (rows.input(0), rows.output(0));
    for (constant, sign) in [(-1, 1), (CHAIN, -1)] {
        let mut row = vec![0; rows.columns()];
        (row[0], row[to], row[from]) = (constant, sign, -sign);
        rows.at_least_zero(row);
    }
    let space = Space::map(Vec::new(), Tuple::anonymous(1), Tuple::anonymous(1));
    Ok(rows.relation(space)?.into())
}
