//! Models as C: functions, a header, a file of weights, for a build without this library.
//!
//! ```c
//! size_t model_arena_bytes(const int64_t *dims);
//! int model_run(const void *weights, void *arena, const void *const *inputs,
//!               void *const *outputs, const int64_t *dims);
//! ```
//!
//! `dims` has the sizes of the symbols in the order that the header lists. Nothing is allocated and
//! nothing kept: any number of threads may run a model, each with an arena of its own. Sizes are
//! not known yet, so buffers that live apart share a slot as wide as the widest of them.

mod header;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use tangram_affine::symbolic::{C_FUNCTIONS, Expr};
use tangram_dialects::nn::decompose::decompose;
use tangram_dialects::structured::wants_extents;
use tangram_dialects::{constant, dims};
use tangram_ir::{Module, Op, Value};
use tangram_lowering::{Buffer, Call, Nobody, Program, ProgramStep, Storage, Watch, lower_watched};
use tangram_machine::Machine;
use tangram_onnx::Model;
use tangram_tensor::DType;
use twox_hash::XxHash3_128;

use crate::described;
use crate::error::SessionError;
use crate::memory::{ALIGNMENT, append};
use crate::port::Kind;
use crate::promise::{Promise, promise};
use crate::session::{Options, compiled};
use crate::setup;
use crate::weights::Places;
use text::{CALLS, DIAGNOSTICS, ROUNDING, built_by, identifier};

/// A model as files.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The code.
    pub source: String,
    /// What a program that calls it includes.
    pub header: String,
    /// What a library has besides `source`, to be opened by [`Session::open`](crate::Session::open);
    /// nothing for a model that has a constant as its result.
    pub described: String,
    /// The bytes that `weights` points to, at a multiple of 64.
    pub weights: Vec<u8>,
    /// How large the arena can become; or the symbols that may be of any size.
    pub arena: Result<Promise, Vec<String>>,
}

/// Writes `model`, all whose operations are lowered, as C; `name` begins its functions.
///
/// # Errors
/// [`SessionError::NotCompiled`]: the operations that are not.
pub fn emit(model: &Model, name: &str, options: &Options) -> Result<Emitted, SessionError> {
    let emitted = emit_watched(model, name, options, &mut Nobody)?;
    emitted.ok_or(SessionError::NoGraph)
}

/// As [`emit`], while `watch` sees the program after each pass over its nests.
///
/// Returns `None` where it has seen enough.
///
/// # Errors
/// As [`emit`].
pub fn emit_watched(
    model: &Model,
    name: &str,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Option<Emitted>, SessionError> {
    let main = model.main().ok_or(SessionError::NoGraph)?;
    let mut lowering = tangram_lowering::Options::default();
    lowering.machine = options.machine.clone();
    (lowering.exact, lowering.verify_each) = (options.exact, options.verify_each);
    let mut model = model.clone();
    decompose(&mut model.module, main);
    match lower_watched(&model.module, main, &lowering, watch)? {
        Some(program) => emit_program(&model, &program, name, options).map(Some),
        None => Ok(None),
    }
}

/// Writes `program`, which the main function of `model` was lowered to.
///
/// # Errors
/// As [`emit`].
pub fn emit_program(
    model: &Model,
    program: &Program,
    name: &str,
    options: &Options,
) -> Result<Emitted, SessionError> {
    let name = identifier(name);
    let mut writer = Writer::new(model, program, options)?;
    let slots = writer.slots();
    let (arena, starts) = writer.arena(&slots);
    let mut body = String::new();
    for call in &writer.calls {
        body.push_str(&writer.call(call, &slots));
    }
    let copies = writer.results(&slots)?;
    let stamp = writer.stamp();
    let bounds = writer.bounds(&slots);
    let mut checks: String = writer.ranges();
    for [a, b] in &program.assumed {
        let _ = writeln!(checks, "    if ({} != {}) return 1;", writer.expr(a), writer.expr(b));
    }
    for all in &program.excluded {
        let all: Vec<String> = all.iter().map(|e| format!("{} >= 0", writer.expr(e))).collect();
        let _ = writeln!(checks, "    if ({}) return 1;", all.join(" && "));
    }
    let calls = CALLS.replace("NAME", &name);
    let rounding = if options.exact { ROUNDING } else { "" };
    let source = format!(
        "{}{DIAGNOSTICS}{rounding}#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n{C_FUNCTIONS}{calls}\n\
         #if defined(__GNUC__)\n#define PUBLIC __attribute__((visibility(\"default\")))\n#else\n\
         #define PUBLIC\n#endif\n\n{}\n\
         static inline size_t whole(int64_t bytes) {{ return ((size_t)bytes + {}) & ~(size_t){}; }}\n\n\
         {bounds}\
         PUBLIC size_t {name}_arena_bytes(const int64_t *dims, const struct {name}_threads *threads) {{\n    \
         size_t at = 0;\n    const int64_t most = threads_of(threads);\n    \
         if (!sizes_fit(dims, most)) return SIZE_MAX;\n\
         {arena}    return at;\n}}\n\n\
         PUBLIC int {name}_run(const void *weights, void *arena, const void *const *inputs,\n        \
         void *const *outputs, const int64_t *dims, const struct {name}_threads *threads) {{\n    \
         const char *w = weights;\n    char *a = arena;\n    size_t at = 0;\n    \
         const int64_t most = threads_of(threads);\n    int faults = 0;\n    \
         (void)w, (void)a, (void)at, (void)inputs, (void)outputs, (void)faults;\n    \
         if (!sizes_fit(dims, most)) return 1;\n\
         {checks}{stamp}{starts}{body}{copies}    return 0;\n}}\n",
        built_by(options),
        program.source,
        ALIGNMENT - 1,
        ALIGNMENT - 1,
    );
    let arena = writer.promise(&slots);
    let header = writer.header(&name, arena.as_ref().ok());
    let described = described::text(model, program, (&writer.weights, &writer.offsets), options);
    Ok(Emitted { source, header, described, weights: writer.weights, arena })
}

/// A part of the arena, for buffers that live one after the other.
struct Slot {
    buffers: Vec<usize>,
    last: usize,
}

/// Names the operators of `missing`, as the model does, each with the first node and its reason.
fn not_compiled(model: &Model, program: &Program, missing: &[Op]) -> SessionError {
    let mut operators: BTreeMap<&str, Op> = BTreeMap::new();
    for &op in missing {
        let operator = model.operator(op).unwrap_or(model.module.name_text(op));
        operators.entry(operator).or_insert(op);
    }
    let named = |(operator, op): (&str, Op)| {
        let node = model.node_name(op).filter(|name| !name.is_empty());
        let node = node.map(|name| format!(" (node `{name}`)")).unwrap_or_default();
        let reason = program.reasons.get(&op).map(|reason| format!(": {reason}"));
        format!("{operator}{node}{}", reason.unwrap_or_default())
    };
    SessionError::NotCompiled {
        operations: operators.into_iter().map(named).collect(),
        want_extents: missing.iter().any(|&op| wants_extents(&model.module, op)),
    }
}

struct Writer<'a> {
    model: &'a Model,
    program: &'a Program,
    calls: Vec<&'a Call>,
    symbols: Vec<String>,
    weights: Vec<u8>,
    /// Where in the weights each buffer of a constant begins.
    offsets: Vec<Option<usize>>,
    results: Vec<Value>,
}

impl<'a> Writer<'a> {
    fn new(
        model: &'a Model,
        program: &'a Program,
        options: &Options,
    ) -> Result<Writer<'a>, SessionError> {
        let module = &model.module;
        let (mut calls, mut missing) = (Vec::new(), Vec::new());
        for step in &program.steps {
            match step {
                ProgramStep::Call(call) => calls.push(call),
                ProgramStep::Reference(op) => {
                    if !matches!(module.name_text(*op), "nn.constant" | "nn.none") {
                        missing.push(*op);
                    }
                }
            }
        }
        if !missing.is_empty() {
            return Err(not_compiled(model, program, &missing));
        }
        let block = model.graph().ok_or(SessionError::NoGraph)?;
        let results = module.last_op(block).map(|op| module.operands(op).collect());
        let sizes = program.buffers.iter().map(|buffer| &buffer.size);
        let numbers = calls.iter().flat_map(|call| &call.arguments);
        let assumed = program.assumed.iter().flatten().chain(program.excluded.iter().flatten());
        let symbols: BTreeSet<&str> =
            sizes.chain(numbers).chain(assumed).flat_map(Expr::symbols).collect();
        let mut symbols: BTreeSet<String> = symbols.into_iter().map(str::to_owned).collect();
        let results: Vec<Value> = results.unwrap_or_default();
        for &value in results.iter().filter(|value| !program.values.contains_key(value)) {
            let shape = shape(module, value).map(|(_, shape)| shape).unwrap_or_default();
            symbols.extend(shape.iter().flat_map(Expr::symbols).map(str::to_owned));
        }
        let symbols = symbols.into_iter().collect();
        let (weights, offsets) = weights(module, program, &results, options)?;
        Ok(Writer { model, program, calls, symbols, weights, offsets, results })
    }

    fn expr(&self, expr: &Expr) -> String {
        expr.to_c(&|symbol| {
            let at = self.symbols.iter().position(|name| name == symbol);
            format!("dims[{}]", at.unwrap_or_default())
        })
    }

    fn bytes(&self, buffer: usize) -> String {
        let buffer = &self.program.buffers[buffer];
        self.bytes_of(buffer.element, std::slice::from_ref(&buffer.size))
    }

    /// The bytes of a buffer with those of all parts.
    fn all_bytes(&self, buffer: usize) -> String {
        match self.program.buffers[buffer].per_part {
            true => format!("(int64_t)whole({}) * most", self.bytes(buffer)),
            false => self.bytes(buffer),
        }
    }

    /// The bytes of elements in these extents.
    fn bytes_of(&self, element: DType, extents: &[Expr]) -> String {
        let factors: Vec<String> = extents.iter().map(|extent| self.expr(extent)).collect();
        let count = if factors.is_empty() { "1".to_owned() } else { factors.join(" * ") };
        match element.size_bits() {
            bits if bits < 8 => format!("({count} * {bits} + 7) / 8"),
            bits => format!("{count} * {}", bits / 8),
        }
    }

    /// Gives each buffer in the arena a slot.
    fn slots(&self) -> Vec<Slot> {
        let mut lives: Vec<Option<(usize, usize)>> = vec![None; self.program.buffers.len()];
        for (at, call) in self.calls.iter().enumerate() {
            for &buffer in &call.buffers {
                lives[buffer].get_or_insert((at, at)).1 = at;
            }
        }
        for value in &self.results {
            if let Some(stored) = self.program.values.get(value) {
                let end = self.calls.len();
                lives[stored.buffer].get_or_insert((end, end)).1 = end;
            }
        }
        let in_arena = |&buffer: &usize| self.program.buffers[buffer].storage == Storage::Arena;
        let living = (0..lives.len()).filter(in_arena);
        let mut order: Vec<(usize, usize, usize)> = living
            .filter_map(|buffer| lives[buffer].map(|(first, last)| (first, last, buffer)))
            .collect();
        order.sort_unstable();
        let mut slots: Vec<Slot> = Vec::new();
        for (first, last, buffer) in order {
            let size = &self.program.buffers[buffer].size;
            let same = |slot: &Slot| self.program.buffers[slot.buffers[0]].size == *size;
            let free = |slot: &&mut Slot| slot.last < first;
            // One of the same size if there is one, so that no slot grows for nothing.
            let found = match slots.iter_mut().filter(free).any(|slot| same(slot)) {
                true => slots.iter_mut().filter(free).find(|slot| same(slot)),
                false => slots.iter_mut().find(|slot| free(slot)),
            };
            match found {
                Some(slot) => {
                    slot.buffers.push(buffer);
                    slot.last = last;
                }
                None => slots.push(Slot { buffers: vec![buffer], last }),
            }
        }
        slots
    }

    /// The sum of the slots, and the pointer to each.
    fn arena(&self, slots: &[Slot]) -> (String, String) {
        let (mut sum, mut starts) = (String::new(), String::new());
        for (i, slot) in slots.iter().enumerate() {
            let sizes: BTreeSet<String> = slot.buffers.iter().map(|&b| self.all_bytes(b)).collect();
            let mut sizes = sizes.into_iter();
            let first = sizes.next().unwrap_or_default();
            let widest = sizes.fold(first, |a, b| format!("max_of({a}, {b})"));
            // Writing to a `String` does not fail.
            let _ = writeln!(sum, "    at += whole({widest});");
            let _ = writeln!(starts, "    void *s{i} = a + at;\n    at += whole({widest});");
        }
        (sum, starts)
    }

    /// A function that says whether the sizes of all buffers, and of the arena, are numbers.
    fn bounds(&self, slots: &[Slot]) -> String {
        let symbol = |symbol: &str| {
            let at = self.symbols.iter().position(|name| name == symbol).unwrap_or_default();
            format!("magnitude(dims[{at}])")
        };
        let bytes = |buffer: usize| {
            let Buffer { element, size, per_part, .. } = &self.program.buffers[buffer];
            let each = element.size_bits().div_ceil(8);
            let parts = if *per_part { "(double)most" } else { "1.0" };
            format!("({} * {each}.0 + {ALIGNMENT}.0) * {parts}", size.to_c_bound(&symbol))
        };
        let in_arena = slots.iter().flat_map(|slot| slot.buffers.iter().copied());
        let others = (0..self.program.buffers.len()).filter(|&buffer| {
            matches!(self.program.buffers[buffer].storage, Storage::Input(_) | Storage::Output(_))
        });
        // Many buffers have one size.
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for buffer in in_arena.chain(others) {
            *counts.entry(bytes(buffer)).or_default() += 1;
        }
        let sums: String =
            counts.iter().map(|(one, n)| format!("    all += {n}.0 * ({one});\n")).collect();
        format!(
            "static inline double magnitude(int64_t n) {{ return n < 0 ? -(double)n : (double)n; }}\n\
             /* Whether no size, nor their sum, is beyond 64 bits. */\n\
             static int sizes_fit(const int64_t *dims, int64_t most) {{\n    double all = 0.0;\n    \
             (void)dims, (void)most;\n{sums}    return all < 4e18;\n}}\n\n"
        )
    }

    /// A pointer to a buffer.
    fn pointer(&self, buffer: usize, slots: &[Slot]) -> String {
        match self.program.buffers[buffer].storage {
            Storage::Input(i) => format!("(void *)inputs[{i}]"),
            Storage::Output(i) => format!("outputs[{i}]"),
            Storage::Constant(_) | Storage::Prepared => {
                let at = self.offsets[buffer];
                at.map_or_else(|| "NULL".to_owned(), |at| format!("(void *)(w + {at})"))
            }
            Storage::Arena => {
                let slot = slots.iter().position(|slot| slot.buffers.contains(&buffer));
                slot.map_or_else(|| "NULL".to_owned(), |slot| format!("s{slot}"))
            }
        }
    }

    fn call(&self, call: &Call, slots: &[Slot]) -> String {
        let numbers: Vec<String> = call.arguments.iter().map(|n| self.expr(n)).collect();
        let pointers: Vec<String> =
            call.buffers.iter().map(|&buffer| self.pointer(buffer, slots)).collect();
        // C has no empty lists.
        let list = |list: &[String]| {
            if list.is_empty() { "0".to_owned() } else { list.join(", ") }
        };
        let work = call.work.iter();
        let work = work.map(|(count, each)| format!("({}) * {each} / 1024", self.expr(count)));
        format!(
            "    {{\n        const int64_t n[] = {{{}}};\n        void *const b[] = {{{}}};\n        \
             if ((faults = run(threads, {}, n, b, {}))) return faults & 1 ? 2 : 3;\n    }}\n",
            list(&numbers),
            list(&pointers),
            call.function,
            work.chain(["0".to_owned()]).collect::<Vec<_>>().join(" + "),
        )
    }

    /// Copies results that are not where the caller wants them.
    fn results(&mut self, slots: &[Slot]) -> Result<String, SessionError> {
        let mut text = String::new();
        for (i, &value) in self.results.clone().iter().enumerate() {
            let (from, bytes) = match self.program.values.get(&value) {
                Some(stored) => {
                    if self.program.buffers[stored.buffer].storage == Storage::Output(i) {
                        continue;
                    }
                    (self.pointer(stored.buffer, slots), self.bytes(stored.buffer))
                }
                None => self
                    .given(value)
                    .ok_or_else(|| SessionError::Broken(format!("output {i} is stored nowhere")))?,
            };
            let _ = writeln!(text, "    memcpy(outputs[{i}], {from}, (size_t)({bytes}));");
        }
        Ok(text)
    }

    /// Ends the weights with a hash of them, and returns the code that compares it: a file of another
    /// build may have as many bytes.
    fn stamp(&mut self) -> String {
        if self.weights.is_empty() {
            return String::new();
        }
        let start = self.weights.len();
        let hash = XxHash3_128::oneshot(&self.weights).to_le_bytes();
        self.weights.extend(hash);
        self.weights.resize(self.weights.len().next_multiple_of(ALIGNMENT), 0);
        let bytes: Vec<String> = hash.iter().map(u8::to_string).collect();
        format!(
            "    static const unsigned char stamp[{}] = {{{}}};\n    \
             if (!w || memcmp(w + {start}, stamp, sizeof stamp) != 0) return 4;\n",
            hash.len(),
            bytes.join(", "),
        )
    }

    /// Where an input or a constant is that an output is, and how many bytes it has.
    fn given(&mut self, value: Value) -> Option<(String, String)> {
        let module = &self.model.module;
        if let Some(tensor) = constant::constant_tensor(module, value) {
            let start = self.weights.len();
            append(&mut self.weights, &tensor);
            return Some((format!("w + {start}"), tensor.byte_len().to_string()));
        }
        let args = module.args(self.model.graph()?);
        let at = args.iter().position(|&arg| arg == value)?;
        let (element, shape) = shape(module, value)?;
        Some((format!("inputs[{at}]"), self.bytes_of(element, &shape)))
    }

    /// Refuses sizes that the code was not made for.
    fn ranges(&self) -> String {
        let context = self.model.module.context();
        let check = |(i, symbol): (usize, &String)| match dims::range(context, symbol) {
            Some((least, i64::MAX)) => format!("    if (dims[{i}] < {least}) return 1;\n"),
            Some((least, most)) => {
                format!("    if (dims[{i}] < {least} || dims[{i}] > {most}) return 1;\n")
            }
            None => format!("    if (dims[{i}] < 0) return 1;\n"),
        };
        self.symbols.iter().enumerate().map(check).collect()
    }

    /// How large the arena can become.
    fn promise(&self, slots: &[Slot]) -> Result<Promise, Vec<String>> {
        let buffers =
            |slot: &Slot| slot.buffers.iter().map(|&b| &self.program.buffers[b]).collect();
        promise(self.model.module.context(), &self.symbols, slots.iter().map(buffers))
    }
}

/// Element type and extents of a value, where all are known.
fn shape(module: &Module, value: Value) -> Option<(DType, Vec<Expr>)> {
    match Kind::of(module.context(), module.value_type(value)) {
        Kind::Tensor { element, shape } => {
            Some((element?, shape?.into_iter().collect::<Option<_>>()?))
        }
        _ => None,
    }
}

/// The bytes of the constants that steps read or that are results, and where each buffer of one begins.
///
/// What is made of constants is made now, by the code itself.
fn weights(
    module: &Module,
    program: &Program,
    results: &[Value],
    options: &Options,
) -> Result<(Vec<u8>, Vec<Option<usize>>), SessionError> {
    let mut filled = setup::constants(module, program)?;
    if !program.setup.is_empty() {
        // It runs here, wherever the model will.
        let here = Options { machine: Machine::native(), ..options.clone() };
        let library = compiled(&program.setup_source(), &here)?;
        setup::run(program, Some(&library), &mut filled)?;
    }
    let calls = program.steps.iter().filter_map(|step| match step {
        ProgramStep::Call(call) => Some(&call.buffers),
        ProgramStep::Reference(_) => None,
    });
    let stored = program.values.values().map(|stored| stored.buffer);
    let mut read: BTreeSet<usize> = calls.flatten().copied().collect();
    read.extend(
        stored.filter(|&buffer| program.setup.iter().all(|c| !c.buffers.contains(&buffer))),
    );
    // What is packed for steps may be a result as it came.
    read.extend(results.iter().filter_map(|value| program.values.get(value)).map(|s| s.buffer));
    let places = Places::of(&filled, |buffer| read.contains(&buffer));
    let mut bytes = Vec::with_capacity(places.len);
    places.parts(&filled).for_each(|part| bytes.extend_from_slice(part));
    Ok((bytes, places.starts))
}
