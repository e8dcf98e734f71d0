//! Sessions kept for the next start.
//!
//! Most of a start from the cache of code went into finding again what the last one had found: the
//! rules were applied, the operations grouped, the weights copied as the code wants them. So the
//! first session of a model leaves its program and its weights, as they lie in memory, in the
//! cache; the next one loads the library, maps the weights, and is ready. Sessions share the pages
//! of the file.
//!
//! An entry is found by all that a session depends on: what the model computes, its weights to the
//! last bit, the sources that made it, the options. It is for models that are
//! compiled as a whole. What the code is not for, such as some sizes, is left to a session that is
//! made of the model when it is first needed.

pub(crate) mod fingerprint;
mod folder;

use std::sync::Arc;

use tangram_ir::{Module, Op};
use tangram_onnx::Model;

use crate::cache::Key;
use crate::compiler::flags;
use crate::library::Library;
use crate::prepare::Prepared;
use crate::record::{Record, Restored};
use crate::runner::Runner;
use crate::session::{Options, input_names};
use crate::weights::Places;

use folder::Folder;

pub(crate) use folder::mapped;

/// Where the session of a model is kept.
pub(crate) struct Place(Folder);

/// A session that was kept: its program, in a module that has nothing but its types and names.
pub(crate) struct Found {
    pub module: Module,
    pub function: Op,
    pub runner: Runner,
}

impl Place {
    /// The place of what becomes of `model` by `how`, which names the sources that are at work as
    /// well; `None` where nothing is kept.
    pub(crate) fn of(model: &Model, how: &str, options: &Options) -> Option<Place> {
        options.cache.folder()?;
        // Which compiler made the code makes no difference to whether it runs here: what was kept runs
        // where there is another one, or none. One that is named is meant.
        let Options { machine, exact, compiler, .. } = options;
        let key = Key::of(&[
            how,
            &format!("{machine:?} {exact}"),
            &format!("{:032x}", fingerprint::fingerprint(model)),
            &flags(machine, *exact).join(" "),
            compiler.as_deref().unwrap_or_default(),
        ]);
        Folder::of(&options.cache, &key).map(Place)
    }

    /// The session of `model` that was kept, if it is whole.
    pub(crate) fn find(&self, model: &Model, options: &Options) -> Option<Found> {
        let entry = self.0.find()?;
        let record: Record = serde_json::from_str(&entry.record).ok()?;
        let context: &Arc<_> = model.module.context_arc();
        let Restored { module, function, program, filled } =
            record.restore(context, &entry.weights)?;
        let library = Library::load(&entry.library).ok()?;
        let prepared = Prepared::with_weights(&module, function, program, &library, filled).ok()?;
        let names = model.main().map(|main| input_names(&model.module, main))?;
        let ready = (prepared, Some(library));
        let runner = Runner::ready(&module, function, ready, names.into_iter(), options);
        Some(Found { runner: runner.without_reference(), module, function })
    }

    /// Keeps what `runner`, whose values are of `module`, is made of, if all of it is compiled.
    pub(crate) fn keep(&self, module: &Module, runner: &Runner) {
        let Some(library) = runner.library.as_ref().filter(|_| runner.is_whole()) else { return };
        let prepared = &runner.prepared;
        let places = Places::of(&prepared.filled, |_| true);
        let Some(record) = Record::of_prepared(module, prepared, &places) else { return };
        if let Ok(text) = serde_json::to_string(&record) {
            self.0.keep(&text, library.path(), &|| Box::new(places.parts(&prepared.filled)));
        }
    }
}
