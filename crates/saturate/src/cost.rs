//! What a program costs to run, estimated.
//!
//! [`estimate`] counts: arithmetic operations, bytes read and written, operations. A
//! [`CostModel`] makes seconds of these by the roofline: an operation takes as long as its
//! arithmetic or its memory traffic, whichever is longer, and some time to start. It is read from
//! a JSON file, which may also have measured times; what was measured is believed.
//!
//! Symbolic extents are given one size. All of it serves comparison.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tangram_dialects::{dims, dtype};
use tangram_ir::{Dim, Module, Op, Order, Traits, Type, Value, walk};

/// What symbols are taken to be, unless a model says otherwise.
pub const SYMBOL_SIZE: i64 = 16;

/// The cost model that is used if no other is given: one core of a desktop processor.
const DEFAULT: &str = include_str!("../cost/cpu.json");

/// An estimate.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Cost {
    /// Floating-point (or integer) operations.
    pub flops: f64,
    /// Bytes read and written.
    pub bytes: f64,
    /// Operations that start a kernel of their own.
    pub launches: usize,
}

/// How fast a machine is.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CostModel {
    /// What it describes, for reports.
    pub name: String,
    /// Arithmetic operations a second in matrix products and convolutions.
    pub flops_per_second: f64,
    /// Operations a second of anything else.
    pub scalar_flops_per_second: f64,
    /// Bytes a second between memory and processor.
    pub bytes_per_second: f64,
    /// Seconds to start an operation.
    pub launch_seconds: f64,
    /// The share of an element-wise operation that is left if it can be fused with what makes its
    /// first operand: 1 if nothing is fused, 0 if that is free.
    #[serde(default = "whole")]
    pub fused_share: f64,
    /// What a symbolic extent is taken to be.
    #[serde(default = "symbol_size")]
    pub symbol_size: i64,
    /// Factors on the time of operations by name.
    #[serde(default)]
    pub factors: BTreeMap<String, f64>,
    /// Measured seconds by [signature](CostModel::signature).
    #[serde(default)]
    pub measured: BTreeMap<String, f64>,
}

fn whole() -> f64 {
    1.0
}

fn symbol_size() -> i64 {
    SYMBOL_SIZE
}

/// Why a cost model cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// The text is no JSON, or has other fields.
    #[error("no cost model: {0}")]
    Syntax(#[from] serde_json::Error),
    /// A rate has to be a number above 0.
    #[error("the cost model's `{0}` has to be a number above 0")]
    Rate(&'static str),
    /// A time or share has to be a number of at least 0.
    #[error("the cost model's `{0}` has to be a number of at least 0")]
    Negative(String),
}

impl Default for CostModel {
    fn default() -> Self {
        CostModel::from_json(DEFAULT).expect("the shipped model is right, which a test shows")
    }
}

impl CostModel {
    /// Reads a model.
    ///
    /// # Errors
    /// [`CostError`]: what is wrong, by field.
    pub fn from_json(text: &str) -> Result<Self, CostError> {
        let model: CostModel = serde_json::from_str(text)?;
        let rates = [
            ("flops_per_second", model.flops_per_second),
            ("scalar_flops_per_second", model.scalar_flops_per_second),
            ("bytes_per_second", model.bytes_per_second),
            ("symbol_size", model.symbol_size as f64),
        ];
        if let Some((name, _)) = rates.iter().find(|(_, rate)| !(*rate > 0.0 && rate.is_finite())) {
            return Err(CostError::Rate(name));
        }
        let single = [
            ("launch_seconds".to_owned(), model.launch_seconds),
            ("fused_share".to_owned(), model.fused_share),
        ];
        let listed = model.factors.iter().chain(&model.measured).map(|(k, v)| (k.clone(), *v));
        let wrong = |(_, value): &(String, f64)| !(*value >= 0.0 && value.is_finite());
        match single.into_iter().chain(listed).find(wrong) {
            Some((name, _)) => Err(CostError::Negative(name)),
            None => Ok(model),
        }
    }

    /// What an operation is in the table of measured times: `nn.relu(f32[1,8]) -> f32[1,8]`.
    pub fn signature(module: &Module, op: Op) -> String {
        let list = |values: Vec<Value>| {
            let texts = values.into_iter().map(|value| type_text(module, module.value_type(value)));
            texts.collect::<Vec<_>>().join(", ")
        };
        let operands = list(module.operands(op).collect());
        format!("{}({operands}) -> {}", module.name_text(op), list(module.results(op).collect()))
    }

    /// Estimates the seconds that one run of `op` takes.
    pub fn seconds(&self, module: &Module, op: Op) -> f64 {
        if is_silent(module.name_text(op)) {
            return 0.0;
        }
        if !self.measured.is_empty()
            && let Some(seconds) = self.measured.get(&Self::signature(module, op))
        {
            return *seconds;
        }
        let name = module.name_text(op);
        let factor = self.factors.get(name).copied().unwrap_or(1.0);
        let sizes = Sizes { module, symbol: self.symbol_size };
        let fusible = module.has_traits(op, Traits::ELEMENTWISE)
            && module.operands(op).next().is_some_and(|value| module.def_op(value).is_some());
        let share = if fusible { self.fused_share } else { 1.0 };
        let rate = match is_product(name) {
            true => self.flops_per_second,
            false => self.scalar_flops_per_second,
        };
        let bytes = if is_view(name) { 0.0 } else { sizes.traffic(op) };
        let work = (sizes.flops(op) / rate).max(bytes / self.bytes_per_second);
        factor * share * (self.launch_seconds + work)
    }

    /// Estimates the seconds that one run of all operations of `module` takes.
    pub fn total(&self, module: &Module) -> f64 {
        let ops = walk(module, module.root(), Order::Pre).into_iter();
        ops.map(|op| self.seconds(module, op)).sum()
    }
}

/// The estimated cost of all operations of `module`.
pub fn estimate(module: &Module) -> Cost {
    let mut total = Cost::default();
    let sizes = Sizes { module, symbol: SYMBOL_SIZE };
    for op in walk(module, module.root(), Order::Pre) {
        if !is_silent(module.name_text(op)) {
            total.launches += 1;
            total.flops += sizes.flops(op);
            total.bytes += sizes.traffic(op);
        }
    }
    total
}

/// Operations that are no work.
fn is_silent(name: &str) -> bool {
    let silent = matches!(name, "nn.constant" | "nn.none" | "nn.yield");
    silent || name.starts_with("func.") || name.starts_with("builtin.")
}

/// Operations whose arithmetic runs at full speed.
fn is_product(name: &str) -> bool {
    name.starts_with("nn.conv")
        || matches!(
            name,
            "nn.dense" | "nn.matmul" | "nn.batch_matmul" | "nn.gemm" | "nn.einsum" | "nn.attention"
        )
}

/// Operations that only say how memory is read.
fn is_view(name: &str) -> bool {
    matches!(
        name,
        "nn.reshape"
            | "nn.squeeze"
            | "nn.expand_dims"
            | "nn.batch_flatten"
            | "nn.flatten"
            | "nn.shape_of"
            | "nn.identity"
    )
}

fn type_text(module: &Module, ty: Type) -> String {
    let context = module.context();
    let element = context.element_type(ty).and_then(|ty| dtype::dtype_of(context, ty));
    let element = element.map_or("?", |dtype| dtype.name());
    match context.as_tensor(ty) {
        Some((list, _)) => {
            let list: Vec<String> = list.iter().map(|&dim| dims::text(context, dim)).collect();
            format!("{element}[{}]", list.join(","))
        }
        None => format!("{element}[*]"),
    }
}

/// Extents as numbers.
struct Sizes<'a> {
    module: &'a Module,
    symbol: i64,
}

impl Sizes<'_> {
    fn size(&self, dim: Dim) -> f64 {
        let known = dims::expr(self.module.context(), dim);
        let known = known.and_then(|expr| expr.eval(&|_| Some(self.symbol)));
        known.unwrap_or(self.symbol).max(0) as f64
    }

    /// The number of elements of `value`; 1 if nothing is known.
    fn elements(&self, value: Value) -> f64 {
        let context = self.module.context();
        let Some((list, _)) = context.as_tensor(self.module.value_type(value)) else { return 1.0 };
        list.iter().map(|&d| self.size(d)).product()
    }

    fn bytes(&self, value: Value) -> f64 {
        let context = self.module.context();
        let element = context.element_type(self.module.value_type(value));
        let dtype = element.and_then(|element| dtype::dtype_of(context, element));
        dtype.map_or(0.0, |dtype| self.elements(value) * dtype.size_bits() as f64 / 8.0)
    }

    /// Bytes that `op` reads and writes.
    fn traffic(&self, op: Op) -> f64 {
        let values = self.module.operands(op).chain(self.module.results(op));
        values.map(|value| self.bytes(value)).sum()
    }

    /// The extents of operand number `operand`.
    fn extents(&self, op: Op, operand: usize) -> Option<Vec<f64>> {
        let value = self.module.operands(op).nth(operand)?;
        let (list, _) = self.module.context().as_tensor(self.module.value_type(value))?;
        Some(list.iter().map(|&dim| self.size(dim)).collect())
    }

    fn flops(&self, op: Op) -> f64 {
        let name = self.module.name_text(op);
        let out: f64 = self.module.results(op).map(|v| self.elements(v)).sum();
        if name.starts_with("nn.conv") {
            let Some(weight) = self.extents(op, 1) else { return out };
            // Each output element sums over the weights of its output channel.
            let channels = weight.first().copied().unwrap_or(1.0).max(1.0);
            return 2.0 * out * weight.iter().product::<f64>() / channels;
        }
        if matches!(name, "nn.dense" | "nn.matmul" | "nn.batch_matmul" | "nn.gemm") {
            let inner = self.extents(op, 0).and_then(|extents| extents.last().copied());
            return 2.0 * out * inner.unwrap_or(1.0);
        }
        if is_view(name) { 0.0 } else { out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_model_is_right() {
        assert!(CostModel::from_json(DEFAULT).is_ok());
    }

    #[test]
    fn rates_and_times_are_checked() {
        let wrong = DEFAULT.replace("\"launch_seconds\": ", "\"launch_seconds\": -");
        let error = CostModel::from_json(&wrong).expect_err("a negative time").to_string();
        assert_eq!(error, "the cost model's `launch_seconds` has to be a number of at least 0");
        let wrong = DEFAULT.replace("\"bytes_per_second\": 1", "\"bytes_per_second\": -1");
        assert!(matches!(CostModel::from_json(&wrong), Err(CostError::Rate("bytes_per_second"))));
        assert!(CostModel::from_json("{\"speed\": 1}").is_err());
    }
}
