//! Libraries that say what they are.
//!
//! What [`emit`](crate::emit()) writes needs nothing of this crate to run. A library made of it may
//! have two more symbols, by which a session finds its inputs and outputs, its functions, and their
//! calls: so it runs here as a model does, with profiles and threads.
//!
//! ```c
//! const char tangram_session[];        /* JSON: the program, names, the weights that it is for */
//! const struct { const char *name; function *entry; } tangram_functions[];   /* up to a NULL */
//! ```

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tangram_dialects::dims;
use tangram_lowering::{Program, ProgramStep};
use tangram_machine::Isa;
use tangram_onnx::Model;
use twox_hash::XxHash3_128;

use crate::error::{CompileError, SessionError};
use crate::kept::mapped;
use crate::library::Library;
use crate::port::Port;
use crate::prepare::Prepared;
use crate::record::{Record, Restored};
use crate::runner::Runner;
use crate::session::{Options, Session, input_names};

/// What a library says of itself.
#[derive(Serialize, Deserialize)]
struct Description {
    record: Record,
    inputs: Vec<String>,
    outputs: Vec<String>,
    /// What is assumed of symbols: the least and the greatest value.
    ranges: Vec<(String, (i64, i64))>,
    /// What the processor has to have.
    isa: Isa,
    /// The hash of the bytes of the weights.
    weights: String,
}

/// The symbols that say what a library is, in C; nothing where that cannot be written down.
///
/// `starts`: where in the weights the elements of each buffer begin that a constant fills.
pub(crate) fn text(
    model: &Model,
    program: &Program,
    (weights, starts): (&[u8], &[Option<usize>]),
    options: &Options,
) -> String {
    let describe = || {
        let module = &model.module;
        let block = model.graph()?;
        let results: Vec<_> = module.operands(module.last_op(block)?).collect();
        let description = Description {
            record: Record::of(module, program, (module.args(block), &results), starts)?,
            inputs: input_names(module, model.main()?),
            outputs: model.output_names(),
            ranges: dims::ranges(module.context()),
            isa: options.machine.isa,
            weights: hash(weights),
        };
        serde_json::to_string(&description).ok()
    };
    describe().map(|json| symbols(&json, program)).unwrap_or_default()
}

fn symbols(json: &str, program: &Program) -> String {
    let mut text = String::from("\nPUBLIC const char tangram_session[] =");
    let characters: Vec<char> = json.chars().collect();
    for line in characters.chunks(90) {
        text.push_str("\n    \"");
        for &c in line {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                ' '..='~' if c != '?' => text.push(c),
                // Octal, of three digits each, is all that ends where it should.
                _ => {
                    let mut buffer = [0; 4];
                    // Writing to a `String` does not fail.
                    for byte in c.encode_utf8(&mut buffer).bytes() {
                        let _ = write!(text, "\\{byte:03o}");
                    }
                }
            }
        }
        text.push('"');
    }
    text.push_str(";\n\nPUBLIC const struct {\n    const char *name;\n    function *entry;\n} tangram_functions[] = {\n");
    let names: BTreeSet<&str> = program
        .steps
        .iter()
        .filter_map(|step| match step {
            ProgramStep::Call(call) => Some(call.function.as_str()),
            ProgramStep::Reference(_) => None,
        })
        .collect();
    for name in names {
        let _ = writeln!(text, "    {{\"{name}\", {name}}},");
    }
    text.push_str("    {0, 0},\n};\n");
    text
}

fn hash(weights: &[u8]) -> String {
    format!("{:032x}", XxHash3_128::oneshot(weights))
}

impl Session {
    /// Opens a library that `tangram compile` wrote; its weights lie beside it, in a file of the same
    /// name that ends in `.weights`.
    ///
    /// # Safety
    /// Code of the library runs: it has to be one that `tangram compile` wrote, as it was written.
    ///
    /// # Errors
    /// [`CompileError::Load`]: it is no such library, or its processor is another;
    /// [`CompileError::File`]: the weights cannot be read, or are not those of the library.
    pub unsafe fn open(path: &Path, options: &Options) -> Result<Session, SessionError> {
        // A writer that was ended may have decided on other files than lie there yet.
        let _ = tangram_files::settle(path);
        let wrong = |why: &str| CompileError::Load(why.to_owned());
        // SAFETY: that of this function.
        let (library, json) = unsafe { Library::described(path) }?;
        let description: Description = serde_json::from_str(&json)
            .map_err(|_| wrong("another version of `tangram compile` wrote it"))?;
        let Description { record, inputs, outputs, ranges, isa, weights } = description;
        if !isa.runs_on(Isa::native()) {
            let why = format!("it is for processors with {}", isa.name());
            return Err(CompileError::Load(why).into());
        }
        let weights = beside(path, &weights)?;
        let context = tangram_dialects::context();
        for (symbol, (least, most)) in ranges {
            dims::assume_range(&context, &symbol, least, most);
        }
        let restored = record.restore(&context, &weights);
        let Restored { mut module, function, program, filled } =
            restored.ok_or_else(|| wrong("what it says of itself is damaged"))?;
        let prepared = Prepared::with_weights(&module, function, program, &library, filled)?;
        let results = prepared.results.iter().zip(outputs);
        let outputs = results.map(|(&value, name)| Port::of(&module, value, name)).collect();
        for (&argument, name) in prepared.arguments.iter().zip(&inputs) {
            let name = module.context().str(name);
            module.set_value_name(argument, Some(name));
        }
        let ready = (prepared, Some(library));
        let runner = Runner::ready(&module, function, ready, inputs.into_iter(), options);
        Ok(Session::of_runner(module, runner.without_reference(), outputs))
    }
}

/// The weights of a library.
fn beside(library: &Path, expected: &str) -> Result<Bytes, CompileError> {
    let mut path = library.with_extension("weights");
    // Beside a link, or beside what it leads to.
    if let (false, Ok(real)) = (path.exists(), library.canonicalize()) {
        let beside = real.with_extension("weights");
        path = if beside.exists() { beside } else { path };
    }
    let found =
        mapped(&path).map_err(|source| CompileError::File { path: path.clone(), source })?;
    if hash(&found) != expected {
        let source = std::io::Error::other("these are not the weights of the library");
        return Err(CompileError::File { path, source });
    }
    Ok(found)
}
