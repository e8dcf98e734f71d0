//! One instance: matched, rewritten, both programs evaluated and compared.

use fastrand::Rng;
use rustc_hash::FxHashMap;
use tangram_dialects::constant;
use tangram_dialects::interpret::Datum;
use tangram_ir::{Module, Op, Value};
use tangram_rewrite::{Rewriter, Silent};
use tangram_tensor::{DType, Tensor};

use super::field::{self, Element};
use super::instance::Instance;
use super::real::{self, Comparison};
use super::verdict::{Counterexample, Leaf};
use crate::matching::{from_attr, show, type_text};
use crate::rules::CompiledRule;

/// How often an instance is evaluated on other integers.
const RUNS: usize = 3;

/// What became of an instance.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The source does not match it.
    NoMatch,
    /// The source has no finite value on it.
    Void,
    /// The rewrite is refused.
    Refused { code: &'static str, why: String },
    /// Equal over the field, as polynomials of at most this degree.
    Field(u32),
    /// Equal on integers.
    Integers,
    /// Equal up to rounding.
    Rounded,
    /// Not equal.
    Different(Counterexample),
}

/// Matches, rewrites, evaluates and compares.
pub(super) fn try_instance(rule: &CompiledRule, made: Instance, rng: &mut Rng) -> Outcome {
    let Instance { mut module, free, leaves, .. } = made;
    let ops: Vec<Op> = module.ops(module.body()).collect();
    let found = ops.iter().find_map(|&op| Some((op, rule.find(&module, op)?)));
    let Some((root, found)) = found else { return Outcome::NoMatch };
    let source = lines(&module);
    let leaves = with_elements(&module, leaves);
    let values = field_values(&module, &free, rng);
    let before = values.as_ref().and_then(|values| field::run(&module, values));
    let inputs: Vec<Vec<Datum>> =
        (0..RUNS).filter_map(|i| real::inputs(&module, i == 1, rng)).collect();
    let expected: Vec<_> = inputs.iter().map(|inputs| real::run(&module, inputs)).collect();
    let exact_source = real::is_exact(&module);
    let applied = {
        let mut listener = Silent;
        let mut rewriter = Rewriter::new(&mut module, &mut listener);
        rule.apply(&mut rewriter, root, &found)
    };
    match applied {
        Err(diagnostic) if diagnostic.code == "no-change" => return Outcome::NoMatch,
        Err(diagnostic) => {
            return Outcome::Refused { code: diagnostic.code, why: diagnostic.message };
        }
        Ok(()) => {}
    }
    let after = values.as_ref().and_then(|values| field::run(&module, values));
    if let (Some(before), Some(after)) = (&before, &after)
        && let Some(degree) = equal_over_field(before, after)
    {
        return Outcome::Field(degree);
    }
    let exact = exact_source && real::is_exact(&module);
    let mut outcome = Outcome::Void;
    for (inputs, expected) in inputs.iter().zip(expected) {
        let Some(expected) = expected else { continue };
        let Some(found) = real::run(&module, inputs) else {
            let difference = "the source can be evaluated, the target cannot".to_owned();
            return Outcome::Different(different(&module, &leaves, inputs, source, difference));
        };
        match real::compare(&expected, &found, exact) {
            Comparison::Void => {}
            Comparison::Equal if exact => outcome = Outcome::Integers,
            Comparison::Equal => outcome = Outcome::Rounded,
            Comparison::Different(found) => {
                let difference = format!("output {}: {}", found.output, found.text);
                return Outcome::Different(different(&module, &leaves, inputs, source, difference));
            }
        }
    }
    outcome
}

/// The greatest degree, if all outputs are equal.
fn equal_over_field(before: &[Element], after: &[Element]) -> Option<u32> {
    let equal = before.iter().zip(after).all(|(a, b)| field::same(a, b) == Some(true));
    let degrees = before.iter().chain(after).map(|element| element.degree);
    equal.then(|| degrees.max().unwrap_or(0))
}

/// Random elements for inputs and free constants; none where floats are no doubles.
fn field_values(
    module: &Module,
    free: &[Value],
    rng: &mut Rng,
) -> Option<FxHashMap<Value, Element>> {
    let mut values = FxHashMap::default();
    for &value in module.args(module.body()).iter().chain(free) {
        let (dtype, shape) = constant::static_tensor(module.context(), module.value_type(value))?;
        let element = match dtype {
            DType::F64 => Element::random(&shape, rng)?,
            // Integers are looked at as they are, one assignment at a time.
            _ => Element::fixed(&super::instance::random(dtype, &shape, true, rng)?)?,
        };
        values.insert(value, element);
    }
    let floats = values.values().any(|element| element.tensor.dtype() == DType::F64);
    floats.then_some(values)
}

/// What makes an instance another one than those that were tried: operations, types, attributes.
pub(super) fn describe(made: &Instance) -> String {
    let args = made.module.args(made.module.body());
    let types = args.iter().map(|v| type_text(made.module.context(), made.module.value_type(*v)));
    types.chain(lines(&made.module)).collect::<Vec<_>>().join("\n")
}

/// The operations of a program, one a line, with numbers for values.
pub(super) fn lines(module: &Module) -> Vec<String> {
    let mut names: FxHashMap<Value, String> = FxHashMap::default();
    for (i, value) in module.args(module.body()).iter().enumerate() {
        names.insert(*value, format!("x{i}"));
    }
    let mut out = Vec::new();
    for (i, op) in module.ops(module.body()).enumerate() {
        if Some(op) == module.last_op(module.body()) {
            break;
        }
        let name = module.name_text(op).trim_start_matches("nn.");
        let operands: Vec<&str> =
            module.operands(op).filter_map(|v| names.get(&v).map(String::as_str)).collect();
        let attrs = module.context().entries(module.attrs(op)).iter().filter_map(|(name, attr)| {
            let value = from_attr(module, *attr)?;
            let name = module.context().text(*name);
            (name != "value").then(|| format!("{name} = {}", show(&value)))
        });
        let attrs: Vec<String> = attrs.collect();
        let types: Vec<String> =
            module.results(op).map(|v| type_text(module.context(), module.value_type(v))).collect();
        out.push(format!(
            "v{i} = {name}({}) {{{}}}: {}",
            operands.join(", "),
            attrs.join(", "),
            types.join(", ")
        ));
        for (j, value) in module.results(op).enumerate() {
            let name = if j == 0 { format!("v{i}") } else { format!("v{i}[{j}]") };
            names.insert(value, name);
        }
    }
    out
}

/// Inputs and constants by name; constants with their elements, before the rewrite erases any.
fn with_elements(
    module: &Module,
    leaves: Vec<(String, Value)>,
) -> Vec<(String, Value, Option<Tensor>)> {
    let tensor = |value| constant::constant_tensor(module, value);
    leaves.into_iter().map(|(name, value)| (name, value, tensor(value))).collect()
}

pub(super) fn different(
    module: &Module,
    leaves: &[(String, Value, Option<Tensor>)],
    inputs: &[Datum],
    source: Vec<String>,
    difference: String,
) -> Counterexample {
    let args = module.args(module.body());
    let mut out = Vec::new();
    for (name, value, constant) in leaves {
        let input = args.iter().position(|arg| arg == value).and_then(|i| inputs.get(i));
        let tensor = match (input, constant) {
            (Some(Datum::Tensor(tensor)), _) | (None, Some(tensor)) => tensor,
            _ => continue,
        };
        out.push(Leaf {
            name: name.clone(),
            ty: format!("{}{:?}", tensor.dtype().name(), tensor.shape()),
            elements: tensor.f64s().unwrap_or_default(),
        });
    }
    let size = out.iter().map(|leaf| leaf.elements.len()).sum();
    Counterexample { leaves: out, source, difference, size }
}
