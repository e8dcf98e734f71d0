//! Inference and evaluation agree: what is inferred for symbolic extents, at any sizes, are the
//! extents and elements that evaluation gives. The applications are those of `spec/`.

mod support;

use std::collections::BTreeSet;

use support::{Case, build, cases, infer, integers, split};
use tangram_affine::symbolic::Expr;
use tangram_dialects::eval::{EvalError, evaluate};
use tangram_dialects::{constant, dims};
use tangram_ir::{Attr, AttrData, Context, Module, Op, Type, Value};
use tangram_tensor::{DType, KernelError, Tensor};

/// Sizes of symbols: a number for each name and trial, in no order that a kernel could like.
fn size(trial: u64, symbol: &str) -> i64 {
    let seed = symbol.bytes().fold(trial.wrapping_mul(0x9E37_79B9_7F4A_7C15), |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    ((seed >> 33) % 7) as i64 + 1
}

/// The operand as written, at the sizes of a trial; an unknown extent is 2.
fn at_sizes(trial: u64, text: &str) -> String {
    let value = |text: &String| match text.as_str() {
        "?" | "*" => "2".to_owned(),
        text => match text.parse::<Expr>().unwrap().eval(&|s| Some(size(trial, s))) {
            Some(n) => n.to_string(),
            None => panic!("{text} has no value"),
        },
    };
    let list = |inner: &str| split(inner).iter().map(value).collect::<Vec<_>>().join(",");
    let (ty, elements) = match text.split_once(" = ") {
        Some((ty, elements)) => (ty, Some(elements)),
        None => (text, None),
    };
    let Some((name, extents)) = ty.split_once('[').filter(|_| !ty.contains('<')) else {
        return text.to_owned();
    };
    let ty = format!("{name}[{}]", list(extents.strip_suffix(']').unwrap()));
    match elements {
        Some(e) => format!("{ty} = ({})", list(&e[1..e.len() - 1])),
        None => ty,
    }
}

/// A tensor for an operand: the constant, or zeros and ones, which are indices and flags too.
fn data(module: &Module, value: Value) -> Option<Tensor> {
    if let Some(tensor) = constant::constant_tensor(module, value) {
        return Some(tensor);
    }
    let (dtype, shape) = constant::static_tensor(module.context(), module.value_type(value))?;
    let count: usize = shape.iter().product();
    let cycle: Vec<i64> = (0..count as i64).map(|i| (i * 5 + 1) % 3 % 2).collect();
    match dtype {
        DType::I64 | DType::I32 | DType::F32 | DType::Bool => Some(integers(dtype, &shape, &cycle)),
        DType::String => Tensor::from_strings(&shape, vec![b"a".to_vec(); count]).ok(),
        _ => Tensor::from_bytes(dtype, &shape, vec![0u8; dtype.byte_len(count)?]).ok(),
    }
}

/// The results of the operation of `case` at the sizes of `trial`; `None` if it does not apply.
fn run(case: &Case, trial: u64) -> Option<(Module, Result<Vec<Tensor>, EvalError>)> {
    let (module, op) = build(case, |text| at_sizes(trial, text));
    let op: Op = op.ok()?;
    let is_none = |v| constant::is_none_type(module.context(), module.value_type(v));
    let operands: Vec<Option<Tensor>> =
        module.operands(op).map(|v| if is_none(v) { None } else { data(&module, v) }).collect();
    let results = evaluate(&module, op, &operands);
    Some((module, results))
}

/// What an extent or element is at the sizes of a trial, where that is known.
fn at_trial(trial: u64, expr: Option<Expr>) -> Option<i64> {
    expr?.eval(&|symbol| Some(size(trial, symbol)))
}

fn extents_differ(context: &Context, trial: u64, ty: Type, found: &Tensor) -> Option<String> {
    let (dims, _) = context.as_tensor(ty)?;
    let inferred: Vec<Option<i64>> =
        dims.iter().map(|&dim| at_trial(trial, dims::expr(context, dim))).collect();
    let same = |(a, &b): (&Option<i64>, &usize)| a.is_none_or(|a| a == b as i64);
    let fine = inferred.len() == found.rank() && inferred.iter().zip(found.shape()).all(same);
    (!fine).then(|| format!("inferred extents {inferred:?}, found {:?}", found.shape()))
}

fn elements_differ(context: &Context, trial: u64, attr: Attr, tensor: &Tensor) -> Option<String> {
    let AttrData::Array(items) = context.attr_data(attr) else { panic!("contents are an array") };
    let known = |&item: &Attr| match context.attr_data(item) {
        AttrData::Integer { .. } => context.as_i64(item).map(Expr::int),
        AttrData::String(text) => dims::parse(context, *text),
        _ => None,
    };
    let inferred: Vec<Option<i64>> = items.iter().map(|i| at_trial(trial, known(i))).collect();
    let found = tensor.i64s().unwrap();
    let same = |(a, b): (&Option<i64>, &i64)| a.is_none_or(|a| a == *b);
    let fine = inferred.len() == found.len() && inferred.iter().zip(&found).all(same);
    (!fine).then(|| format!("inferred elements {inferred:?}, found {found:?}"))
}

/// Returns whether the case was evaluated; what is wrong if the two disagree.
fn agree(case: &Case, trial: u64) -> Result<bool, String> {
    let (symbolic, inferred) = infer(case);
    let inferred = inferred.map_err(|e| e.to_string())?;
    let Some((_, results)) = run(case, trial) else { return Ok(false) };
    let results = match results {
        Ok(results) => results,
        Err(EvalError::Unsupported(_)) => return Ok(false),
        // The elements are zeros and ones, whatever the extents are.
        Err(EvalError::Kernel(
            KernelError::IndexOutOfRange { .. } | KernelError::DivisionByZero { .. },
        )) => return Ok(false),
        // Extents at which not one window fits are left to the engine.
        Err(EvalError::Kernel(KernelError::BadParameter { parameter: "kernel_shape", .. })) => {
            return Ok(false);
        }
        // Where the result is unknown, an operand of which nothing is known decided it.
        Err(EvalError::Kernel(_)) if case.expected.contains(['?', '*']) => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    let context = symbolic.context();
    for (i, (&ty, tensor)) in inferred.types.iter().zip(&results).enumerate() {
        let contents = inferred.contents.get(i).copied().flatten();
        let wrong = extents_differ(context, trial, ty, tensor);
        let wrong = wrong.or_else(|| elements_differ(context, trial, contents?, tensor));
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
    }
    Ok(true)
}

#[test]
fn inference_at_any_sizes_is_what_evaluation_gives() {
    let (mut seen, mut failures) = (BTreeSet::new(), Vec::new());
    for case in cases().iter().filter(|case| !case.expected.starts_with("error")) {
        for trial in 0..6 {
            match agree(case, trial) {
                Ok(true) => _ = seen.insert(format!("nn.{}", case.name)),
                Ok(false) => {}
                Err(e) => failures.push(format!("{} {} [{trial}]: {e}", case.place, case.name)),
            }
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
    let unseen: Vec<&str> = tangram_dialects::nn::ops()
        .filter(|op| op.eval.is_some() && !seen.contains(op.def.name))
        .map(|op| op.def.name)
        .collect();
    assert!(unseen.is_empty(), "never evaluated: {unseen:?}");
}
