//! Running a function on tensors by reference evaluation.
//!
//! Operations run in the order in which they stand. A region sees the values around it, so one
//! table of values serves all of them; a value is forgotten after its last use outside loops.

mod containers;
mod nests;

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_ir::{Block, Loc, LocData, Module, Op, Order, Value, walk};
use tangram_tensor::elementwise::cast;
use tangram_tensor::shape::{concatenate, expand_dims, squeeze, strided_slice};
use tangram_tensor::{KernelError, Tensor, budget};

use crate::attrs::Attrs;
use crate::eval::{EvalError, evaluate};
use crate::{constant, dtype};

/// The deepest nesting of regions that is run.
pub const MAX_NESTING: usize = 64;

/// A loop that nothing can end before it has made more steps than this is not begun: even an empty
/// body takes days.
const MOST_STEPS: i64 = 1 << 40;

/// What a value is at run time.
#[derive(Clone, Debug)]
pub enum Datum {
    /// A tensor.
    Tensor(Tensor),
    /// A sequence.
    Sequence(Vec<Datum>),
    /// A map: as many keys as values, two vectors, with the keys ascending and each once.
    Map {
        /// The keys, texts or integers.
        keys: Tensor,
        /// The values.
        values: Tensor,
    },
    /// An optional value.
    Optional(Option<Box<Datum>>),
    /// What stands for an absent operand.
    None,
}

impl PartialEq for Datum {
    /// Tensors are equal when element type, extents and bytes are.
    fn eq(&self, other: &Datum) -> bool {
        match (self, other) {
            (Datum::Tensor(a), Datum::Tensor(b)) => a == b,
            (Datum::Map { keys: a, values: x }, Datum::Map { keys: b, values: y }) => {
                a == b && x == y
            }
            (Datum::Sequence(a), Datum::Sequence(b)) => a == b,
            (Datum::Optional(a), Datum::Optional(b)) => a == b,
            (Datum::None, Datum::None) => true,
            _ => false,
        }
    }
}

/// Why a function could not be run.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InterpretError {
    /// An operation could not be evaluated.
    #[error("`{operation}`{} cannot be evaluated: {source}", of_node(node))]
    Operation {
        /// Its name.
        operation: String,
        /// The node of the source program that it was made for, if it has a name.
        node: Option<String>,
        /// Why not.
        #[source]
        source: EvalError,
    },
    /// The function takes another number of arguments.
    #[error("{expected} arguments are expected, {found} given")]
    Arguments {
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An operation has another kind of operand, or another number of results, than it should.
    #[error("`{operation}` has no {expected}")]
    Malformed {
        /// Its name.
        operation: String,
        /// What is missing.
        expected: &'static str,
    },
    /// A loop of so many steps has no condition that could end it.
    #[error("a loop of {steps} steps does not come to an end")]
    Endless {
        /// How many.
        steps: i64,
    },
    /// Regions are nested too deep.
    #[error("regions are nested deeper than {MAX_NESTING}")]
    Nesting,
    /// A nest could not be run.
    #[error("a nest{} cannot be run: {source}", of_operations(from))]
    Nest {
        /// The operations that it computes, separated by commas.
        from: String,
        /// Why not.
        #[source]
        source: crate::structured::InterpretError,
    },
    /// A kernel of the interpreter itself refused.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// What [`Bodies`] runs failed.
    #[error(transparent)]
    Body(std::sync::Arc<dyn std::error::Error + Send + Sync>),
}

fn of_node(node: &Option<String>) -> String {
    node.as_ref().map_or_else(String::new, |node| format!(" of node `{node}`"))
}

fn of_operations(names: &str) -> String {
    if names.is_empty() { String::new() } else { format!(" of `{names}`") }
}

/// The error that `op` could not be evaluated.
fn refused(module: &Module, op: Op, source: EvalError) -> InterpretError {
    let operation = module.name_text(op).to_owned();
    InterpretError::Operation { operation, node: node_name(module, module.loc(op)), source }
}

/// The name of the node that a location stands for, or of the first of several.
fn node_name(module: &Module, loc: Loc) -> Option<String> {
    let context = module.context();
    match context.loc_data(loc) {
        LocData::Name { name, .. } => {
            Some(context.text(*name).to_owned()).filter(|name| !name.is_empty())
        }
        LocData::Fused { parts, .. } => parts.iter().find_map(|&part| node_name(module, part)),
        _ => None,
    }
}

type Result<T> = std::result::Result<T, InterpretError>;

/// Runs bodies in another way than one operation after the other.
pub trait Bodies {
    /// The results of `block`, which is the body of a loop or branch, on `arguments`; `outer` knows
    /// the values around it. `None` leaves it to the interpreter.
    fn run(
        &self,
        block: Block,
        arguments: &[Datum],
        outer: &dyn Fn(Value) -> Option<Datum>,
    ) -> Option<Result<Vec<Datum>>>;
}

/// Runs the only region of `function` on `inputs`; returns the operands of its terminator.
///
/// # Errors
/// [`InterpretError`]: which operation could not be evaluated, and why.
pub fn interpret(module: &Module, function: Op, inputs: &[Datum]) -> Result<Vec<Datum>> {
    let block = module.regions(function).first().and_then(|&region| module.first_block(region));
    let Some(block) = block else { return Err(malformed(module, function, "body")) };
    let mut interpreter = Interpreter::new(module);
    for (&argument, input) in module.args(block).iter().zip(inputs) {
        interpreter.nests.bind(module, module.value_type(argument), input);
    }
    interpreter.run(block, inputs.to_vec())
}

/// Lists what `op` reads: its operands, and what its regions take from around it; each once.
pub fn values_read(module: &Module, op: Op) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let mut seen = FxHashSet::default();
    for inner in walk(module, op, Order::Pre) {
        for value in module.operands(inner) {
            let outside = inner == op || !is_inside(module, value, op);
            if outside && seen.insert(value) {
                found.push(value);
            }
        }
    }
    found
}

/// Returns whether `value` is made in a region of `op`.
fn is_inside(module: &Module, value: Value, op: Op) -> bool {
    let mut block = module.def_block(value);
    while let Some(parent) = block.and_then(|block| module.block_parent(block)) {
        if parent == op {
            return true;
        }
        block = module.block(parent);
    }
    false
}

fn malformed(module: &Module, op: Op, expected: &'static str) -> InterpretError {
    InterpretError::Malformed { operation: module.name_text(op).to_owned(), expected }
}

/// The values of a run, and what single operations make of them.
///
/// [`interpret`] goes through a function with one; whoever runs only some operations by reference
/// evaluation gives and takes the values between them.
///
/// ```
/// use tangram_dialects::interpret::{Datum, Interpreter};
/// use tangram_ir::{Module, OpState, Loc, Point};
/// use tangram_tensor::Tensor;
///
/// let mut module = Module::new(tangram_dialects::context());
/// let ten = Tensor::vector(vec![1.0f32, -4.0]);
/// let point = Point::End(module.body());
/// let constant = tangram_dialects::constant::build(&mut module, point, &ten, "x", Loc::UNKNOWN);
/// let x = module.result(constant, 0);
/// let mut state = OpState::new(module.context().name("nn.abs"), Loc::UNKNOWN);
/// state.operands.push(x);
/// state.results.push(module.value_type(x));
/// let abs = module.create_at(point, state);
///
/// let mut run = Interpreter::new(&module);
/// run.set(x, Datum::Tensor(ten));
/// run.step(abs)?;
/// let Some(Datum::Tensor(y)) = run.take(module.result(abs, 0)) else { panic!() };
/// assert_eq!(y.to_vec::<f32>(), Ok(vec![1.0, 4.0]));
/// # Ok::<(), tangram_dialects::interpret::InterpretError>(())
/// ```
pub struct Interpreter<'a> {
    module: &'a Module,
    values: FxHashMap<Value, Datum>,
    shared: Option<&'a FxHashMap<Value, Datum>>,
    bodies: Option<&'a dyn Bodies>,
    nesting: usize,
    /// What each block that ran needs no longer, and when: a body runs once for each step.
    last_uses: FxHashMap<Block, Rc<FxHashMap<Op, Vec<Value>>>>,
    nests: nests::Nests,
}

impl<'a> Interpreter<'a> {
    /// Makes one that knows no value.
    pub fn new(module: &'a Module) -> Interpreter<'a> {
        let (values, last_uses) = (FxHashMap::default(), FxHashMap::default());
        let nests = nests::Nests::default();
        Interpreter { module, values, shared: None, bodies: None, nesting: 0, last_uses, nests }
    }

    /// Makes one that knows `shared`, such as constants that several runs have in common.
    pub fn with_shared(module: &'a Module, shared: &'a FxHashMap<Value, Datum>) -> Interpreter<'a> {
        Interpreter { shared: Some(shared), ..Interpreter::new(module) }
    }

    /// Lets `bodies` run the bodies of loops and branches.
    #[must_use]
    pub fn with_bodies(self, bodies: &'a dyn Bodies) -> Interpreter<'a> {
        Interpreter { bodies: Some(bodies), ..self }
    }

    /// Returns what `value` is, if it is known.
    pub fn find(&self, value: Value) -> Option<&Datum> {
        self.values.get(&value).or_else(|| self.shared?.get(&value))
    }

    /// States what `value` is.
    pub fn set(&mut self, value: Value, datum: Datum) {
        self.values.insert(value, datum);
    }

    /// Forgets `value`, and returns what it was, unless it is shared.
    pub fn take(&mut self, value: Value) -> Option<Datum> {
        self.values.remove(&value)
    }

    /// Runs `block` with these arguments; returns what its terminator has as operands.
    fn run(&mut self, block: Block, arguments: Vec<Datum>) -> Result<Vec<Datum>> {
        let module = self.module;
        let args = module.args(block);
        if args.len() != arguments.len() {
            let (expected, found) = (args.len(), arguments.len());
            return Err(InterpretError::Arguments { expected, found });
        }
        if let Some(bodies) = self.bodies {
            let outer = |value| self.find(value).cloned();
            if let Some(outcome) = bodies.run(block, &arguments, &outer) {
                return outcome;
            }
        }
        if self.nesting == MAX_NESTING {
            return Err(InterpretError::Nesting);
        }
        self.nesting += 1;
        self.values.extend(args.iter().copied().zip(arguments));
        let last_uses = self.last_uses.entry(block);
        let last_uses = last_uses.or_insert_with(|| Rc::new(last_uses_in(module, block))).clone();
        let mut outcome = Vec::new();
        for op in module.ops(block) {
            if Some(op) == module.last_op(block) && module.result_count(op) == 0 {
                self.refuse_partial(op)?;
                outcome = module.operands(op).map(|v| self.get(op, v)).collect::<Result<_>>()?;
                break;
            }
            self.step(op)?;
            for value in last_uses.get(&op).into_iter().flatten() {
                self.values.remove(value);
            }
        }
        self.nesting -= 1;
        Ok(outcome)
    }

    /// Refuses operands of which not all elements are written, unless the operation takes such.
    fn refuse_partial(&self, op: Op) -> Result<()> {
        let module = self.module;
        let whole = nests::takes_partial(module.name_text(op))
            || module.operands(op).all(|value| self.nests.is_whole(value));
        whole.then_some(()).ok_or_else(|| malformed(module, op, "operand that is written"))
    }

    fn get(&self, op: Op, value: Value) -> Result<Datum> {
        let missing = || malformed(self.module, op, "value for an operand");
        self.find(value).cloned().ok_or_else(missing)
    }

    /// Evaluates `op`, all whose operands are known; its results are known then.
    ///
    /// # Errors
    /// [`InterpretError`]: why it could not be evaluated.
    pub fn step(&mut self, op: Op) -> Result<()> {
        let module = self.module;
        let operands: Vec<Datum> =
            module.operands(op).map(|v| self.get(op, v)).collect::<Result<_>>()?;
        self.refuse_partial(op)?;
        let outcome = match module.name_text(op) {
            "nn.constant" => {
                let tensor = constant::constant_tensor(module, module.result(op, 0));
                vec![Datum::Tensor(tensor.ok_or_else(|| malformed(module, op, "readable value"))?)]
            }
            "nn.none" => vec![Datum::None],
            "nn.if" => self.run_if(op, &operands)?,
            "nn.loop" => self.run_loop(op, &operands)?,
            "nn.scan" => self.run_scan(op, &operands)?,
            "nn.sequence_map" => self.run_map(op, &operands)?,
            _ => match self.run_nests(op, &operands)? {
                Some(outcome) => outcome,
                None => match containers::evaluate(module, op, &operands)? {
                    Some(outcome) => outcome,
                    None => tensors(module, op, &operands)?,
                },
            },
        };
        if outcome.len() < module.result_count(op) {
            return Err(malformed(module, op, "value for a result"));
        }
        self.values.extend(module.results(op).zip(outcome));
        Ok(())
    }

    fn body(&self, op: Op, i: usize) -> Result<Block> {
        let block = self.module.regions(op).get(i).and_then(|&r| self.module.first_block(r));
        block.ok_or_else(|| malformed(self.module, op, "region"))
    }

    fn run_if(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let condition = flag(operands.first());
        let condition = condition.ok_or_else(|| malformed(self.module, op, "boolean condition"))?;
        let block = self.body(op, usize::from(!condition))?;
        self.run(block, Vec::new())
    }

    fn run_loop(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let block = self.body(op, 0)?;
        let limit = integer(operands.first()).unwrap_or(i64::MAX);
        let mut goes_on = flag(operands.get(1)).unwrap_or(true);
        let mut carried: Vec<Datum> = operands.iter().skip(2).cloned().collect();
        let count = carried.len();
        let collected = self.module.result_count(op).saturating_sub(count);
        let mut slices: Vec<Vec<Tensor>> = vec![Vec::new(); collected];
        let mut step = 0;
        if goes_on && limit > MOST_STEPS && goes_on_always(self.module, block) {
            return Err(InterpretError::Endless { steps: limit });
        }
        while goes_on && step < limit {
            budget::check_time()?;
            let mut arguments =
                vec![Datum::Tensor(Tensor::scalar(step)), Datum::Tensor(Tensor::scalar(goes_on))];
            arguments.append(&mut carried);
            let mut out = self.run(block, arguments)?;
            goes_on = flag(out.first()).ok_or_else(|| malformed(self.module, op, "condition"))?;
            if out.len() != 1 + count + collected {
                return Err(malformed(self.module, op, "value for each result"));
            }
            collect(&mut slices, out.split_off(1 + count));
            carried = out.split_off(1);
            step += 1;
        }
        for (i, parts) in slices.into_iter().enumerate() {
            carried.push(Datum::Tensor(self.stack(op, count + i, &parts, 0)?));
        }
        Ok(carried)
    }

    fn run_scan(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let block = self.body(op, 0)?;
        let attrs = Attrs::new(self.module.context(), self.module.attrs(op));
        let list = |name: &str| attrs.ints(name).unwrap_or_default();
        let at = |list: &[i64], i: usize| list.get(i).copied().unwrap_or(0);
        let scanned = attrs.int("num_scan_inputs").and_then(|n| usize::try_from(n).ok());
        let scanned = scanned.filter(|&n| n > 0 && n <= operands.len());
        let scanned = scanned.ok_or_else(|| malformed(self.module, op, "`num_scan_inputs`"))?;
        let states = operands.len() - scanned;
        let (axes, backwards) = (list("scan_input_axes"), list("scan_input_directions"));
        let inputs: Vec<&Tensor> = operands[states..].iter().filter_map(tensor).collect();
        if inputs.len() != scanned {
            return Err(malformed(self.module, op, "tensor to go through"));
        }
        let steps = extent(inputs[0], at(&axes, 0)).unwrap_or(0);
        let mut carried = operands[..states].to_vec();
        let collected = self.module.result_count(op).saturating_sub(states);
        let mut slices: Vec<Vec<Tensor>> = vec![Vec::new(); collected];
        for step in 0..steps {
            budget::check_time()?;
            let mut arguments = std::mem::take(&mut carried);
            for (i, input) in inputs.iter().enumerate() {
                let place = if at(&backwards, i) == 1 { steps - 1 - step } else { step };
                arguments.push(Datum::Tensor(slice(input, at(&axes, i), place)?));
            }
            let mut out = self.run(block, arguments)?;
            if out.len() != states + collected {
                return Err(malformed(self.module, op, "value for each result"));
            }
            collect(&mut slices, out.split_off(states));
            carried = out;
        }
        let (axes, prepended) = (list("scan_output_axes"), list("scan_output_directions"));
        for (i, mut parts) in slices.into_iter().enumerate() {
            if at(&prepended, i) == 1 {
                parts.reverse();
            }
            carried.push(Datum::Tensor(self.stack(op, states + i, &parts, at(&axes, i))?));
        }
        Ok(carried)
    }

    fn run_map(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        let block = self.body(op, 0)?;
        let Some(Datum::Sequence(first)) = operands.first() else {
            return Err(malformed(self.module, op, "sequence to go through"));
        };
        let mut mapped: Vec<Vec<Datum>> = vec![Vec::new(); self.module.result_count(op)];
        for place in 0..first.len() {
            budget::check_time()?;
            let element = |operand: &Datum| match operand {
                Datum::Sequence(items) => items.get(place).cloned(),
                other => Some(other.clone()),
            };
            let arguments: Option<Vec<Datum>> = operands.iter().map(element).collect();
            let short = || malformed(self.module, op, "sequences of one length");
            let out = self.run(block, arguments.ok_or_else(short)?)?;
            if out.len() != mapped.len() {
                return Err(malformed(self.module, op, "value for each result"));
            }
            mapped.iter_mut().zip(out).for_each(|(items, item)| items.push(item));
        }
        Ok(mapped.into_iter().map(Datum::Sequence).collect())
    }

    /// The slices stacked along a new dimension; no slices give a tensor of the stated type with
    /// the extent 0 for whatever is open.
    fn stack(&self, op: Op, result: usize, parts: &[Tensor], axis: i64) -> Result<Tensor> {
        let whole = parts.iter().map(|part| expand_dims(part, &[axis]));
        let whole: Vec<Tensor> = whole.collect::<std::result::Result<_, _>>()?;
        if !whole.is_empty() {
            return Ok(concatenate(&whole.iter().collect::<Vec<_>>(), axis)?);
        }
        let context = self.module.context();
        let ty = self.module.value_type(self.module.result(op, result));
        let stated = context.as_tensor(ty).and_then(|(dims, element)| {
            let size = |d: &tangram_ir::Dim| d.as_static().map_or(0, |n| n as usize);
            let mut shape: Vec<usize> = dims.iter().map(size).collect();
            if let Some(first) = shape.get_mut(usize::try_from(axis).unwrap_or(0)) {
                *first = 0;
            }
            Some((shape, dtype::dtype_of(context, element)?))
        });
        let (shape, dtype) = stated.ok_or_else(|| malformed(self.module, op, "ranked result"))?;
        let none: Vec<f32> = Vec::new();
        Ok(cast(&Tensor::from_vec(&shape, none)?, dtype)?)
    }
}

/// Whether the body of a loop hands its condition on as it is, or yields one that is true.
fn goes_on_always(module: &Module, block: Block) -> bool {
    let Some(mut value) = module.last_op(block).and_then(|op| module.operands(op).next()) else {
        return false;
    };
    let condition = module.args(block).get(1).copied();
    while let Some(op) = module.def_op(value).filter(|&op| module.name_text(op) == "nn.identity") {
        match module.operands(op).next() {
            Some(source) => value = source,
            None => return false,
        }
    }
    let is_true = |tensor: Tensor| flag(Some(&Datum::Tensor(tensor))) == Some(true);
    Some(value) == condition || constant::constant_tensor(module, value).is_some_and(is_true)
}

/// For each operation of `block`, the values made in it that nothing needs afterwards.
fn last_uses_in(module: &Module, block: Block) -> FxHashMap<Op, Vec<Value>> {
    let mut last: FxHashMap<Value, Op> = FxHashMap::default();
    for op in module.ops(block) {
        for value in module.results(op) {
            let users = module.uses(value).filter_map(|u| module.ancestor_in(block, u.op));
            let latest = users.reduce(|a, b| if module.is_before(a, b) { b } else { a });
            last.insert(value, latest.unwrap_or(op));
        }
    }
    let mut by_op: FxHashMap<Op, Vec<Value>> = FxHashMap::default();
    for (value, op) in last {
        by_op.entry(op).or_default().push(value);
    }
    by_op
}

fn tensor(datum: &Datum) -> Option<&Tensor> {
    match datum {
        Datum::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

fn flag(datum: Option<&Datum>) -> Option<bool> {
    tensor(datum?)?.view::<bool>().ok()?.first().copied()
}

fn integer(datum: Option<&Datum>) -> Option<i64> {
    tensor(datum?)?.i64s().ok()?.first().copied()
}

fn extent(tensor: &Tensor, axis: i64) -> Option<i64> {
    let axis = if axis < 0 { axis + tensor.rank() as i64 } else { axis };
    tensor.shape().get(usize::try_from(axis).ok()?).map(|&n| n as i64)
}

/// The slice at `place` along `axis`, without that dimension.
fn slice(tensor: &Tensor, axis: i64, place: i64) -> Result<Tensor> {
    let part = strided_slice(tensor, &[place], &[place + 1], Some(&[axis]), None)?;
    Ok(squeeze(&part, Some(&[axis]))?)
}

fn collect(slices: &mut [Vec<Tensor>], values: Vec<Datum>) {
    for (slices, value) in slices.iter_mut().zip(values) {
        if let Datum::Tensor(tensor) = value {
            slices.push(tensor);
        }
    }
}

/// Evaluates an operation on tensors.
fn tensors(module: &Module, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
    let all = operands.iter().map(|datum| match datum {
        Datum::Tensor(tensor) => Some(Some(tensor.clone())),
        Datum::None => Some(None),
        _ => None,
    });
    let all: Option<Vec<Option<Tensor>>> = all.collect();
    let all = all.ok_or_else(|| malformed(module, op, "tensor for each operand"))?;
    let results = evaluate(module, op, &all).map_err(|source| refused(module, op, source))?;
    Ok(results.into_iter().map(Datum::Tensor).collect())
}
