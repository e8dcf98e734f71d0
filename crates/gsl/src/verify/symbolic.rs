//! Instances with symbolic extents.
//!
//! A constraint on a symbolic extent holds only if it holds for all values of its symbols. So a
//! rule that fires where extents are symbols has to be right for each of their values: the program
//! is rewritten once, with symbols in its types, and source and target are then run at several
//! sizes. A condition that looks at a symbol as if it were a number, a native function that does, a
//! target that writes down an extent which is not known: all are found so.

use fastrand::Rng;
use rustc_hash::FxHashMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::Datum;
use tangram_dialects::{constant, dims, dtype, nn};
use tangram_ir::{Context, Dim, DimKind, Module, Op, TypeData, Value};
use tangram_rewrite::{Rewriter, Silent};
use tangram_tensor::DType;

use super::real::{self, Comparison};
use super::trace::trace;
use super::trial::{different, has_empty_value};
use super::values::{self, Profile};
use super::verdict::Counterexample;
use crate::matching::Match;
use crate::rules::{CompiledRule, UnknownExtents};

/// What became of an instance with symbolic extents.
pub(super) enum Outcome {
    /// The rule does not fire there, or nothing could be run.
    Void,
    /// Source and target are equal at every size that was run.
    Equal,
    /// They are not, and no rewrite is made: their types are not known to be equal.
    Guarded,
    /// They are not.
    Different(Counterexample),
}

/// The most dimensions of an operand whose extents change.
const MAX_RANK: usize = 6;

/// The greatest extent that changes: those that numbers of the rule make longer stay as they are.
const MAX_EXTENT: usize = 32;

/// The same program with symbols for some extents of its inputs; none where it has no types then.
///
/// Extents that are equal get one symbol: what has to be equal stays so.
pub(super) fn generalise(module: &Module, rng: &mut Rng) -> Option<Module> {
    let mut out = module.clone();
    let context = module.context_arc().clone();
    // Sizes change alone there, and equal labels would get extents that differ.
    let is_fitted = |op| nn::entry(module.name_text(op)).is_some_and(|e| e.sample.meant.is_some());
    if module.ops(module.body()).any(is_fitted) {
        return None;
    }
    // Sizes grow, and so many elements are beyond what evaluation may take.
    let is_large = |arg: &Value| {
        constant::static_tensor(&context, module.value_type(*arg)).is_some_and(|(_, shape)| {
            shape.len() > MAX_RANK || shape.iter().any(|&extent| extent > MAX_EXTENT)
        })
    };
    if module.args(module.body()).iter().any(is_large) {
        return None;
    }
    let only_first = rng.bool();
    let mut changed = false;
    for &arg in module.args(module.body()) {
        let (dtype, shape) = constant::static_tensor(&context, module.value_type(arg))?;
        // Extents are looked at here, not numbers: narrow ones overflow and cancel.
        if matches!(dtype, DType::F16 | DType::BF16) {
            return None;
        }
        let extent = |(i, &n): (usize, &usize)| {
            let symbolic = n > 0 && (i == 0 || !only_first);
            changed |= symbolic;
            if symbolic {
                dims::dim(&context, &Expr::symbol(&symbol(n)))
            } else {
                Dim::fixed(n as i64)
            }
        };
        let extents: Vec<Dim> = shape.iter().enumerate().map(extent).collect();
        out.set_value_type(arg, context.tensor_type(&extents, dtype::type_of(&context, dtype)));
    }
    (changed && infer(&mut out)).then_some(out)
}

fn symbol(extent: usize) -> String {
    format!("N{extent}")
}

/// Infers all types again. Returns whether they could be.
fn infer(module: &mut Module) -> bool {
    let ops: Vec<Op> = module.ops(module.body()).collect();
    for op in ops {
        if module.def(op).is_none_or(|def| def.infer.is_none()) || module.result_count(op) == 0 {
            continue;
        }
        let operands: Vec<Value> = module.operands(op).collect();
        let count = module.result_count(op);
        let found = module.infer(module.name(op), &operands, module.attrs(op), Some(count));
        let Ok(found) = found else { return false };
        if found.types.len() != count {
            return false;
        }
        for (i, ty) in found.types.iter().enumerate() {
            let value = module.result(op, i);
            module.set_value_type(value, *ty);
            module.set_contents(value, found.contents.get(i).copied().flatten());
        }
    }
    true
}

/// Rewrites a program with symbolic extents, and compares both at several sizes.
pub(super) fn try_symbolic(rule: &CompiledRule, mut module: Module, rng: &mut Rng) -> Outcome {
    let ops: Vec<Op> = module.ops(module.body()).collect();
    let found = ops.iter().find_map(|&op| Some((op, rule.find(&module, op)?)));
    let Some((root, found)) = found else { return Outcome::Void };
    let source = module.clone();
    if !applies(rule, &mut module, root, &found) {
        return Outcome::Void;
    }
    let exact = real::is_exact(&source) && real::is_exact(&module);
    let mut outcome = Outcome::Void;
    for change in [0, 1, 2, 5] {
        let Some(inputs) = inputs(&source, change, rng) else { continue };
        let Ok(expected) = real::run(&source, &inputs) else { continue };
        let difference = match real::run(&module, &inputs) {
            Err(real::Failure::Unsupported) => continue,
            Err(real::Failure::Refused) if has_empty_value(&source) => continue,
            Err(real::Failure::Refused) => {
                "the source can be evaluated, the target cannot".to_owned()
            }
            Ok(found) => match real::compare(&expected, &found, exact) {
                Comparison::Void => continue,
                Comparison::Equal => {
                    outcome = Outcome::Equal;
                    continue;
                }
                Comparison::Different(found) => {
                    format!("output {}: {}", found.output, found.text)
                }
            },
        };
        if trace(&source, &inputs).is_some_and(|seen| seen.undefined) {
            continue;
        }
        let careful = rule.with_unknown_extents(UnknownExtents::Refuse);
        if !applies(&careful, &mut source.clone(), root, &found) {
            return Outcome::Guarded;
        }
        let args = source.args(source.body()).iter().enumerate();
        let leaves: Vec<_> = args.map(|(i, &arg)| (format!("x{i}"), arg, None)).collect();
        return Outcome::Different(different(&source, &leaves, &inputs, Vec::new(), difference));
    }
    outcome
}

fn applies(rule: &CompiledRule, module: &mut Module, root: Op, found: &Match) -> bool {
    let mut listener = Silent;
    let mut rewriter = Rewriter::new(module, &mut listener);
    rule.apply(&mut rewriter, root, found).is_ok()
}

/// Random inputs at sizes that differ by `change` from those that the symbols come from.
fn inputs(module: &Module, change: i64, rng: &mut Rng) -> Option<Vec<Datum>> {
    let context = module.context();
    let mut sizes: FxHashMap<String, i64> = FxHashMap::default();
    let argument = |value: &Value| {
        let ty = module.value_type(*value);
        let TypeData::Tensor(tensor) = context.type_data(ty) else { return None };
        let dtype = dtype::dtype_of(context, tensor.element)?;
        let extent = |dim: &Dim| size(context, *dim, change, &mut sizes);
        let shape = tensor.dims.iter().map(extent).collect::<Option<Vec<usize>>>()?;
        let profile = if change % 2 == 0 { Profile::Positive } else { Profile::Small };
        values::tensor(dtype, &shape, profile, &[], rng).map(Datum::Tensor)
    };
    module.args(module.body()).iter().map(argument).collect()
}

fn size(
    context: &Context,
    dim: Dim,
    change: i64,
    sizes: &mut FxHashMap<String, i64>,
) -> Option<usize> {
    if let DimKind::Static(n) = dim.kind() {
        return usize::try_from(n).ok();
    }
    let expr = dims::expr(context, dim)?;
    for symbol in expr.symbols() {
        let base: i64 = symbol.trim_start_matches('N').parse().ok()?;
        sizes.entry(symbol.to_owned()).or_insert(base + change);
    }
    usize::try_from(expr.eval(&|symbol| sizes.get(symbol).copied())?).ok()
}
