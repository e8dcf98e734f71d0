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

mod chains;
mod compiled;
mod cost;
mod fronts;
mod loop_order;
mod passes;
mod pivot;
mod private;
mod rates;
mod skewed_rows;
mod stencil;
mod stride;
mod substitution;
mod tile_innermost;
mod unskew;

use tangram_machine::{Isa, Machine};
use tangram_presburger::{Budget, Union};

use crate::contraction::{Contraction, Trailing};
use crate::schedule::{Constraints, Fusion, Options};
use crate::scop::Scop;
use crate::transform::Editor;
use crate::{Error, Fault, Node, NodeKind, ScheduleTree};
use cost::{Costs, Form, costs};
use rates::Rates;
pub use rates::threads_from;
use stride::Accesses;
use tile_innermost::Work;

/// What a part is made into.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recipe {
    /// The processor that the loops are for; by default any with AVX2.
    pub machine: Machine,
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
    /// Whether outer parallel loops run on several threads.
    pub parallel: bool,
    /// Whether the order of the source stays if no band promises a gain.
    pub keep_source: bool,
    /// Whether contractions become packed tiles; not where tiles are asked for. Who writes the code
    /// has to write these tiles, too.
    pub contract: bool,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            machine: Machine::of(Isa::Avx2),
            schedule: Options::default(),
            tile: None,
            diamond: false,
            wavefront: false,
            parallel: false,
            keep_source: false,
            contract: false,
        }
    }
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
    /// The bands whose loops got another form.
    pub bands: Vec<Arranged>,
    /// The estimated cost of the new order over that of the source, if both were estimated.
    pub ratio: Option<f64>,
    /// Statements that became packed tiles; code generation outlines these
    /// ([`KERNEL`](crate::contraction::KERNEL)).
    pub contractions: Vec<Contraction>,
    /// What was asked for and has no effect, as nothing in the part takes it.
    pub idle: Vec<Idle>,
}

/// A part of a recipe that has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Idle {
    /// No band has tiles that can be diamonds.
    Diamond,
    /// Sizes of tiles behind the first `used`: no band that can be tiled has more members.
    Sizes {
        /// How many sizes have loops.
        used: usize,
    },
}

/// What became of the loops of a band.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arranged {
    /// Positions of the statements in it.
    pub statements: Vec<usize>,
    /// Sizes of its tiles.
    pub tiles: Vec<i128>,
    /// How many iterations of its loops run side by side, where more than one does.
    pub jams: Vec<i128>,
    /// Whether its innermost loop is free of dependences, so that vectors can run it.
    pub vector: bool,
}

impl Arranged {
    /// Describes what became of a contraction.
    fn of(contraction: &Contraction) -> Self {
        let Contraction { tile, blocking, .. } = contraction;
        let numbers = |all: &[usize]| all.iter().map(|number| *number as i128).collect();
        Self {
            statements: vec![contraction.statement],
            tiles: numbers(&[blocking.rows, blocking.columns, blocking.depth]),
            jams: numbers(&[tile.rows, tile.columns()]),
            vector: true,
        }
    }
}

/// A new order is worth its code if it costs less than this part of the source's.
pub const WORTH: f64 = 0.8;
/// Columns of a block of a factorisation: what is in it runs as the source does, so that smaller ones
/// leave more to tiles, and larger ones load and store the matrix less often. Of 24, 48 and 96
/// columns the first is the fastest for matrices of 500 and 600 rows, by a third to a half.
const FACTOR_BLOCK: usize = 24;
/// Hundredths of a budget for the search for an order, and for rows side by side where none is found;
/// the latter come on top, so that code generation has what the search leaves.
const SHARES: [u64; 2] = [80, 40];
/// Hundredths of a budget for the search for loops on several threads: where it finds none, at least
/// as much is left to search for one.
const SEVERAL: u64 = 50;
/// What a loop costs that runs on several threads.
const THREADS: f64 = 0.5;
/// On no more cores than this, loops that read memory less often on one thread are as fast as those
/// that all run: two threads took 1.3 to 2.4 times as long for factorisations.
const FEW_CORES: usize = 4;

/// Bytes of which nothing is gained by reading them from the second cache less often.
fn in_second_cache(recipe: &Recipe) -> i128 {
    let caches = &recipe.machine;
    caches.cache(2).or(caches.cache(1)).map_or(0, |cache| cache.bytes as i128)
}

/// A tree with other loops.
struct Improved {
    tree: ScheduleTree,
    bands: Vec<Arranged>,
    /// Whether it is what was asked for, or promises to be worth its code.
    gained: bool,
    ratio: Option<f64>,
    idle: Vec<Idle>,
    /// Whether it has parallel blocks of sweeps that keep what one thread gains.
    shared: bool,
    /// Whether nests share passes over a matrix in blocks that wait for each other.
    passes: bool,
}

impl Improved {
    fn with_private(self, private: Vec<String>) -> Optimised {
        let Self { tree, bands, ratio, idle, .. } = self;
        let (original, fallback, contractions) = (false, None, Vec::new());
        Optimised { tree, original, fallback, private, bands, ratio, contractions, idle }
    }
}

impl Scop {
    /// Finds an order of the instances in which loops run fast.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends where no schedule is there to fall back to.
    pub fn optimise(&self, recipe: &Recipe, budget: &Budget) -> Result<Optimised, Error> {
        let found = self.optimised(recipe, recipe.parallel, budget)?;
        if !found.original {
            self.check_complete(&found.tree, budget)?;
        }
        Ok(found)
    }

    /// Checks that a tree runs all instances that do something: one that loses some keeps every
    /// dependence.
    fn check_complete(&self, tree: &ScheduleTree, budget: &Budget) -> Result<(), Error> {
        let mut reached = Union::empty();
        for leaf in tree.nodes().filter(|node| matches!(tree.kind(*node), NodeKind::Leaf)) {
            reached = reached.union(&tree.active(leaf, budget)?)?;
        }
        let all = Union::collect(self.effective().map(|statement| statement.domain.clone()))?;
        match all.is_subset(&reached, budget)? {
            true => Ok(()),
            false => Err(Error::IllFormed { node: tree.root(), fault: Fault::Lost }),
        }
    }

    /// Finds an order. `threads`: whether several run it, also where `recipe` is for one.
    fn optimised(
        &self,
        recipe: &Recipe,
        threads: bool,
        budget: &Budget,
    ) -> Result<Optimised, Error> {
        let constraints = self.constraints(budget)?;
        let original = |fallback| {
            let (private, bands) = (Vec::new(), Vec::new());
            let tree = self.schedule.clone();
            let (contractions, idle) = (Vec::new(), Vec::new());
            let (original, ratio) = (true, None);
            Optimised { tree, original, fallback, private, bands, ratio, contractions, idle }
        };
        if let Ok(Some(found)) = self.contracted(&constraints, recipe, budget) {
            return Ok(found);
        }
        // Whatever ends this search, the other one falls back to the source.
        if let Ok(Some(found)) = self.with_private(&constraints, recipe, budget) {
            return Ok(found);
        }
        if !recipe.keep_source {
            return Ok(match self.improved(&constraints, recipe, budget) {
                Ok(found) => found.with_private(Vec::new()),
                Err(error) => original(Some(error)),
            });
        }
        if recipe.parallel {
            return self.on_several(&constraints, recipe, budget);
        }
        // Where no new order is found, rows of the old one may still run side by side.
        let [share, more] = SHARES.map(|hundredths| budget.share(hundredths));
        let outcome = self.improved(&constraints, recipe, &share);
        budget.spend(usize::try_from(share.used()).unwrap_or(usize::MAX))?;
        let outcome = match outcome {
            Ok(found) if found.gained => {
                let chained = self.with_chains(&found, &constraints, &more);
                let found = chained.ok().flatten().unwrap_or(found);
                return Ok(found.with_private(Vec::new()));
            }
            outcome => outcome,
        };
        if threads && let Ok(Some(found)) = self.chained(&constraints, true, &more) {
            return Ok(found.with_private(Vec::new()));
        }
        let more = budget.share(SHARES[1]);
        if let Ok(Some(found)) = self.chained(&constraints, false, &more) {
            return Ok(found.with_private(Vec::new()));
        }
        // Loops of the scheduler that cost no more may stand apart, so that their rows can.
        if let Ok(found) = &outcome
            && found.ratio.is_some_and(|ratio| ratio <= 1.0)
            && let Ok(Some(found)) = self.with_chains(found, &constraints, &more)
        {
            return Ok(found.with_private(Vec::new()));
        }
        Ok(match outcome {
            Ok(Improved { ratio, .. }) => Optimised { ratio, ..original(None) },
            Err(error) => original(Some(error)),
        })
    }

    /// Chooses between loops for several threads and those that one thread runs faster.
    fn on_several(
        &self,
        constraints: &Constraints,
        recipe: &Recipe,
        budget: &Budget,
    ) -> Result<Optimised, Error> {
        let share = budget.share(SEVERAL);
        let outcome = self.improved(constraints, recipe, &share);
        budget.spend(usize::try_from(share.used()).unwrap_or(usize::MAX))?;
        let found = outcome.ok().filter(|found| found.gained);
        if let Some(found) = found {
            let more = budget.share(SHARES[1]);
            let chained = self.with_chains(&found, constraints, &more);
            let found = chained.ok().flatten().unwrap_or(found);
            if found.shared || !(2..=FEW_CORES).contains(&recipe.machine.cores) {
                return Ok(found.with_private(Vec::new()));
            }
            let alone = self.optimised(&Recipe { parallel: false, ..recipe.clone() }, true, budget);
            // Tiles in time, blocks and rows side by side are not estimated.
            let far = found.passes && !passes::hold_shared_blocks(&recipe.machine);
            return Ok(match alone {
                Ok(mut alone) if !alone.original && far => {
                    passes::on_one_thread(&mut alone.tree);
                    alone
                }
                Ok(alone) if !alone.original && alone.ratio.is_none() => alone,
                _ => found.with_private(Vec::new()),
            });
        }
        self.optimised(&Recipe { parallel: false, ..recipe.clone() }, true, budget)
    }

    /// Gives contractions packed tiles, and other statements loops of their own.
    fn contracted(
        &self,
        constraints: &Constraints,
        recipe: &Recipe,
        budget: &Budget,
    ) -> Result<Option<Optimised>, Error> {
        if !recipe.contract || recipe.tile.is_some() || recipe.diamond {
            return Ok(None);
        }
        let mut all = Vec::new();
        let mut before = None;
        for statement in 0..self.statements.len() {
            let found = Contraction::of(self, statement, &recipe.machine, budget)?;
            let Some(found) = found.filter(|found| !found.is_thin()) else { continue };
            let rates = Rates::of(&recipe.machine);
            let before = match &mut before {
                Some(before) => before,
                none => {
                    let accesses = Accesses::of(self, budget)?;
                    none.insert(self.compiled_costs(&accesses, &rates, budget)?)
                }
            };
            let before = before.get(&statement).copied().unwrap_or(f64::INFINITY);
            let found = Some(found).filter(|found| found.cost(rates.vector) < WORTH * before);
            all.extend(match recipe.parallel {
                true => found.map(Contraction::shared_out),
                false => found,
            });
        }
        if all.is_empty() {
            return self.factorised(constraints, recipe, budget);
        }
        let schedule = Options { fusion: Fusion::None, ..recipe.schedule.clone() };
        let apart = Recipe { schedule, ..recipe.clone() };
        let mut found = self.improved(constraints, &apart, budget)?;
        let mut contractions = Vec::new();
        let mut constraints = constraints.clone();
        for contraction in all {
            let own = |band: &&Arranged| band.statements == [contraction.statement];
            let good = found.bands.iter().find(own).is_some_and(|b| b.vector && !b.jams.is_empty());
            let update = self.statements[contraction.statement].update.as_ref();
            if good && update.is_some_and(|update| contraction.fits(&recipe.machine, update)) {
                continue;
            }
            let Some(node) = self.alone(&found.tree, contraction.statement, budget)? else {
                continue;
            };
            let ahead = contraction.packed_ahead(self, budget)?;
            let coincidence = constraints.coincidence.subtract(&ahead, budget)?;
            let relaxed = Constraints { coincidence, ..constraints.clone() };
            let made = contraction.arranged(self, &found.tree, node, &relaxed, budget);
            let tree = match made {
                Ok(tree) => tree,
                Err(Error::Illegal { .. } | Error::IllFormed { .. }) => continue,
                Err(error) => return Err(error),
            };
            constraints = relaxed;
            found.tree = tree;
            found.bands.retain(|band| band.statements != [contraction.statement]);
            found.bands.push(Arranged::of(&contraction));
            contractions.push(contraction);
        }
        let made = !contractions.is_empty();
        found.ratio = None;
        Ok(made.then(|| Optimised { contractions, ..found.with_private(Vec::new()) }))
    }

    /// Runs factorisations by blocks, what these update beyond them as contractions.
    fn factorised(
        &self,
        constraints: &Constraints,
        recipe: &Recipe,
        budget: &Budget,
    ) -> Result<Option<Optimised>, Error> {
        let mut all = Vec::new();
        for statement in 0..self.statements.len() {
            let found = Trailing::of(self, statement, &recipe.machine, FACTOR_BLOCK, budget)?;
            let found = found.filter(|found| !found.contraction.is_thin());
            all.extend(match recipe.parallel {
                true => found.map(Trailing::shared_out),
                false => found,
            });
        }
        let Some(tree) = self.by_blocks(&all, constraints, budget)? else { return Ok(None) };
        let contractions: Vec<Contraction> = all.into_iter().map(|own| own.contraction).collect();
        let bands = contractions.iter().map(Arranged::of).collect();
        let (original, fallback, private) = (false, None, Vec::new());
        let (ratio, idle) = (None, Vec::new());
        Ok(Some(Optimised { tree, original, fallback, private, bands, ratio, contractions, idle }))
    }

    /// Finds the node of a tree below which a statement runs alone: a filter of a list that is in
    /// no loop, or what stands below the root.
    fn alone(
        &self,
        tree: &ScheduleTree,
        statement: usize,
        budget: &Budget,
    ) -> Result<Option<Node>, Error> {
        let name = &self.statements[statement].name;
        let is_list = |node: Node| matches!(tree.kind(node), NodeKind::Sequence | NodeKind::Set);
        let mut open: Vec<Node> = tree.children(tree.root()).collect();
        while let Some(node) = open.pop() {
            // Parameters that a part is right for stand above the list.
            if is_list(node) || matches!(tree.kind(node), NodeKind::Context(_)) {
                open.extend(tree.children(node));
                continue;
            }
            // Lists in lists, as those of parts that have nothing to do with each other.
            if matches!(tree.kind(node), NodeKind::Filter(_)) && tree.children(node).any(is_list) {
                open.extend(tree.children(node));
                continue;
            }
            let mut active = tree.active(node, budget)?;
            if let NodeKind::Filter(filter) = tree.kind(node) {
                active = active.intersect(filter, budget)?;
            }
            let mut names = Vec::new();
            for set in active.relations() {
                if !set.is_empty(budget)? {
                    names.push(set.space().output.name.as_str());
                }
            }
            if names == [name.as_str()] {
                return Ok(Some(node));
            }
        }
        Ok(None)
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
        let Ok(found) = self.improved(&relaxed, recipe, budget) else { return Ok(None) };
        if (recipe.keep_source && !found.gained)
            || !self.stays_private(&found.tree, &private, budget)?
        {
            return Ok(None);
        }
        Ok(Some(found.with_private(private)))
    }

    fn improved(
        &self,
        constraints: &Constraints,
        recipe: &Recipe,
        budget: &Budget,
    ) -> Result<Improved, Error> {
        let scheduled = constraints.schedule(&recipe.schedule, None, budget)?;
        let (validity, coincidence) =
            (constraints.validity.clone(), constraints.coincidence.clone());
        let editor = Editor::with_coincidence(scheduled.tree, validity, coincidence, budget)?;
        let accesses = Accesses::of(self, budget)?;
        let (rates, costs, bands) = (Rates::of(&recipe.machine), Costs::new(), Vec::new());
        let in_cache = self.bytes().is_some_and(|bytes| bytes <= in_second_cache(recipe));
        let (tiled, diamonds, shared) = (0, false, false);
        let mut work = Work {
            editor,
            accesses,
            recipe,
            rates,
            budget,
            in_cache,
            costs,
            bands,
            tiled,
            diamonds,
            shared,
        };
        let asked = work.bands()?;
        let idle = work.idle();
        // Contractions need nests of their own.
        let passes = !asked
            && !in_cache
            && recipe.schedule.fusion != Fusion::None
            && work.share_passes(self)?;
        let Work { editor, accesses, costs, bands, shared, .. } = work;
        let tree = editor.into_tree();
        let ratio = match asked {
            true => None,
            false => Some(self.ratio(&tree, &accesses, costs, recipe, budget)?),
        };
        let gained = asked || ratio.is_some_and(|ratio| ratio < WORTH);
        Ok(Improved { tree, bands, gained, ratio, idle, shared, passes })
    }

    /// Counts the bytes of all arrays, if their extents are numbers.
    fn bytes(&self) -> Option<i128> {
        let mut bytes = 0_i128;
        for array in self.arrays.iter().filter(|array| !array.extents.is_empty()) {
            let mut own = 8_i128;
            for extent in &array.extents {
                own = own.checked_mul((*extent)?)?;
            }
            bytes = bytes.checked_add(own)?;
        }
        Some(bytes)
    }

    /// Estimates what a tree costs over what the source does, with what is known of its costs.
    fn ratio(
        &self,
        tree: &ScheduleTree,
        accesses: &Accesses,
        known: Costs,
        recipe: &Recipe,
        budget: &Budget,
    ) -> Result<f64, Error> {
        let rates = Rates::of(&recipe.machine);
        let before = self.compiled_costs(accesses, &rates, budget)?;
        let along = accesses.along(&stride::innermost(tree, budget)?, budget)?;
        let mut after = costs(&rates, &along, true, &[], Form::Generated);
        after.extend(known);
        let threads = if recipe.parallel { self.on_threads(tree, budget)? } else { Vec::new() };
        // Statements in the most loops take nearly all of the time.
        let depth = |at: usize| self.statements[at].domain.space().output.dims.len();
        let deepest = (0..self.statements.len()).map(depth).max().unwrap_or(0);
        let (mut old, mut new) = (0.0, 0.0);
        for at in (0..self.statements.len()).filter(|at| depth(*at) == deepest) {
            let share = if threads.contains(&at) { THREADS } else { 1.0 };
            old += before.get(&at).copied().unwrap_or(1.0);
            new += share * after.get(&at).copied().unwrap_or(1.0);
        }
        Ok(new / old)
    }

    /// Lists the statements in a parallel loop that is the outermost one or has another one
    /// inside.
    fn on_threads(&self, tree: &ScheduleTree, budget: &Budget) -> Result<Vec<usize>, Error> {
        let mut found = Vec::new();
        for leaf in tree.nodes().filter(|node| matches!(tree.kind(*node), NodeKind::Leaf)) {
            let mut loops = Vec::new();
            for node in std::iter::successors(tree.parent(leaf), |node| tree.parent(*node)) {
                if let NodeKind::Band(band) = tree.kind(node) {
                    loops.extend(band.members.iter().rev().map(|member| member.coincident));
                }
            }
            let outer = loops.iter().skip(1).any(|parallel| *parallel);
            if outer || loops == [true] {
                let active = tree.active(leaf, budget)?;
                let runs =
                    |name: &String| active.relations().any(|set| set.space().output.name == *name);
                let own = self.statements.iter().enumerate().filter(|(_, s)| runs(&s.name));
                found.extend(own.map(|(at, _)| at));
            }
        }
        Ok(found)
    }
}
