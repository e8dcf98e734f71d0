//! Functions cut where a run finds extents that inference leaves open.
//!
//! How many boxes are left, or how far a signal is padded, only a run knows; behind such a value no
//! operation has a loop whose bounds are known. So a function is cut there: the *head* gives the
//! values, and what follows becomes a function of its own, the *tail*, to whose arguments the
//! extents are symbols like those of a model's inputs. A tail may be cut again.
//!
//! ```text
//! f(x) = relu(nonzero(x)) + 1    head(x) = nonzero(x): [2, ?]
//!                                tail(a: [2, n]) = relu(a) + 1
//! ```

use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use tangram_dialects::interpret::values_read;
use tangram_ir::{Loc, Module, Op, OpState, Point, Type, TypeData, Value};
use tangram_lowering::{lower, settled};

use crate::error::SessionError;
use crate::outline;
use crate::runner::{From, Runner, Tail};
use crate::session::{Options, lowering};

/// Tails of fewer operations are not worth a function.
const LEAST: usize = 4;
/// Tails deeper within each other than this are not cut any more.
const MOST: usize = 12;

/// Compiles `function`, in segments if that makes more of it loops; `names` are those of its
/// arguments.
pub(crate) fn runner(
    module: &mut Module,
    function: Op,
    names: impl Iterator<Item = String>,
    options: &Options,
) -> Result<Runner, SessionError> {
    // The cuts, first one first; what is behind the last one is a tail without an end.
    let mut cuts = Vec::new();
    let mut last = function;
    while cuts.len() < MOST {
        let Some(cut) = cut(module, last) else { break };
        last = cut.tail;
        cuts.push(cut);
    }
    let mut tail: Option<Runner> = None;
    for cut in cuts.into_iter().rev() {
        let runner = match tail.take() {
            Some(tail) => tail,
            None => whole(module, cut.tail, arguments(), options)?,
        };
        // Without a loop behind it a cut is for nothing.
        if !runner.has_calls() {
            tail = Some(whole(module, cut.function, arguments(), options)?);
            continue;
        }
        let mut head = whole(module, cut.head, arguments(), options)?;
        head.set_tail(Tail::new(cut.tail, runner, cut.gives));
        tail = Some(head);
    }
    let mut runner = match tail {
        Some(runner) => runner,
        None => whole(module, function, arguments(), options)?,
    };
    for (port, name) in runner.inputs.iter_mut().zip(names) {
        port.name = name;
    }
    Ok(runner)
}

fn arguments() -> impl Iterator<Item = String> {
    (0..).map(|i| format!("argument {i}"))
}

fn whole(
    module: &Module,
    function: Op,
    names: impl Iterator<Item = String>,
    options: &Options,
) -> Result<Runner, SessionError> {
    let program = lower(module, function, &lowering(options))?;
    Runner::new(module, function, program, names, options)
}

/// A function in two parts.
struct Cut {
    function: Op,
    head: Op,
    tail: Op,
    /// Where each result of the function comes from.
    gives: Vec<From>,
}

/// Cuts `function` behind the first values of which an extent is unknown, if enough follows them.
///
/// The time is that of inference.
fn cut(module: &mut Module, function: Op) -> Option<Cut> {
    let block = outline::block(module, function)?;
    let end = module.last_op(block)?;
    // Inference is for those of which something is unknown as it is.
    let unclear = |value| is_open(module, value) || is_unranked(module, value);
    if !module.ops(block).any(|op| module.results(op).any(unclear)) {
        return None;
    }
    let known = settled(module, function);
    let (mut open, mut early, mut late) = (FxHashSet::default(), Vec::new(), Vec::new());
    for op in module.ops(block).filter(|&op| op != end) {
        let follows = values_read(module, op).into_iter().any(|value| open.contains(&value));
        for value in module.results(op) {
            // What an open value makes is behind the cut as well.
            if follows || is_open(&known, value) {
                open.insert(value);
            }
        }
        if follows { late.push(op) } else { early.push(op) }
    }
    if late.len() < LEAST {
        return None;
    }
    let made: FxHashSet<Value> = late.iter().flat_map(|&op| module.results(op)).collect();
    let (repeated, taken) = read_before(module, &known, &late, &made);
    let results: Vec<Value> = module.operands(end).collect();
    // The head gives what the tail takes, then those results that it has.
    let mut given = taken.clone();
    let mut behind = Vec::new();
    let mut gives = Vec::with_capacity(results.len());
    for value in results {
        let list = if made.contains(&value) { &mut behind } else { &mut given };
        let at = list.iter().position(|&known| known == value).unwrap_or_else(|| {
            list.push(value);
            list.len() - 1
        });
        gives.push(if made.contains(&value) { From::Tail(at) } else { From::Head(at) });
    }
    let own = module.args(block).iter().map(|&value| (value, module.value_type(value)));
    let own: Vec<(Value, Type)> = own.collect();
    let head = part(module, end, &own, &early, &given);
    let typed = |&value: &Value| (value, known.value_type(value));
    let arguments: Vec<(Value, Type)> = taken.iter().map(typed).collect();
    let ops: Vec<Op> = repeated.into_iter().chain(late).collect();
    let tail = part(module, end, &arguments, &ops, &behind);
    Some(Cut { function, head, tail, gives })
}

/// Whether the rank of a value is known, and an extent is not.
fn is_open(module: &Module, value: Value) -> bool {
    let extents = module.context().as_tensor(module.value_type(value));
    extents.is_some_and(|(extents, _)| extents.iter().any(|extent| extent.is_unknown()))
}

fn is_unranked(module: &Module, value: Value) -> bool {
    matches!(module.context().type_data(module.value_type(value)), TypeData::UnrankedTensor(_))
}

/// What `late` reads and does not make: the operations that it repeats, in order, and the values
/// that it takes. Constants are repeated, and numbers that inference finds, such as extents: as
/// arguments they would be unknown.
fn read_before(
    module: &Module,
    known: &Module,
    late: &[Op],
    made: &FxHashSet<Value>,
) -> (Vec<Op>, Vec<Value>) {
    let (mut repeated, mut taken) = (Vec::new(), Vec::new());
    let (mut seen, mut entered) = (FxHashSet::default(), FxHashSet::default());
    // An operation is repeated after those that make what it reads.
    enum Visit {
        Value(Value),
        Repeat(Op),
    }
    let reads = late.iter().rev().flat_map(|&op| values_read(module, op).into_iter().rev());
    let mut work: Vec<Visit> = reads.map(Visit::Value).collect();
    while let Some(visit) = work.pop() {
        match visit {
            Visit::Repeat(op) => repeated.push(op),
            Visit::Value(value) if made.contains(&value) || !seen.insert(value) => {}
            Visit::Value(value) => match module.def_op(value) {
                Some(def) if repeats(module, known, value) => {
                    if entered.insert(def) {
                        work.push(Visit::Repeat(def));
                        work.extend(values_read(module, def).into_iter().map(Visit::Value));
                    }
                }
                _ => taken.push(value),
            },
        }
    }
    (repeated, taken)
}

fn repeats(module: &Module, known: &Module, value: Value) -> bool {
    outline::is_constant(module, value) || known.contents(value).is_some()
}

/// A function of `arguments` that runs `ops` and returns `results` as `end` does.
fn part(
    module: &mut Module,
    end: Op,
    arguments: &[(Value, Type)],
    ops: &[Op],
    results: &[Value],
) -> Op {
    let (function, mapping) = outline::function(module, arguments, ops);
    let mut state = OpState::new(module.name(end), Loc::UNKNOWN);
    state.operands = results.iter().map(|&value| mapping.value(value)).collect::<SmallVec<_>>();
    if let Some(block) = outline::block(module, function) {
        module.create_at(Point::End(block), state);
    }
    function
}
