//! What a program costs to run, estimated.
//!
//! [`estimate`] counts: arithmetic operations, bytes read and written, operations. All are read off
//! the structured definitions, so that what an operation is counted as is what it does. A
//! [`CostModel`] makes seconds of these. It is read from a JSON file, which may also have measured
//! times; what was measured is believed.
//!
//! A [kind](Kind) of operation that the file has [rates](Rates) for takes, one after another: its
//! start, its parts, its arithmetic, its memory traffic. Any other operation takes its start and,
//! by the roofline, its arithmetic or its traffic, whichever is longer. A bias, or a function of each
//! element, that the convolution or product before it takes in costs its arithmetic only.
//!
//! The shipped file is fitted to single operators in onnxruntime by
//! `bench/saturate/calibrate.py`; `cargo xtask bench saturate` compares estimates with latencies
//! of whole networks. Symbolic extents are given one size. All of it serves comparison.
//!
//! This is about operators of a runtime that is measured as a whole. What a processor offers to a
//! loop is `tangram_machine::Machine`, from which `optimise/rates` in `tangram-polyhedral` and the
//! tiles of `tangram-kernel` are computed.

mod count;
mod kind;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tangram_dialects::nn::bias;
use tangram_dialects::{dims, dtype};
use tangram_ir::{Module, Op, Order, Traits, Type, Value, walk};

use count::{Counts, Sizes};
pub use kind::Kind;
use kind::is_silent;

/// What symbols are taken to be, unless a model says otherwise.
pub const SYMBOL_SIZE: i64 = 16;

/// The cost model that is used if no other is given: one core of a server processor.
const DEFAULT: &str = include_str!("../../cost/cpu.json");

/// An estimate.
///
/// Extents that are not known at all make it incomparable: what becomes known on the way would look
/// like more work. Then there is no number.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Cost {
    /// Floating-point (or integer) operations; none where an extent is not known.
    pub flops: Option<f64>,
    /// Bytes read and written; none where an extent is not known.
    pub bytes: Option<f64>,
    /// Operations that start a kernel of their own.
    pub launches: usize,
}

/// How fast a machine is.
#[derive(Clone, PartialEq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CostModel {
    /// What it describes, for reports.
    pub name: String,
    /// Where the numbers are from, for reports.
    #[serde(default)]
    pub source: String,
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
    /// What operations of a kind take, in place of the four numbers above.
    #[serde(default)]
    pub kinds: BTreeMap<Kind, Rates>,
    /// Factors on the time of operations by name.
    #[serde(default)]
    pub factors: BTreeMap<String, f64>,
    /// Measured seconds by [signature](CostModel::signature).
    #[serde(default)]
    pub measured: BTreeMap<String, f64>,
}

/// What operations of one kind take: the sum of all of it. What is absent takes no time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rates {
    /// Seconds to start an operation.
    pub start_seconds: f64,
    /// Seconds for each part: a group, a batch, a piece.
    pub part_seconds: f64,
    /// Arithmetic operations a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flops_per_second: Option<f64>,
    /// Bytes a second that are read or written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Bytes a second of a convolution's windows that are copied to columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfolded_bytes_per_second: Option<f64>,
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
    Rate(String),
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
        for (name, rate) in model.rates() {
            if !(rate > 0.0 && rate.is_finite()) {
                return Err(CostError::Rate(name));
            }
        }
        for (name, time) in model.times() {
            if !(time >= 0.0 && time.is_finite()) {
                return Err(CostError::Negative(name));
            }
        }
        Ok(model)
    }

    /// All numbers that have to be above 0, by name.
    fn rates(&self) -> Vec<(String, f64)> {
        let mut rates = vec![
            ("flops_per_second".to_owned(), self.flops_per_second),
            ("scalar_flops_per_second".to_owned(), self.scalar_flops_per_second),
            ("bytes_per_second".to_owned(), self.bytes_per_second),
            ("symbol_size".to_owned(), self.symbol_size as f64),
        ];
        for (kind, of) in &self.kinds {
            let given = [of.flops_per_second, of.bytes_per_second, of.unfolded_bytes_per_second];
            rates
                .extend(given.into_iter().flatten().map(|rate| (format!("kinds: {kind:?}"), rate)));
        }
        rates
    }

    /// All numbers that have to be at least 0, by name.
    fn times(&self) -> Vec<(String, f64)> {
        let mut times = vec![
            ("launch_seconds".to_owned(), self.launch_seconds),
            ("fused_share".to_owned(), self.fused_share),
        ];
        for (kind, of) in &self.kinds {
            let given = [of.start_seconds, of.part_seconds];
            times.extend(given.into_iter().map(|time| (format!("kinds: {kind:?}"), time)));
        }
        times.extend(self.factors.iter().chain(&self.measured).map(|(k, v)| (k.clone(), *v)));
        times
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

    /// Estimates the seconds that one run of `op` takes where it stands.
    pub fn seconds(&self, module: &Module, op: Op) -> f64 {
        match bias::kernel(module, op)[..] {
            [product, .., _] => self.seconds_behind(module, product, op),
            _ => self.alone(module, op),
        }
    }

    /// Estimates the seconds of `op` if nothing before it takes it in.
    pub fn alone(&self, module: &Module, op: Op) -> f64 {
        let name = module.name_text(op);
        if is_silent(name) {
            return 0.0;
        }
        if !self.measured.is_empty()
            && let Some(seconds) = self.measured.get(&Self::signature(module, op))
        {
            return *seconds;
        }
        let factor = self.factors.get(name).copied().unwrap_or(1.0);
        let fusible = module.has_traits(op, Traits::ELEMENTWISE)
            && module.operands(op).next().is_some_and(|value| module.def_op(value).is_some());
        let share = if fusible { self.fused_share } else { 1.0 };
        let (kind, counts) = Sizes { module, symbol: self.symbol_size }.counts(op);
        factor * share * self.time(kind, &counts)
    }

    /// Estimates what `op`, a bias or a function of each element, costs as a part of `product`: its
    /// arithmetic.
    pub fn seconds_behind(&self, module: &Module, product: Op, op: Op) -> f64 {
        let sizes = Sizes { module, symbol: self.symbol_size };
        let (kind, _) = sizes.counts(product);
        let (_, counts) = sizes.counts(op);
        let per = |amount: f64, kind| self.flops_of(kind).map_or(0.0, |rate| amount / rate);
        per(sizes.outputs(op), kind) + per(counts.functions, Kind::Transcendental)
    }

    /// Estimates the seconds that one run of all operations of `module` takes.
    pub fn total(&self, module: &Module) -> f64 {
        let ops = walk(module, module.root(), Order::Pre).into_iter();
        ops.map(|op| self.seconds(module, op)).sum()
    }

    /// The bytes of a tensor, of which an extent that is a symbol has the size that it is taken for.
    pub fn bytes_of(&self, module: &Module, value: Value) -> f64 {
        Sizes { module, symbol: self.symbol_size }.bytes(value)
    }

    fn flops_of(&self, kind: Kind) -> Option<f64> {
        match self.kinds.get(&kind) {
            Some(rates) => rates.flops_per_second,
            None if matches!(kind, Kind::Convolution | Kind::Product) => {
                Some(self.flops_per_second)
            }
            None => Some(self.scalar_flops_per_second),
        }
    }

    fn time(&self, kind: Kind, counts: &Counts) -> f64 {
        let per = |amount: f64, rate: Option<f64>| rate.map_or(0.0, |rate| amount / rate);
        // What takes many instructions has a rate of its own.
        let plain = counts.flops - counts.functions;
        let arithmetic = match kind {
            Kind::Transcendental => {
                per(counts.functions, self.flops_of(kind))
                    + per(plain, self.flops_of(Kind::ElementWise))
            }
            _ => per(counts.flops, self.flops_of(kind)),
        };
        match self.kinds.get(&kind) {
            None => self.launch_seconds + arithmetic.max(counts.bytes / self.bytes_per_second),
            Some(rates) => {
                let traffic = per(counts.bytes, rates.bytes_per_second)
                    + per(counts.unfolded, rates.unfolded_bytes_per_second);
                rates.start_seconds + counts.parts * rates.part_seconds + arithmetic + traffic
            }
        }
    }
}

/// The estimated cost of all operations of `module`.
pub fn estimate(module: &Module) -> Cost {
    let (mut flops, mut bytes, mut launches) = (0.0, 0.0, 0);
    let mut known = true;
    let sizes = Sizes { module, symbol: SYMBOL_SIZE };
    for op in walk(module, module.root(), Order::Pre) {
        let name = module.name_text(op);
        if !is_silent(name) {
            let (_, counts) = sizes.counts(op);
            launches += 1;
            flops += counts.flops;
            bytes += counts.bytes;
            known &= module.operands(op).chain(module.results(op)).all(|v| is_sized(module, v));
        }
    }
    let told = |number| known.then_some(number);
    Cost { flops: told(flops), bytes: told(bytes), launches }
}

/// The arithmetic operations of `op` and the bytes that it moves, symbols taken to be small; `None`
/// where an extent is not known, and for what takes nothing.
pub fn of_op(module: &Module, op: Op) -> Option<(f64, f64)> {
    let mut values = module.operands(op).chain(module.results(op));
    if is_silent(module.name_text(op)) || !values.all(|value| is_sized(module, value)) {
        return None;
    }
    let (_, counts) = Sizes { module, symbol: SYMBOL_SIZE }.counts(op);
    Some((counts.flops, counts.bytes))
}

/// Returns whether each extent of a tensor is a number or an expression over symbols.
fn is_sized(module: &Module, value: Value) -> bool {
    let context = module.context();
    let ty = module.value_type(value);
    match context.as_tensor(ty) {
        Some((extents, _)) => extents.iter().all(|&extent| dims::expr(context, extent).is_some()),
        // A tensor of unknown rank; what is no tensor has no extents.
        None => context.element_type(ty).is_none(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_model_is_right() {
        let model = CostModel::from_json(DEFAULT).expect("it reads");
        assert!(model.kinds.contains_key(&Kind::Convolution), "{:?}", model.kinds);
    }

    #[test]
    fn rates_and_times_are_checked() {
        let wrong = DEFAULT.replace("\"launch_seconds\": ", "\"launch_seconds\": -");
        let error = CostModel::from_json(&wrong).expect_err("a negative time").to_string();
        assert_eq!(error, "the cost model's `launch_seconds` has to be a number of at least 0");
        let text = |kinds: &str| {
            format!(
                "{{\"name\": \"\", \"flops_per_second\": 1, \"scalar_flops_per_second\": 1, \
                 \"bytes_per_second\": 1, \"launch_seconds\": 0, \"kinds\": {{{kinds}}}}}"
            )
        };
        let zero = CostModel::from_json(&text("\"split\": {\"bytes_per_second\": 0}"));
        assert!(matches!(zero, Err(CostError::Rate(name)) if name == "kinds: Split"));
        let early = CostModel::from_json(&text("\"split\": {\"start_seconds\": -1}"));
        assert!(matches!(early, Err(CostError::Negative(name)) if name == "kinds: Split"));
        assert!(CostModel::from_json(&text("\"no-kind\": {}")).is_err());
        assert!(CostModel::from_json("{\"speed\": 1}").is_err());
    }

    #[test]
    fn rates_add_up_and_the_roofline_takes_the_longer() {
        let text = r#"{"name": "", "flops_per_second": 10, "scalar_flops_per_second": 5,
            "bytes_per_second": 2, "launch_seconds": 1, "kinds": {"convolution": {
            "start_seconds": 1, "part_seconds": 2, "flops_per_second": 4, "bytes_per_second": 8,
            "unfolded_bytes_per_second": 16}}}"#;
        let model = CostModel::from_json(text).expect("it reads");
        let counts =
            Counts { flops: 40.0, functions: 0.0, bytes: 16.0, parts: 3.0, unfolded: 32.0 };
        assert_eq!(model.time(Kind::Convolution, &counts), 1.0 + 6.0 + 10.0 + 2.0 + 2.0);
        assert_eq!(model.time(Kind::Product, &counts), 1.0 + 8.0);
        assert_eq!(model.time(Kind::ElementWise, &Counts { flops: 60.0, ..counts }), 1.0 + 12.0);
    }
}
