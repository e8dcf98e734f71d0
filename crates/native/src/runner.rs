//! What runs a function: its program made ready, plans of memory by size, arenas to use again.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::Datum;
use tangram_ir::{Block, Module, Op};
use tangram_lowering::{Program, Step};

use crate::bodies::Bodies;
use crate::error::SessionError;
use crate::memory::Block as Memory;
use crate::port::{Dims, Port, bind};
use crate::prepare::Prepared;
use crate::profile::Profile;
use crate::run::Run;
use crate::session::{Options, compiled};
use crate::sizes::Sizes;

/// How many plans are kept for sizes of symbols that may come again.
const MAX_PLANS: usize = 256;

/// A function that runs. Several threads may run it at once.
pub(crate) struct Runner {
    pub prepared: Prepared,
    /// What runs where extents differ that the code relies on to be equal: the reference kernels.
    fallback: Option<Prepared>,
    pub inputs: Vec<Port>,
    threads: usize,
    grain: i64,
    plans: Mutex<FxHashMap<Dims, Arc<Sizes>>>,
    /// Arenas that no run has.
    arenas: Mutex<Vec<Memory>>,
}

impl Runner {
    /// Compiles `program`, which `function` was lowered to, or finds its code in the cache; `names`
    /// are those of its arguments.
    pub(crate) fn new(
        module: &Module,
        function: Op,
        program: Program,
        names: impl Iterator<Item = String>,
        options: &Options,
    ) -> Result<Runner, SessionError> {
        let calls = program.steps.iter().any(|step| matches!(step, Step::Call(_)));
        let library = if calls { Some(compiled(&program.source, options)?) } else { None };
        let fallback = match program.assumed.is_empty() {
            true => None,
            false => Some(Prepared::new(module, function, reference(module, function), None)?),
        };
        let prepared = Prepared::new(module, function, program, library.as_ref())?;
        let port = |(&value, name)| Port::of(module, value, name);
        let inputs = prepared.arguments.iter().zip(names).map(port).collect();
        let threads = match options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            some => some,
        };
        let (plans, arenas) = (Mutex::default(), Mutex::default());
        let grain = options.grain.max(1);
        Ok(Runner { prepared, fallback, inputs, threads, grain, plans, arenas })
    }

    /// Runs the function on `inputs`; the bodies of loops and branches are `bodies`.
    pub(crate) fn execute(
        &self,
        (module, bodies): (&Module, &Bodies),
        inputs: Vec<Datum>,
        mut profile: Option<&mut Profile>,
    ) -> Result<Vec<Datum>, SessionError> {
        let dims = bind(module.context(), &self.inputs, &inputs)?;
        let prepared = self.prepared(&dims);
        let sizes = self.sizes(prepared, &dims)?;
        if let Some(profile) = profile.as_deref_mut() {
            profile.arena = sizes.arena;
        }
        let arena = self.arena(sizes.arena)?;
        let shared = bodies.within(module);
        let mut run = Run::new((module, &shared), prepared, &sizes, inputs, arena)?;
        run.steps(profile)?;
        let (outputs, arena) = run.finish()?;
        self.arenas.lock().unwrap_or_else(PoisonError::into_inner).push(arena);
        Ok(outputs)
    }

    /// What runs for these inputs, and in which sizes.
    pub(crate) fn planned(
        &self,
        module: &Module,
        inputs: &[Datum],
    ) -> Result<(&Prepared, Arc<Sizes>, Dims), SessionError> {
        let dims = bind(module.context(), &self.inputs, inputs)?;
        let prepared = self.prepared(&dims);
        Ok((prepared, self.sizes(prepared, &dims)?, dims))
    }

    /// What runs for these symbols.
    fn prepared(&self, dims: &Dims) -> &Prepared {
        let holds = |[a, b]: &[Expr; 2]| dims.eval(a).is_some() && dims.eval(a) == dims.eval(b);
        match &self.fallback {
            Some(fallback) if !self.prepared.program.assumed.iter().all(holds) => fallback,
            _ => &self.prepared,
        }
    }

    /// The sizes for these symbols, computed once.
    fn sizes(&self, prepared: &Prepared, dims: &Dims) -> Result<Arc<Sizes>, SessionError> {
        let plans = || self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = plans().get(dims) {
            return Ok(known.clone());
        }
        let sizes = Arc::new(Sizes::of(prepared, dims, self.threads, self.grain)?);
        let mut plans = plans();
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert(dims.clone(), sizes.clone());
        Ok(sizes)
    }

    /// An arena of at least `bytes` bytes: one that was used before, if it is large enough.
    fn arena(&self, bytes: usize) -> Result<Memory, SessionError> {
        let kept = self.arenas.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match kept {
            Some(arena) if arena.len() >= bytes => Ok(arena),
            _ => Memory::zeroed(bytes).ok_or(SessionError::Memory(bytes)),
        }
    }
}

/// The program that runs every operation of `function` on the reference kernels.
pub(crate) fn reference(module: &Module, function: Op) -> Program {
    let block: Option<Block> =
        module.regions(function).first().and_then(|&region| module.first_block(region));
    let ops = block.map(|block| module.ops(block)).into_iter().flatten();
    let steps = ops.filter(|&op| module.result_count(op) > 0).map(Step::Reference);
    Program { steps: steps.collect(), ..Program::default() }
}
