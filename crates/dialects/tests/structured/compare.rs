//! One case: built, evaluated by the kernel, interpreted, compared.

use std::collections::BTreeMap;

use tangram_affine::symbolic::Expr;
use tangram_dialects::eval::evaluate;
use tangram_dialects::structured::{interpret, result_types, structured};
use tangram_dialects::{constant, dtype};
use tangram_ir::{Module, Op};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

use crate::difference::{difference, has_sum};
use crate::support::{Case, build, split};

/// What a case shows.
pub enum Judgement {
    /// Definition and kernel agree; whether with symbols as extents, too.
    Agrees {
        /// Whether there is a definition with symbols.
        symbolic: bool,
    },
    /// There is no structured form.
    Without,
    /// The case cannot be built, or the kernel refuses it.
    Unusable,
    /// They differ.
    Differs(String),
}

type Symbols = BTreeMap<String, i64>;

/// Judges a case, with numbers as extents and as it is written.
pub fn judge(case: &Case, random: &mut fastrand::Rng) -> Judgement {
    let mut symbols = Symbols::new();
    let texts: Option<Vec<String>> =
        case.operands.iter().map(|text| numbered(text, &mut symbols, random)).collect();
    let Some(texts) = texts else { return Judgement::Unusable };
    let table: BTreeMap<&String, &String> = case.operands.iter().zip(&texts).collect();
    let (module, Ok(op)) = build(case, |text| table[&text.to_owned()].clone()) else {
        return Judgement::Unusable;
    };
    let Some(operands) = operands(&module, op, random) else { return Judgement::Unusable };
    let Ok(expected) = evaluate(&module, op, &operands) else { return Judgement::Unusable };
    let expected = &expected[..expected.len().min(module.results(op).len())];
    let plain = check(&module, op, &operands, expected, &Symbols::new());
    let symbolic = match build(case, str::to_owned) {
        (module, Ok(op)) if !symbols.is_empty() => {
            check(&module, op, &operands, expected, &symbols)
        }
        _ => Judgement::Without,
    };
    match (plain, symbolic) {
        (Judgement::Differs(why), _) => Judgement::Differs(why),
        (_, Judgement::Differs(why)) => Judgement::Differs(format!("{symbols:?}: {why}")),
        (Judgement::Agrees { .. }, symbolic) => {
            Judgement::Agrees { symbolic: matches!(symbolic, Judgement::Agrees { .. }) }
        }
        (plain, _) => plain,
    }
}

/// The operand with numbers for symbols; `None` where an extent is unknown.
fn numbered(text: &str, symbols: &mut Symbols, random: &mut fastrand::Rng) -> Option<String> {
    if text == "none" {
        return Some(text.to_owned());
    }
    let mut value = |text: &String| -> Option<String> {
        let expr: Expr = text.parse().ok()?;
        for name in expr.symbols() {
            let number = [1, 2, 3, 4, 5, 6, 8][random.usize(..7)];
            symbols.entry(name.to_owned()).or_insert(number);
        }
        let value = expr.eval(&|name| symbols.get(name).copied())?;
        Some(value.to_string())
    };
    let mut list = |text: &str| -> Option<String> {
        let all = split(text).iter().map(&mut value).collect::<Option<Vec<_>>>()?;
        Some(all.join(","))
    };
    let (ty, elements) = match text.split_once(" = ") {
        Some((ty, elements)) => (ty, Some(elements.trim())),
        None => (text, None),
    };
    let (element, extents) = ty.split_once('[')?;
    let extents = list(extents.strip_suffix(']')?)?;
    if extents.split(',').any(|n| n.starts_with('-')) {
        return None;
    }
    Some(match elements {
        Some(elements) => {
            let inner = elements.strip_prefix('(')?.strip_suffix(')')?;
            format!("{element}[{extents}] = ({})", list(inner)?)
        }
        None => format!("{element}[{extents}]"),
    })
}

/// Constants as they are, and random elements for everything else; `None` for an absent operand
/// within the list, and `None` for all where a type has no numbers.
pub fn operands(
    module: &Module,
    op: Op,
    random: &mut fastrand::Rng,
) -> Option<Vec<Option<Tensor>>> {
    let name = module.name_text(op);
    let mut all = Vec::new();
    for (at, value) in module.operands(op).enumerate() {
        let ty = module.value_type(value);
        all.push(if constant::is_none_type(module.context(), ty) {
            None
        } else if let Some(tensor) = constant::constant_tensor(module, value) {
            Some(tensor)
        } else {
            let (element, dims) = module.context().as_tensor(ty).map(|(dims, e)| (e, dims))?;
            let shape: Vec<usize> =
                dims.iter().map(|d| d.as_static().map(|n| n as usize)).collect::<Option<_>>()?;
            Some(elements(name, at, dtype::dtype_of(module.context(), element)?, &shape, random)?)
        });
    }
    Some(all)
}

/// Random elements: small numbers, and some that are special where no sum would drown in them.
fn elements(
    name: &str,
    operand: usize,
    element: DType,
    shape: &[usize],
    random: &mut fastrand::Rng,
) -> Option<Tensor> {
    let count: usize = shape.iter().product();
    let sums = [
        "nn.matmul",
        "nn.conv",
        "nn.gemm",
        "nn.dft",
        "nn.stft",
        "norm",
        "einsum",
        "attention",
        "dynamic",
        "contrib",
    ];
    let spread = sums.iter().any(|part| name.contains(part));
    let positive = name.contains("norm") && operand == 4;
    if count > 1 << 12 {
        return None;
    }
    if element.is_float() {
        let mut number = || match random.u8(..) {
            0..6 if !spread => {
                [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.5][random.usize(..6)]
            }
            n if n < 60 && !spread => f64::from(random.i32(-3..4)),
            _ => (random.f64() - 0.5) * 6.0,
        };
        let numbers: Vec<f64> =
            (0..count).map(|_| if positive { number().abs() } else { number() }).collect();
        return cast(&Tensor::from_vec(shape, numbers).ok()?, element).ok();
    }
    let mut number = || match random.u8(..) {
        0..8 if !spread => random.i64(..),
        _ => random.i64(-4..5),
    };
    let numbers: Vec<i64> = (0..count).map(|_| number()).collect();
    cast(&Tensor::from_vec(shape, numbers).ok()?, element).ok()
}

fn check(
    module: &Module,
    op: Op,
    operands: &[Option<Tensor>],
    expected: &[Tensor],
    symbols: &Symbols,
) -> Judgement {
    let Some(definition) = structured(module, op) else { return Judgement::Without };
    let Some(types) = result_types(module, op) else {
        return Judgement::Differs("a definition although extents are unknown".to_owned());
    };
    let value = |name: &str| symbols.get(name).copied();
    let found = match interpret(&definition, operands, &types, &value) {
        Ok(found) => found,
        Err(error) => return Judgement::Differs(error.to_string()),
    };
    let sums = has_sum(&definition);
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        if let Some(why) = difference(found, expected, sums) {
            return Judgement::Differs(format!("result {i}: {why}"));
        }
    }
    Judgement::Agrees { symbolic: false }
}
