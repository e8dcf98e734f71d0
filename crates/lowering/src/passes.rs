//! The passes over nests, by name, and whoever watches them.
//!
//! | pass | what it does |
//! | --- | --- |
//! | `import` | each operation becomes nests, or a `tg.reference` with the reason |
//! | `widen` | operands of products become `f32` before they are multiplied |
//! | `quantise` | products of quantised numbers become products of integers |
//! | `scale` | a quotient of a product's operand becomes one of its result |
//! | `constants` | what is made of constants alone is marked |
//! | `fuse` | nests are joined where that saves passes over memory |
//! | `layout` | coordinates get their order in memory |
//! | `pack` | copies that products need, and the tile of each |
//! | `group` | nests that share rows run together, row by row |
//! | `contract` | tensors that one row needs get memory for one row |
//!
//! After each of them the whole is a function of IR, of nests over tensors, which the verifier accepts
//! and the interpreter runs. What comes behind them is text, but for the functions that `micro` shows: the
//! micro-kernels of products, whose text is printed from IR.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tangram_ir::{Block, Context, Module, Op, verify_op};

use crate::c::kernel::{self, Kernel};
use crate::storage::Draft;
use crate::{LowerError, Options};
use crate::{array_contraction, fusion, group, ir, layout, packing, quantised, scaling, widening};

type Pass = fn(&mut Draft<'_>, &Options);

const PASSES: [(&str, Pass); 9] = [
    ("widen", |draft, _| widening::widen(draft)),
    ("quantise", quantised::to_integers),
    ("scale", scaling::move_behind_products),
    ("constants", |draft, _| draft.find_constants()),
    ("fuse", |draft, _| fusion::fuse(draft)),
    ("layout", |draft, _| layout::choose(draft)),
    ("pack", packing::pack),
    ("group", group::group),
    ("contract", |draft, _| array_contraction::contract_arrays(draft)),
];

/// The name of the first pass.
const IMPORT: &str = "import";

/// What comes behind the passes over nests: the order of loops, and their text.
pub(crate) const SCHEDULE: &str = "schedule";

/// What shows the micro-kernels that nests call.
pub(crate) const MICRO: &str = "micro";

/// The names of the passes over nests, in the order in which they run, and that of what shows
/// micro-kernels, `micro`.
pub fn pass_names() -> impl Iterator<Item = &'static str> {
    [IMPORT].into_iter().chain(PASSES.iter().map(|(name, _)| *name)).chain([MICRO])
}

/// Who watches the passes over nests.
///
/// Where a nest has no order of its loops, the passes run once more without it, from the first on.
pub trait Watch {
    /// Whether the program is wanted after `pass`.
    fn wants(&self, pass: &str) -> bool;

    /// Is told of each pass that has run, how long that took, and of the program if it is wanted;
    /// behind all passes of `schedule`, after which there is no program over nests, and of `micro`, whose
    /// program is the micro-kernels. Where it returns `false`, no other pass runs.
    fn after(&mut self, pass: &'static str, took: Duration, program: Option<&Module>) -> bool;
}

/// Who sees no program, and all passes.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Watch for Nobody {
    fn wants(&self, _: &str) -> bool {
        false
    }

    fn after(&mut self, _: &'static str, _: Duration, _: Option<&Module>) -> bool {
        true
    }
}

/// The nests of a block after all passes; `None` where the watcher has seen enough.
pub(crate) fn nests<'a>(
    module: &'a Module,
    (function, block): (Op, Block),
    refused: &FxHashMap<Op, LowerError>,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Option<Draft<'a>>, LowerError> {
    let start = Instant::now();
    let mut draft = Draft::of(module, block, refused);
    let mut told = Told { function, options, watch };
    if !told.after(IMPORT, start.elapsed(), &draft)? {
        return Ok(None);
    }
    for (name, pass) in PASSES {
        let start = Instant::now();
        pass(&mut draft, options);
        if !told.after(name, start.elapsed(), &draft)? {
            return Ok(None);
        }
    }
    Ok(Some(draft))
}

/// Shows micro-kernels to the watcher, and verifies them; returns whether it has not seen enough.
pub(crate) fn micro(
    context: &Arc<Context>,
    kernels: &[Kernel],
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<bool, LowerError> {
    let (start, wanted) = (Instant::now(), watch.wants(MICRO));
    if !wanted && !options.verify_each {
        return Ok(watch.after(MICRO, start.elapsed(), None));
    }
    let program = kernel::module(context.clone(), kernels)?;
    let functions: Vec<Op> = program.ops(program.body()).collect();
    for function in functions {
        verified(&program, function, MICRO)?;
    }
    Ok(watch.after(MICRO, start.elapsed(), wanted.then_some(&program)))
}

struct Told<'a> {
    function: Op,
    options: &'a Options,
    watch: &'a mut dyn Watch,
}

impl Told<'_> {
    fn after(
        &mut self,
        pass: &'static str,
        took: Duration,
        draft: &Draft<'_>,
    ) -> Result<bool, LowerError> {
        let wanted = self.watch.wants(pass);
        if !wanted && !self.options.verify_each {
            return Ok(self.watch.after(pass, took, None));
        }
        let program = ir::written(draft, self.function)?;
        if self.options.verify_each {
            verified(&program, self.function, pass)?;
        }
        Ok(self.watch.after(pass, took, wanted.then_some(&program)))
    }
}

/// Verifies what a pass left of a function: all of it, or its operations where it is a part of a program
/// without a name, which is no whole function.
fn verified(program: &Module, function: Op, pass: &'static str) -> Result<(), LowerError> {
    let roots: Vec<Op> = match program.attr(function, "sym_name") {
        Some(_) => vec![function],
        None => {
            let regions = program.regions(function).iter();
            let blocks = regions.flat_map(|&region| program.blocks(region));
            blocks.flat_map(|block| program.ops(block)).collect()
        }
    };
    for root in roots {
        verify_op(program, root).map_err(|errors| {
            let message = errors.first().map(|error| error.message.clone());
            LowerError::Invalid { pass, message: message.unwrap_or_default() }
        })?;
    }
    Ok(())
}
