//! Kernels for a device with blocks and threads, and the host's loops around them.
//!
//! On the way down the schedule tree, the first band of parallel loops on each path becomes
//! a kernel; what stands above it, loops that carry dependences and sequences, runs on the
//! host and launches kernels in its order. What has no parallel loop is a kernel of a single
//! thread, as its data is on the device.
//!
//! ```text
//! for t: { for i: S(t, i); for i: T(t, i) }
//!
//! host: for t: { K0(t); K1(t) }      K0(t): for i on all threads: S(t, i)
//! ```
//!
//! Loops that carry dependences come first, if more statements get threads by it.
//!
//! A contraction that is a kernel of its own is computed in tiles ([`BlockTiles`]), with operands in
//! shared memory and sums in registers; statements are not fused where that makes one.
//!
//! # Source
//! Verdoolaege et al., "Polyhedral parallel code generation for CUDA" (2013). Divergence: shared
//! memory and synchronisation within a kernel for contractions alone.

mod extent;
mod host;
mod kernel;
mod kernel_selection;

use tangram_machine::Device;
use tangram_presburger::{Budget, Relation, Union};

use crate::Error;
use crate::ast::{Ast, Launch};
use crate::contraction::BlockTiles;
use crate::schedule::{Constraints, Fusion, Options};
use crate::scop::{Basis, Kind, Scop};
use kernel_selection::Offload;

/// Code for host and device.
#[derive(Debug, Clone)]
pub struct OnDevice {
    /// The loops of the host; calls launch kernels and give them the values of outer loops.
    pub host: Ast,
    /// What runs on the device, in the order of its first launch.
    pub kernels: Vec<Kernel>,
    /// Local arrays of which each thread has its own.
    pub private: Vec<String>,
}

/// What each thread of a launch runs.
#[derive(Debug, Clone)]
pub struct Kernel {
    /// The name in [`OnDevice::host`].
    pub name: String,
    /// The parameters of [`Kernel::ast`] that stand for the arguments of a launch.
    pub outer: Vec<String>,
    /// How many blocks and threads there are.
    pub launch: Launch,
    /// The code of one thread.
    pub ast: Ast,
    /// The statements that it runs.
    pub statements: Vec<String>,
    /// The contraction that it computes in tiles, if it is one: its code calls the statements that
    /// [`BlockTiles`] names, each for all threads of a block at once.
    pub tiles: Option<BlockTiles>,
}

impl OnDevice {
    /// Lists the contractions that are computed in tiles.
    pub fn tiles(&self) -> impl Iterator<Item = &BlockTiles> {
        self.kernels.iter().filter_map(|kernel| kernel.tiles.as_ref())
    }

    /// Returns whether any kernel has several threads.
    pub fn is_parallel(&self) -> bool {
        self.kernels.iter().any(Kernel::is_parallel)
    }
}

impl Kernel {
    /// Returns whether there are several threads.
    pub fn is_parallel(&self) -> bool {
        [self.launch.blocks(), self.launch.threads()].iter().flatten().any(|size| *size > 1)
    }
}

impl Scop {
    /// Finds kernels for the parallel loops of the part.
    ///
    /// `threads`: how many threads of a block share the iterations of each parallel loop,
    /// outermost first; sizes that are missing are chosen. At most two loops are shared out.
    ///
    /// Every schedule and every mapping is checked against the dependences. The source's
    /// order, on one thread, is what is left if no schedule is found.
    ///
    /// # Errors
    /// [`Error::Operand`] for a parameter with the name of a unit (`b0`, `t0`...),
    /// [`Error::Presburger`] if the budget ends.
    pub fn on_device(
        &self,
        options: &Options,
        threads: &[i128],
        budget: &Budget,
    ) -> Result<OnDevice, Error> {
        let constraints = self.constraints(budget)?;
        let private = self.privatisable(budget)?;
        let tiles = self.block_tiles(threads, budget)?;
        let mut found = None;
        if !private.is_empty() {
            let coincidence = self.without_private(&private, budget)?;
            let relaxed = Constraints { coincidence, ..constraints.clone() };
            found = self.best_plan(&relaxed, options, (&private, &tiles), budget)?;
        }
        if found.is_none() {
            found = self.best_plan(&constraints, options, (&[], &tiles), budget)?;
        }
        let plan = match found {
            Some(plan) => plan,
            None => Offload::of_tree(&self.schedule, &constraints, &[], budget)?,
        };
        plan.code(threads, &tiles, budget)
    }

    /// Finds the statements that are contractions for a device.
    fn block_tiles(&self, threads: &[i128], budget: &Budget) -> Result<Vec<BlockTiles>, Error> {
        let all = 0..self.statements.len();
        let found: Result<Vec<_>, _> =
            all.map(|at| BlockTiles::of(self, at, &Device::default(), threads, budget)).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// Returns whether a statement is a contraction that is worth tiles on a device.
    ///
    /// # Errors
    /// [`Error::Presburger`] if the budget ends.
    pub fn has_block_tiles(
        &self,
        statement: usize,
        threads: &[i128],
        budget: &Budget,
    ) -> Result<bool, Error> {
        Ok(BlockTiles::of(self, statement, &Device::default(), threads, budget)?.is_some())
    }

    /// Tries schedules; returns the one with the most statements on many threads.
    fn best_plan(
        &self,
        constraints: &Constraints,
        options: &Options,
        (private, tiles): (&[String], &[BlockTiles]),
        budget: &Budget,
    ) -> Result<Option<Offload>, Error> {
        let mut best: Option<Offload> = None;
        let mut choices = vec![(false, options.fusion), (true, options.fusion)];
        if !tiles.is_empty() {
            choices.push((false, Fusion::None));
        }
        let names: Vec<&str> = tiles.iter().map(|own| own.statement.as_str()).collect();
        for (outer_coincidence, fusion) in choices {
            let options = Options { outer_coincidence, fusion, ..options.clone() };
            let Ok(scheduled) = constraints.schedule(&options, None, budget) else { continue };
            let plan = Offload::of_tree(&scheduled.tree, constraints, private, budget)?;
            if !self.stays_in_kernels(&plan, private, budget)? {
                continue;
            }
            if best.as_ref().is_none_or(|best| plan.cost(&names) < best.cost(&names)) {
                best = Some(plan);
            }
        }
        Ok(best)
    }

    /// Returns whether no value of private arrays passes from one launch to another.
    fn stays_in_kernels(
        &self,
        plan: &Offload,
        private: &[String],
        budget: &Budget,
    ) -> Result<bool, Error> {
        if private.is_empty() {
            return Ok(true);
        }
        let mut flow = self.dependences(Kind::Flow, Basis::Value, budget)?;
        let is_private = |relation: &&Relation| {
            let sides = relation.space().output.nested.as_ref();
            sides.is_some_and(|sides| private.contains(&sides.1.name))
        };
        flow.tagged = Union::collect(flow.tagged.relations().filter(is_private).cloned())?;
        let launches = plan.launches()?;
        let together = launches.apply_range(&launches.inverse()?, budget)?;
        Ok(flow.pairs(budget)?.is_subset(&together, budget)?)
    }
}
