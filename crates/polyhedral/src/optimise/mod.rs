//! From a program part to a schedule tree whose loops suit a machine.
//!
//! The scheduler says which loops can be interchanged and which run in parallel. Here the
//! loop that goes through memory element by element, and is parallel, moves inwards: it
//! will be vectorised. Loops around it that use the same vectors again are tiled, so that
//! these stay in the cache, and jammed, so that they stay in registers.
//!
//! ```text
//! for i, j, k: C[i][j] += A[i][k] * B[k][j]
//!
//! for i/32: for k/32: for i by 4: for k by 4: for j: 16 products
//! ```
//!
//! Every step is checked against the dependences by the [`Editor`]. What has no such loop
//! keeps the order that the scheduler found, or that of the source.

mod private;
mod stride;

use tangram_presburger::{Budget, Union};

use crate::schedule::{Constraints, Options};
use crate::scop::Scop;
use crate::transform::Editor;
use crate::{Error, Node, NodeKind, ScheduleTree};
use stride::{Accesses, Step};

/// What a part is made into.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Recipe {
    /// How the scheduler chooses.
    pub schedule: Options,
    /// Sizes of tiles for the members of each innermost band, outermost first; 0 leaves a
    /// member whole and missing ones are 0. Nothing: chosen for each band.
    pub tile: Option<Vec<i128>>,
    /// Whether tiles are diamonds where the first member of a band is not parallel: all
    /// tiles on a line start at once. Missing sizes are 32.
    pub diamond: bool,
    /// Whether tiles run by wavefronts where no loop over tiles or around them is parallel:
    /// the tiles of a line at once.
    pub wavefront: bool,
    /// Whether an order in which an outer loop is parallel is a gain.
    pub parallel: bool,
    /// Whether the order of the source stays if no band promises a gain.
    pub keep_source: bool,
}

/// A schedule and how it came about.
#[derive(Debug, Clone)]
pub struct Optimised {
    /// The schedule, checked against the dependences.
    pub tree: ScheduleTree,
    /// Whether the order is that of the source.
    pub original: bool,
    /// Why no schedule was computed.
    pub fallback: Option<Error>,
    /// Local arrays of which each thread needs its own where a loop is run in parallel.
    pub private: Vec<String>,
}

/// The size of a tile where vectors are used again.
const TILE: i128 = 32;
/// How many iterations run side by side in one loop.
const JAM: i128 = 4;

impl Scop {
    /// Finds an order of the instances in which loops run fast.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends where no schedule is there to fall back to.
    pub fn optimise(&self, recipe: &Recipe, budget: &Budget) -> Result<Optimised, Error> {
        let constraints = self.constraints(budget)?;
        let original = |fallback| {
            let (tree, private) = (self.schedule.clone(), Vec::new());
            Optimised { tree, original: true, fallback, private }
        };
        // Whatever ends this search, the other one falls back to the source.
        if let Ok(Some(found)) = self.with_private(&constraints, recipe, budget) {
            return Ok(found);
        }
        let outcome = self.improved(&constraints, recipe, budget);
        Ok(match outcome {
            Ok((_, false)) if recipe.keep_source => original(None),
            Ok((tree, _)) => {
                Optimised { tree, original: false, fallback: None, private: Vec::new() }
            }
            Err(error) => original(Some(error)),
        })
    }

    /// Finds an order in which local arrays do not keep loops from being parallel.
    fn with_private(
        &self,
        constraints: &Constraints,
        recipe: &Recipe,
        budget: &Budget,
    ) -> Result<Option<Optimised>, Error> {
        let private = self.privatisable(budget)?;
        if private.is_empty() {
            return Ok(None);
        }
        let coincidence = self.without_private(&private, budget)?;
        let relaxed = Constraints { coincidence, ..constraints.clone() };
        let Ok((tree, gained)) = self.improved(&relaxed, recipe, budget) else { return Ok(None) };
        if (recipe.keep_source && !gained) || !self.stays_private(&tree, &private, budget)? {
            return Ok(None);
        }
        Ok(Some(Optimised { tree, original: false, fallback: None, private }))
    }

    fn improved(
        &self,
        constraints: &Constraints,
        recipe: &Recipe,
        budget: &Budget,
    ) -> Result<(ScheduleTree, bool), Error> {
        let scheduled = constraints.schedule(&recipe.schedule, None, budget)?;
        let (validity, coincidence) =
            (constraints.validity.clone(), constraints.coincidence.clone());
        let editor = Editor::with_coincidence(scheduled.tree, validity, coincidence, budget)?;
        let accesses = Accesses::of(self)?;
        let source = stride::innermost(&self.schedule, budget)?;
        let mut work = Work { editor, accesses, source, recipe, budget };
        let gained = work.bands()?;
        let tree = work.editor.into_tree();
        let gained = gained || (recipe.parallel && has_outer_parallel_loop(&tree));
        Ok((tree, gained))
    }
}

/// Says whether a loop is parallel that is the outermost one or has another one inside.
fn has_outer_parallel_loop(tree: &ScheduleTree) -> bool {
    let mut open = vec![(tree.root(), false)];
    while let Some((node, mut inside)) = open.pop() {
        if let NodeKind::Band(band) = tree.kind(node) {
            for (at, member) in band.members.iter().enumerate() {
                let is_band = |node: &Node| matches!(tree.kind(*node), NodeKind::Band(_));
                let holds = at + 1 < band.members.len() || below(tree, node).iter().any(is_band);
                if member.coincident && (!inside || holds) {
                    return true;
                }
                inside = true;
            }
        }
        open.extend(tree.children(node).map(|child| (child, inside)));
    }
    false
}

/// Lists the nodes below a node, from left to right.
fn below(tree: &ScheduleTree, node: Node) -> Vec<Node> {
    let children = |node| {
        let mut children: Vec<Node> = tree.children(node).collect();
        children.reverse();
        children
    };
    let mut open = children(node);
    let mut all = Vec::new();
    while let Some(node) = open.pop() {
        all.push(node);
        open.extend(children(node));
    }
    all
}

struct Work<'a> {
    editor: Editor<'a>,
    accesses: Accesses,
    /// Instances that the source runs one after the other in its innermost loops.
    source: Union,
    recipe: &'a Recipe,
    budget: &'a Budget,
}

/// What members of a band do to the places that are accessed.
struct Strides {
    /// For each member and each access, how far its next iteration goes.
    steps: Vec<Vec<Step>>,
}

impl Strides {
    /// Whether all accesses of a loop go to the next element or stay.
    fn is_smooth(&self, member: usize) -> bool {
        self.steps[member].iter().all(|step| *step != Step::Far)
    }

    fn nexts(&self, member: usize) -> usize {
        self.steps[member].iter().filter(|step| **step == Step::Next).count()
    }

    /// Whether a vector along `inner` is used again in the next iteration of `member`.
    fn reuses(&self, member: usize, inner: usize) -> bool {
        let pairs = self.steps[member].iter().zip(&self.steps[inner]);
        pairs.into_iter().any(|pair| pair == (&Step::Same, &Step::Next))
    }
}

impl Work<'_> {
    /// Arranges all innermost bands; says whether any gains.
    fn bands(&mut self) -> Result<bool, Error> {
        let mut gained = false;
        let mut done = 0;
        // Leaves keep their order while bands above them change.
        while let Some(leaf) = self.leaves().get(done).copied() {
            done += 1;
            let tree = self.editor.tree();
            let above = std::iter::successors(tree.parent(leaf), |node| tree.parent(*node));
            let mut bands = above.filter(|node| matches!(tree.kind(*node), NodeKind::Band(_)));
            let Some(band) = bands.next() else { continue };
            let below = below(tree, band);
            if below.iter().any(|node| matches!(tree.kind(*node), NodeKind::Band(_))) {
                continue;
            }
            let leaves = below.iter().filter(|node| matches!(tree.kind(**node), NodeKind::Leaf));
            done += leaves.count() - 1;
            gained |= self.arrange(band)?;
        }
        Ok(gained)
    }

    /// Lists leaves from left to right.
    fn leaves(&self) -> Vec<Node> {
        let tree = self.editor.tree();
        let leaf = |node: &Node| matches!(tree.kind(*node), NodeKind::Leaf);
        below(tree, tree.root()).into_iter().filter(leaf).collect()
    }

    /// Arranges the loops of an innermost band; says whether they gain.
    fn arrange(&mut self, node: Node) -> Result<bool, Error> {
        let NodeKind::Band(band) = self.editor.tree().kind(node) else { return Ok(false) };
        let count = band.members.len();
        if !band.permutable && count > 1 {
            return Ok(false);
        }
        let is_parallel = band.members[0].coincident;
        if self.recipe.diamond && count > 1 && !is_parallel && self.diamonds(node, count)? {
            return Ok(true);
        }
        let strides = self.strides(node, count)?;
        let mut candidates: Vec<usize> = (0..count)
            .filter(|member| strides.is_smooth(*member) && strides.nexts(*member) > 0)
            .collect();
        candidates.sort_by_key(|member| std::cmp::Reverse(strides.nexts(*member)));
        for inner in candidates {
            let again = (0..count).filter(|at| *at != inner && strides.reuses(*at, inner)).count();
            // The source may have the best innermost loop already.
            let gains = again > 1 || !self.is_smooth_in_source(node)?;
            if self.with_inner(node, inner, &strides)? {
                return Ok(gains);
            }
        }
        self.tiled_as_asked(node, count)
    }

    /// Tiles a band in its own order, if sizes are given; says whether it can be.
    fn tiled_as_asked(&mut self, node: Node, count: usize) -> Result<bool, Error> {
        let sizes = self.sizes(count, &[]);
        if sizes.iter().all(Option::is_none) {
            return Ok(false);
        }
        let order: Vec<usize> = (0..count).collect();
        match self.editor.arrange(node, &sizes, &order) {
            Ok(top) => self.by_wavefronts(top, &sizes).map(|_| true),
            Err(Error::Illegal { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Runs tiles by wavefronts where that is asked for and makes a loop parallel that is
    /// not inside another parallel one. Two loops over tiles make the lines, as in Pluto:
    /// more of them would leave more threads waiting for each other more often.
    fn by_wavefronts(&mut self, top: Node, sizes: &[Option<i128>]) -> Result<Node, Error> {
        let tree = self.editor.tree();
        let mut around = std::iter::successors(Some(top), |node| tree.parent(*node));
        let is_parallel = |node: Node| match tree.kind(node) {
            NodeKind::Band(band) => band.members.iter().any(|member| member.coincident),
            _ => false,
        };
        let tiled = sizes.iter().flatten().count() > 1;
        if !self.recipe.wavefront || !tiled || around.any(is_parallel) {
            return Ok(top);
        }
        match self.editor.wavefront(top, 2) {
            Ok(tiles) => Ok(tiles),
            Err(Error::Illegal { .. } | Error::Operand { .. }) => Ok(top),
            Err(error) => Err(error),
        }
    }

    /// Tiles a band by diamonds and runs these by lines; says whether that is possible.
    fn diamonds(&mut self, node: Node, count: usize) -> Result<bool, Error> {
        let given = self.recipe.tile.as_deref().unwrap_or_default();
        let size = |at: usize| given.get(at).copied().filter(|size| *size > 0).unwrap_or(TILE);
        let sizes: Vec<i128> = (0..count).map(size).collect();
        let before = self.editor.tree().clone();
        let tiles = self.editor.diamond(node, &sizes);
        match tiles.and_then(|tiles| self.editor.wavefront(tiles, 2)) {
            Ok(_) => Ok(true),
            Err(Error::Illegal { .. } | Error::Operand { .. }) => {
                self.editor.reset(before);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Says whether the source's innermost loops go from element to element at a node.
    fn is_smooth_in_source(&self, node: Node) -> Result<bool, Error> {
        let active = self.editor.tree().active(node, self.budget)?;
        let next = self.source.intersect_domain(&active, self.budget)?;
        let steps = self.accesses.steps(&next, self.budget)?;
        Ok(steps.iter().all(|step| *step != Step::Far))
    }

    fn strides(&self, node: Node, count: usize) -> Result<Strides, Error> {
        let mut steps = Vec::new();
        for member in 0..count {
            let next = stride::next(self.editor.tree(), node, member, self.budget)?;
            steps.push(self.accesses.steps(&next, self.budget)?);
        }
        Ok(Strides { steps })
    }

    /// Puts member `inner` innermost, if it is parallel there.
    fn with_inner(&mut self, node: Node, inner: usize, strides: &Strides) -> Result<bool, Error> {
        let count = strides.steps.len();
        let mut again: Vec<usize> = Vec::new();
        for member in (0..count).filter(|member| *member != inner) {
            if strides.reuses(member, inner) && !self.is_short(node, member)? {
                again.push(member);
            }
        }
        // The loops that use vectors again stand directly around the vectors.
        let jammed: Vec<usize> = again.iter().rev().take(2).rev().copied().collect();
        let mut order: Vec<usize> =
            (0..count).filter(|member| *member != inner && !jammed.contains(member)).collect();
        order.extend(&jammed);
        order.push(inner);
        let sizes = self.sizes(count, &again);
        let before = self.editor.tree().clone();
        let top = match self.editor.arrange(node, &sizes, &order) {
            Ok(top) => top,
            Err(Error::Illegal { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let chain: Vec<Node> = self.chain(top);
        let innermost = chain.last().copied().unwrap_or(top);
        let parallel = match self.editor.tree().kind(innermost) {
            NodeKind::Band(band) => band.members.iter().all(|member| member.coincident),
            _ => false,
        };
        if !parallel {
            self.editor.reset(before);
            return Ok(false);
        }
        let top = self.by_wavefronts(top, &sizes)?;
        if let [.., points, _] = self.chain(top)[..]
            && !jammed.is_empty()
        {
            let outer = count - 1 - jammed.len();
            let factors: Vec<i128> =
                (0..count - 1).map(|at| if at < outer { 1 } else { JAM }).collect();
            match self.editor.unroll_and_jam(points, &factors) {
                Ok(_) | Err(Error::Illegal { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Lists a band and the bands below it, as long as each is the only child.
    fn chain(&self, top: Node) -> Vec<Node> {
        let tree = self.editor.tree();
        let down = |node: &Node| tree.children(*node).next();
        std::iter::successors(Some(top), down)
            .take_while(|node| matches!(tree.kind(*node), NodeKind::Band(_)))
            .collect()
    }

    fn sizes(&self, count: usize, again: &[usize]) -> Vec<Option<i128>> {
        let chosen = |member: usize| match &self.recipe.tile {
            Some(sizes) => sizes.get(member).copied().filter(|size| *size > 0),
            None => (again.len() > 1 && again.contains(&member)).then_some(TILE),
        };
        (0..count).map(chosen).collect()
    }

    /// Says whether a member has fewer iterations than are run side by side.
    fn is_short(&self, node: Node, member: usize) -> Result<bool, Error> {
        let NodeKind::Band(band) = self.editor.tree().kind(node) else { return Ok(false) };
        let active = self.editor.tree().active(node, self.budget)?;
        let values = band.members[member].schedule.intersect_domain(&active, self.budget)?;
        let mut longest = Some(0);
        for set in values.range(self.budget)?.relations() {
            let names: Vec<&str> = set.space().params.iter().map(String::as_str).collect();
            let free = set.project_params(&names, self.budget)?;
            let count = free.points(&Budget::steps(1_000)).ok().map(|points| points.len());
            longest = longest.zip(count).map(|(a, b): (usize, usize)| a.max(b));
        }
        Ok(longest.is_some_and(|longest| (longest as i128) < JAM))
    }
}
