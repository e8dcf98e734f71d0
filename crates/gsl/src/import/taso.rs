//! TASO's protobuf of substitutions.
//!
//! A rule has operators of the source and the target, inputs by negative numbers, and the outputs
//! that correspond. Types and parameters are numbers of TASO's enumerations.

use prost::Message;
use rustc_hash::FxHashMap;

use super::graph::{Operand, Operator, RuleGraph, Side};
use super::{ImportError, Imported, collect};

#[derive(Clone, PartialEq, Message)]
struct Parameter {
    #[prost(int32, required, tag = "1")]
    key: i32,
    #[prost(int32, required, tag = "2")]
    value: i32,
}

#[derive(Clone, PartialEq, Message)]
struct TensorId {
    #[prost(int32, required, tag = "1")]
    operator: i32,
    #[prost(int32, required, tag = "2")]
    result: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Application {
    #[prost(int32, required, tag = "1")]
    kind: i32,
    #[prost(message, repeated, tag = "2")]
    inputs: Vec<TensorId>,
    #[prost(message, repeated, tag = "3")]
    parameters: Vec<Parameter>,
}

#[derive(Clone, PartialEq, Message)]
struct MappedOutput {
    #[prost(int32, required, tag = "1")]
    source: i32,
    #[prost(int32, required, tag = "2")]
    target: i32,
    #[prost(int32, required, tag = "3")]
    source_result: i32,
    #[prost(int32, required, tag = "4")]
    target_result: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Substitution {
    #[prost(message, repeated, tag = "1")]
    source: Vec<Application>,
    #[prost(message, repeated, tag = "2")]
    target: Vec<Application>,
    #[prost(message, repeated, tag = "3")]
    outputs: Vec<MappedOutput>,
}

#[derive(Clone, PartialEq, Message)]
struct Collection {
    #[prost(message, repeated, tag = "1")]
    rules: Vec<Substitution>,
}

/// The parameters of operators, by their numbers.
mod parameter {
    pub(super) const KERNEL: [i32; 2] = [4, 5];
    pub(super) const STRIDE: [i32; 2] = [6, 7];
    pub(super) const PADDING: i32 = 8;
    pub(super) const ACTIVATION: i32 = 9;
    pub(super) const RANK: i32 = 10;
    pub(super) const AXIS: i32 = 11;
}

/// Reads a collection. Linear in its length.
///
/// # Errors
/// [`ImportError::Protobuf`] for bytes that are none.
pub fn taso(bytes: &[u8]) -> Result<Imported, ImportError> {
    let collection =
        Collection::decode(bytes).map_err(|error| ImportError::Protobuf(error.to_string()))?;
    Ok(collect("taso", collection.rules.iter().map(rule).collect()))
}

/// Inputs by operator and result, numbered as they are met.
type Inputs = FxHashMap<(i32, i32), usize>;

fn rule(substitution: &Substitution) -> Result<RuleGraph, String> {
    let mut inputs = Inputs::default();
    let mut rule = RuleGraph::default();
    let source = side(&substitution.source, &mut rule.source, &mut inputs)?;
    let target = side(&substitution.target, &mut rule.target, &mut inputs)?;
    for output in &substitution.outputs {
        let from = result(&source, (output.source, output.source_result))?;
        let to = match output.target {
            // An input may be the result.
            negative @ ..0 => input(&mut inputs, (negative, output.target_result)),
            _ => result(&target, (output.target, output.target_result))?,
        };
        rule.source.outputs.push(from);
        rule.target.outputs.push(to);
    }
    Ok(rule)
}

fn input(inputs: &mut Inputs, key: (i32, i32)) -> Operand {
    let count = inputs.len();
    Operand::Input(*inputs.entry(key).or_insert(count))
}

/// Finds a result of an application, whose first results are `made`.
fn result(made: &[Operand], (operator, result): (i32, i32)) -> Result<Operand, String> {
    let first = usize::try_from(operator).ok().and_then(|at| made.get(at));
    match (first, usize::try_from(result)) {
        (Some(Operand::Result(node, 0)), Ok(result)) => Ok(Operand::Result(*node, result)),
        _ => Err(format!("there is no result {result} of operator {operator}")),
    }
}

fn side(
    applications: &[Application],
    side: &mut Side,
    inputs: &mut Inputs,
) -> Result<Vec<Operand>, String> {
    let mut made: Vec<Operand> = Vec::new();
    for application in applications {
        let mut operands = Vec::new();
        for tensor in &application.inputs {
            operands.push(match tensor.operator {
                ..0 => input(inputs, (tensor.operator, tensor.result)),
                _ => result(&made, (tensor.operator, tensor.result))?,
            });
        }
        made.push(apply(application, operands, side)?);
    }
    Ok(made)
}

fn apply(
    application: &Application,
    operands: Vec<Operand>,
    side: &mut Side,
) -> Result<Operand, String> {
    let given = |key: i32| {
        let found = application.parameters.iter().find(|parameter| parameter.key == key);
        found.map(|parameter| i64::from(parameter.value))
    };
    let value = |key: i32| given(key).ok_or_else(|| format!("parameter {key} is missing"));
    let operator = match (application.kind, operands.len()) {
        (3, 2) => Operator::Conv {
            strides: [value(parameter::STRIDE[0])?, value(parameter::STRIDE[1])?],
            same: Operator::is_same(value(parameter::PADDING)?)?,
            window: given(parameter::KERNEL[0])
                .zip(given(parameter::KERNEL[1]))
                .map(|(height, width)| [height, width]),
        },
        (8, 1) => Operator::Relu,
        (9, 1) => Operator::Sigmoid,
        (10, 1) => Operator::Tanh,
        (12, 2..) => {
            Operator::Concatenate { axis: value(parameter::AXIS)?, rank: given(parameter::RANK) }
        }
        (13, 1) => Operator::Split { axis: value(parameter::AXIS)? },
        (16, 2) => Operator::Add,
        (17, 2) => Operator::Multiply,
        (18, 2) => Operator::Matmul,
        (19, 2) => Operator::Scale,
        (kind, count) => {
            return Err(format!("operator {kind} of {count} operands has no counterpart"));
        }
    };
    side.add_active(operator, operands, given(parameter::ACTIVATION).unwrap_or(0))
}
