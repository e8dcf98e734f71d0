//! What the conditions of a rule say about the instances that are worth trying.
//!
//! Random attributes rarely satisfy `c.strides == d.strides` or `x.ndim == 3`. Every comparison
//! of an attribute in a rule is therefore a hint: the value on the other side is tried often.

use fastrand::Rng;
use rustc_hash::FxHashMap;
use tangram_dialects::nn::{self, Numbers, sample};
use tangram_tensor::DType;

use crate::ast::{BinaryOp, ExprId, ExprKind, NativeArg, OpChoice, PatId, PatternKind, Rule};

/// The values that a rule compares attributes with.
#[derive(Clone, Debug, Default)]
pub(super) struct Hints {
    values: FxHashMap<(PatId, String), Vec<ExprId>>,
    fields: FxHashMap<(PatId, String, usize), Vec<ExprId>>,
    mentioned: FxHashMap<(PatId, String), ()>,
    ranks: FxHashMap<PatId, usize>,
    /// Patterns whose elements the rule reads.
    pinned: Vec<PatId>,
    types: Vec<String>,
    /// The rule has an operation that quantises or reads what is quantised.
    quantised: bool,
    /// How many operations of the rule say to which type they cast.
    casts: usize,
    /// The numbers that the rule names, and 0 and 1, about which attributes may change what it does.
    numbers: Vec<f64>,
    /// Extents about which the rule may change what it does: its numbers, and how many places the
    /// integers that it names can tell apart.
    lengths: Vec<usize>,
}

/// The greatest extent that is tried because a rule has a number.
const LONGEST: u64 = 300;

impl Hints {
    pub(super) fn new(rule: &Rule) -> Hints {
        let mut hints = Hints { numbers: vec![0.0, 1.0], ..Hints::default() };
        for (_, expr) in rule.exprs() {
            hints.expression(rule, &expr.kind);
        }
        for (_, pattern) in rule.patterns() {
            hints.pattern(rule, &pattern.kind);
        }
        hints
    }

    /// What attribute `name` of a pattern is compared with.
    pub(super) fn values(&self, pattern: PatId, name: &str) -> &[ExprId] {
        self.values.get(&(pattern, name.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// What field `index` of attribute `name` is compared with.
    pub(super) fn fields(&self, pattern: PatId, name: &str, index: usize) -> &[ExprId] {
        self.fields.get(&(pattern, name.to_owned(), index)).map_or(&[], Vec::as_slice)
    }

    /// Whether the rule reads an attribute, so that it should be there.
    pub(super) fn mentions(&self, pattern: PatId, name: &str) -> bool {
        self.mentioned.contains_key(&(pattern, name.to_owned()))
    }

    /// The rank that the users of a pattern need.
    pub(super) fn rank(&self, pattern: PatId) -> Option<usize> {
        self.ranks.get(&pattern).copied()
    }

    /// Whether the rule depends on the elements of a constant.
    pub(super) fn is_pinned(&self, pattern: PatId) -> bool {
        self.pinned.contains(&pattern)
    }

    /// The element types that the rule names.
    pub(super) fn types(&self) -> &[String] {
        &self.types
    }

    /// Whether what the rule is about is numbers with a scale.
    pub(super) fn is_quantised(&self) -> bool {
        self.quantised
    }

    /// How many operations cast.
    pub(super) fn casts(&self) -> usize {
        self.casts
    }

    /// Extents at which the rule may change what it does, and those next to them.
    pub(super) fn length(&self, rng: &mut Rng) -> Option<usize> {
        let length = *rng.choice(&self.lengths)?;
        Some((length + rng.usize(0..=2)).saturating_sub(1))
    }

    /// A number at which the rule may change what it does, next to one, beyond one, or between two.
    pub(super) fn near_number(&self, rng: &mut Rng) -> Option<f64> {
        let (number, other) = (*rng.choice(&self.numbers)?, *rng.choice(&self.numbers)?);
        Some(match rng.u8(0..6) {
            0 => number,
            1 => f64::from((number as f32).next_up()),
            2 => f64::from((number as f32).next_down()),
            3 => number * 2.0 + 1.0,
            4 => number / 2.0,
            _ => number / 2.0 + other / 2.0,
        })
    }

    fn expression(&mut self, rule: &Rule, kind: &ExprKind) {
        match kind {
            ExprKind::Float(number) if number.get().is_finite() => self.numbers.push(number.get()),
            ExprKind::Int(number) if number.unsigned_abs() < LONGEST => {
                self.numbers.push(*number as f64);
                // What is less comes up by itself.
                if number.unsigned_abs() >= 6 {
                    self.lengths.push(number.unsigned_abs() as usize);
                }
            }
            ExprKind::Str(name) if name == "int8" => self.lengths.extend(places(7)),
            ExprKind::Str(name) if name == "uint8" => self.lengths.extend(places(8)),
            ExprKind::Access { pattern, attribute } => {
                self.mentioned.insert((*pattern, attribute.clone()), ());
                if attribute == "value" {
                    self.pinned.push(*pattern);
                }
            }
            ExprKind::Binary { op, lhs, rhs } if is_comparison(*op) => {
                self.compared(rule, *lhs, *rhs);
                self.compared(rule, *rhs, *lhs);
            }
            ExprKind::In { value, tuple } => {
                if let ExprKind::Tuple(fields) = &rule.expr(*tuple).kind {
                    fields.iter().for_each(|f| self.compared(rule, *value, *f));
                }
            }
            ExprKind::Native { args, .. } => {
                let patterns = args.iter().filter_map(|arg| match arg {
                    NativeArg::Pattern(id) => Some(*id),
                    NativeArg::Expr(_) => None,
                });
                self.pinned.extend(patterns);
            }
            _ => {}
        }
    }

    fn compared(&mut self, rule: &Rule, subject: ExprId, value: ExprId) {
        if let ExprKind::Str(text) = &rule.expr(value).kind
            && DType::ALL.iter().any(|dtype| dtype.name() == text)
        {
            self.types.push(text.clone());
        }
        match &rule.expr(subject).kind {
            ExprKind::Access { pattern, attribute } => {
                let key = (*pattern, attribute.clone());
                self.values.entry(key).or_default().push(value);
            }
            ExprKind::Proj { tuple, index } => {
                let ExprKind::Access { pattern, attribute } = &rule.expr(*tuple).kind else {
                    return;
                };
                let ExprKind::Int(index) = rule.expr(*index).kind else { return };
                let Ok(index) = usize::try_from(index) else { return };
                let key = (*pattern, attribute.clone(), index);
                self.fields.entry(key).or_default().push(value);
            }
            _ => {}
        }
    }

    fn pattern(&mut self, rule: &Rule, kind: &PatternKind) {
        let PatternKind::Call { op, args, attrs, .. } = kind else { return };
        let name = match &rule.op(*op).choice {
            OpChoice::Name(name) => name,
            OpChoice::OneOf(_) | OpChoice::Trait(_) => return,
        };
        let said = attrs.iter().map(|field| &rule.expr(field.value).kind);
        let counts = said.filter(|kind| matches!(kind, ExprKind::Str(name) if name == "bfloat16"));
        self.lengths.extend(counts.flat_map(|_| places(8)));
        let Some(entry) = nn::entry(&format!("nn.{}", name.trim_start_matches("nn."))) else {
            return;
        };
        let def = &entry.def;
        self.quantised |= sample::is_quantised(def);
        let casts = entry.numbers.contains(Numbers::CONVERTS) && def.attr("dtype").is_some();
        self.casts += usize::from(casts);
        for (i, arg) in args.iter().enumerate() {
            if let Some(rank) = (entry.sample.rank)(def, i) {
                self.ranks.insert(*arg, rank);
            }
        }
    }
}

/// Every other time `float64`; else a type that the rule names, or all types in turn.
///
/// What is quantised is no polynomial, for which `float64` is; it goes wrong in narrow types.
pub(super) fn element_type(rng: &mut Rng, attempt: usize, hints: &Hints) -> DType {
    const SCALED: [DType; 4] = [DType::F32, DType::F16, DType::BF16, DType::F64];
    const TYPES: [DType; 12] = [
        DType::F32,
        DType::I64,
        DType::F16,
        DType::I32,
        DType::I8,
        DType::F32,
        DType::BF16,
        DType::U8,
        DType::Bool,
        DType::I16,
        DType::F16,
        DType::U64,
    ];
    let named = rng
        .choice(hints.types())
        .and_then(|name| DType::ALL.into_iter().find(|d| d.name() == name));
    match (attempt % 2, attempt % 6, named) {
        (_, 1 | 2, Some(dtype)) => dtype,
        _ if hints.is_quantised() => SCALED[attempt % SCALED.len()],
        (0, ..) => DType::F64,
        _ => TYPES[attempt / 2 % TYPES.len()],
    }
}

/// As many places as numbers of so many bits count, and some more.
fn places(bits: u32) -> [usize; 2] {
    [1 << bits, (1 << bits) + 40]
}

fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge)
}
