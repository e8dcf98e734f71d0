//! Arranging the innermost bands of a tree.

use tangram_presburger::Budget;

use super::cost::Costs;
use super::loop_order::{Loop, LoopOrder, loop_orders};
use super::rates::Rates;
use super::stride::{self, Accesses};
use super::unskew::straightened;
use super::{Arranged, Idle, Recipe};
use crate::transform::Editor;
use crate::{Error, Node, NodeKind, ScheduleTree};

/// Iterations of a loop that are few beside what starting it costs.
const FEW: i128 = 32;
/// The size of a diamond where none is asked for: larger ones leave few tiles on a line.
const DIAMOND: i128 = 32;

pub(super) struct Work<'a> {
    pub editor: Editor<'a>,
    pub accesses: Accesses,
    pub recipe: &'a Recipe,
    pub rates: Rates,
    pub budget: &'a Budget,
    /// Whether a cache is known to hold all arrays.
    pub in_cache: bool,
    /// What instances cost in the bands that were arranged.
    pub costs: Costs,
    /// What became of the bands.
    pub bands: Vec<Arranged>,
    /// The most loops that got the tiles that were asked for.
    pub tiled: usize,
    /// Whether a band got diamonds.
    pub diamonds: bool,
    /// Whether threads share out the blocks of sweeps in time.
    pub shared: bool,
}

/// What arranging a band did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It has a form that was asked for.
    Asked,
    /// It has a form that was chosen, or its own.
    Left,
    /// It is one band for each of its statements, which are to be arranged.
    Split,
}

impl Outcome {
    fn asked(asked: bool) -> Self {
        if asked { Self::Asked } else { Self::Left }
    }
}

/// Lists the nodes below a node, from left to right.
pub(super) fn below(tree: &ScheduleTree, node: Node) -> Vec<Node> {
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

pub(super) fn is_band(tree: &ScheduleTree, node: Node) -> bool {
    matches!(tree.kind(node), NodeKind::Band(_))
}

/// Describes what a plan makes of a band.
fn arranged(plan: &LoopOrder, sizes: &[Option<i128>]) -> Arranged {
    Arranged {
        statements: plan.costs.keys().copied().collect(),
        tiles: sizes.iter().copied().flatten().collect(),
        jams: plan.factors.iter().copied().filter(|factor| *factor > 1).collect(),
        vector: plan.vector,
    }
}

impl Work<'_> {
    /// Arranges all innermost bands; says whether any is changed as it was asked for.
    pub fn bands(&mut self) -> Result<bool, Error> {
        let mut asked = false;
        let mut done = 0;
        // Leaves keep their order while bands above them change.
        while let Some(leaf) = self.leaves().get(done).copied() {
            done += 1;
            let tree = self.editor.tree();
            let mut above = std::iter::successors(tree.parent(leaf), |node| tree.parent(*node));
            let Some(band) = above.find(|node| is_band(tree, *node)) else { continue };
            let below = below(tree, band);
            if below.iter().any(|node| is_band(tree, *node)) {
                continue;
            }
            let leaves = below.iter().filter(|node| matches!(tree.kind(**node), NodeKind::Leaf));
            let leaves = leaves.count();
            let before = self.leaves().len();
            match self.arrange(band)? {
                // The first of its parts is next.
                Outcome::Split => {
                    done -= 1;
                    continue;
                }
                outcome => asked |= outcome == Outcome::Asked,
            }
            done += leaves - 1;
            // Blocks and gaps of sweeps have the same loops.
            if self.shared {
                done += self.leaves().len() - before;
            }
        }
        Ok(asked)
    }

    /// Lists what was asked for and has no effect.
    pub fn idle(&self) -> Vec<Idle> {
        let sizes = self.recipe.tile.as_deref().unwrap_or_default();
        let given = sizes.iter().rposition(|size| *size > 0).map_or(0, |last| last + 1);
        let diamond = (self.recipe.diamond && !self.diamonds).then_some(Idle::Diamond);
        let surplus = (given > self.tiled).then_some(Idle::Sizes { used: self.tiled });
        diamond.into_iter().chain(surplus).collect()
    }

    /// Lists leaves from left to right.
    fn leaves(&self) -> Vec<Node> {
        let tree = self.editor.tree();
        let leaf = |node: &Node| matches!(tree.kind(*node), NodeKind::Leaf);
        below(tree, tree.root()).into_iter().filter(leaf).collect()
    }

    /// Arranges the loops of an innermost band.
    fn arrange(&mut self, node: Node) -> Result<Outcome, Error> {
        let mut node = node;
        let given = self.recipe.tile.is_some() || self.recipe.diamond;
        if !given && self.time_tiled(node)? {
            return Ok(Outcome::Asked);
        }
        if !given {
            node = self.combined(node)?;
        }
        let NodeKind::Band(band) = self.editor.tree().kind(node) else { return Ok(Outcome::Left) };
        if band.members.iter().any(|member| member.coincident) && !given {
            node = straightened(&mut self.editor, node)?;
        }
        let NodeKind::Band(band) = self.editor.tree().kind(node) else { return Ok(Outcome::Left) };
        let count = band.members.len();
        if given && !band.permutable && count > 1 {
            return Ok(Outcome::Left);
        }
        let is_parallel = band.members[0].coincident;
        if self.recipe.diamond && count > 1 && !is_parallel && self.diamonds(node, count)? {
            self.diamonds = true;
            self.tiled = self.tiled.max(count);
            return Ok(Outcome::Asked);
        }
        let loops = self.loops(node, count)?;
        let orders = loop_orders(&self.rates, &loops);
        if !given && orders.first().is_some_and(|plan| plan.has_guards(&loops)) {
            match self.editor.distribute_statements(node) {
                Ok(_) => return Ok(Outcome::Split),
                Err(Error::Illegal { .. } | Error::Operand { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        for plan in orders {
            let before = self.editor.tree().clone();
            let sizes = self.sizes(node, &plan);
            if self.follow(node, &plan, &sizes)? {
                self.bands.push(arranged(&plan, &sizes));
                self.costs.extend(plan.costs);
                self.tiled = self.tiled.max(count);
                return Ok(Outcome::asked(given));
            }
            self.editor.reset(before);
        }
        if !given {
            straightened(&mut self.editor, node)?;
            return Ok(Outcome::Left);
        }
        let tiled = self.tiled_as_asked(node, count)?;
        if tiled {
            self.tiled = self.tiled.max(count);
        }
        Ok(Outcome::asked(tiled))
    }

    /// Combines a band with those above it, as long as nothing stands between them.
    fn combined(&mut self, mut node: Node) -> Result<Node, Error> {
        while let Some(parent) = self.editor.tree().parent(node)
            && is_band(self.editor.tree(), parent)
        {
            node = self.editor.combine(parent)?;
        }
        Ok(node)
    }

    pub(super) fn loops(&self, node: Node, count: usize) -> Result<Vec<Loop>, Error> {
        let mut loops = Vec::new();
        for member in 0..count {
            let next = stride::next(self.editor.tree(), node, member, self.budget)?;
            let along = self.accesses.along(&next, self.budget)?;
            let few = stride::few_iterations(self.editor.tree(), node, member, FEW, self.budget)?;
            let short = few.filter(|iterations| *iterations < self.rates.jam);
            let free = self.is_free(node, member);
            let mut related = Vec::new();
            for other in (0..count).filter(|other| *other != member) {
                if self.are_related(node, member, other)? {
                    related.push(other);
                }
            }
            loops.push(Loop { along, free, short, few, related });
        }
        Ok(loops)
    }

    /// Says whether the values of two members are no rectangle: bounds of one depend on the other.
    fn are_related(&self, node: Node, a: usize, b: usize) -> Result<bool, Error> {
        let NodeKind::Band(band) = self.editor.tree().kind(node) else { return Ok(false) };
        let [a, b] = [a, b].map(|at| &band.members[at].schedule);
        let active = self.editor.tree().active(node, self.budget)?;
        let values =
            a.flat_range_product(b, self.budget)?.intersect_domain(&active, self.budget)?;
        for set in values.range(self.budget)?.relations() {
            let rows = set.eliminate(1..2, self.budget)?;
            let rectangle = rows.intersect(&set.eliminate(0..1, self.budget)?, self.budget)?;
            if !rectangle.is_subset(set, self.budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts loops in the order of a plan; says whether it can be. If not, the tree is to be
    /// reset.
    fn follow(
        &mut self,
        node: Node,
        plan: &LoopOrder,
        sizes: &[Option<i128>],
    ) -> Result<bool, Error> {
        match self.ordered(node, plan, sizes) {
            Ok(done) => Ok(done),
            Err(Error::Illegal { .. } | Error::Operand { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn ordered(
        &mut self,
        node: Node,
        plan: &LoopOrder,
        sizes: &[Option<i128>],
    ) -> Result<bool, Error> {
        let top = self.editor.arrange(node, sizes, &plan.order)?;
        let innermost = self.chain(top).last().copied().unwrap_or(top);
        if plan.vector && !self.is_parallel(innermost) {
            // Statements that keep each other from being parallel may get loops of their own.
            let list = self.editor.distribute_statements(innermost)?;
            let tree = self.editor.tree();
            let mut own = below(tree, list).into_iter().filter(|node| is_band(tree, *node));
            if !own.all(|node| self.is_parallel(node)) {
                return Ok(false);
            }
        }
        let top = self.by_wavefronts(top, sizes)?;
        let tiled = usize::from(sizes.iter().any(Option::is_some));
        let points = self.chain(top).get(tiled).copied();
        let factors = &plan.factors[..plan.factors.len() - 1];
        if let Some(points) = points.filter(|_| factors.iter().any(|factor| *factor > 1)) {
            self.editor.unroll_and_jam(points, factors)?;
        }
        Ok(true)
    }

    /// Lists the bands below a node.
    pub(super) fn bands_below(&self, node: Node) -> Vec<Node> {
        let tree = self.editor.tree();
        below(tree, node).into_iter().filter(|node| is_band(tree, *node)).collect()
    }

    fn is_free(&self, node: Node, member: usize) -> bool {
        match self.editor.tree().kind(node) {
            NodeKind::Band(band) => band.members[member].coincident,
            _ => false,
        }
    }

    pub(super) fn is_parallel(&self, node: Node) -> bool {
        match self.editor.tree().kind(node) {
            NodeKind::Band(band) => band.members.iter().all(|member| member.coincident),
            _ => false,
        }
    }

    /// Chooses sizes of tiles for a plan.
    fn sizes(&self, node: Node, plan: &LoopOrder) -> Vec<Option<i128>> {
        let mut sizes = self.given(plan.order.len());
        if self.recipe.tile.is_some() {
            return sizes;
        }
        if plan.again.len() > 1 {
            plan.again.iter().for_each(|member| sizes[*member] = Some(self.rates.tile));
            let shared = plan.again.iter().find(|member| self.is_free(node, **member));
            if let Some(member) = shared.filter(|_| self.recipe.parallel) {
                sizes[*member] = Some(self.rates.shared_tile);
            }
        }
        // Threads that no loop around the vectors gives work take strips of these, unless they
        // would start again and again.
        if let [outer @ .., inner] = &plan.order[..]
            && self.recipe.parallel
            && !outer.is_empty()
            && !outer.iter().any(|member| self.is_free(node, *member))
            && !self.is_inside_loop(node)
            && self.is_free(node, *inner)
        {
            sizes[*inner] = Some(self.rates.strip);
        }
        sizes
    }

    pub(super) fn is_inside_loop(&self, node: Node) -> bool {
        let tree = self.editor.tree();
        let mut above = std::iter::successors(tree.parent(node), |node| tree.parent(*node));
        above.any(|node| is_band(tree, node))
    }

    fn is_inside_parallel(&self, node: Node) -> bool {
        let tree = self.editor.tree();
        std::iter::successors(tree.parent(node), |node| tree.parent(*node)).any(|node| {
            match tree.kind(node) {
                NodeKind::Band(band) => band.members.iter().any(|member| member.coincident),
                _ => false,
            }
        })
    }

    /// Sizes of tiles that were asked for.
    fn given(&self, count: usize) -> Vec<Option<i128>> {
        let given = self.recipe.tile.as_deref().unwrap_or_default();
        (0..count).map(|at| given.get(at).copied().filter(|size| *size > 0)).collect()
    }

    /// Tiles a band in its own order, if sizes are given; says whether it can be.
    fn tiled_as_asked(&mut self, node: Node, count: usize) -> Result<bool, Error> {
        let sizes = self.given(count);
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
        let tiled = sizes.iter().flatten().count() > 1;
        let tree = self.editor.tree();
        let own = match tree.kind(top) {
            NodeKind::Band(band) => band.members.iter().any(|member| member.coincident),
            _ => false,
        };
        if !self.recipe.wavefront || !tiled || own || self.is_inside_parallel(top) {
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
        let sizes: Vec<i128> =
            self.given(count).into_iter().map(|size| size.unwrap_or(DIAMOND)).collect();
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

    /// Lists a band and the bands below it, as long as each is the only child.
    pub(super) fn chain(&self, top: Node) -> Vec<Node> {
        let tree = self.editor.tree();
        let down = |node: &Node| tree.children(*node).next();
        std::iter::successors(Some(top), down).take_while(|node| is_band(tree, *node)).collect()
    }
}
