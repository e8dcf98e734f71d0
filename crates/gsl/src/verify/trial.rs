//! One instance: matched, rewritten, both programs evaluated and compared.

use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

use fastrand::Rng;
use rustc_hash::{FxHashMap, FxHasher};
use tangram_dialects::field::{self, Element};
use tangram_dialects::interpret::Datum;
use tangram_dialects::{budget, constant, dtype, nn};
use tangram_ir::{Module, Op, Value};
use tangram_rewrite::{Rewriter, Silent};
use tangram_tensor::{DType, Tensor};

use super::branches::{self, Conditional};
use super::compare::{Difference, Gap, Judge};
use super::inputs::{Known, has_floats, inputs, widen};
use super::instance::Instance;
use super::nudge;
use super::real;
use super::trace::{converts, is_smooth, rounds, trace};
use super::values::{self, Profile};
use super::verdict::{Counterexample, Leaf};
use super::wide;
use crate::ast::{PatId, Rule};
use crate::mapping::NO_CHANGE;
use crate::matching::{Match, from_attr, show, type_text};
use crate::rules::{CompiledRule, Natives};

/// What became of an instance.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The target is the source, by these branches of its conditionals.
    Unchanged(Vec<(Conditional, usize, usize)>),
    /// The source could not be evaluated on it, or is not defined.
    Void,
    /// The rewrite is refused.
    Refused { code: &'static str, why: String },
    /// Compared, and nothing differs but as a promise may allow.
    Compared(Compared),
    /// Not equal.
    Different(Counterexample),
}

/// What the evaluation of an instance showed.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// The greatest difference.
    pub(super) gap: Gap,
    /// The greatest one where inputs and constants are finite numbers.
    pub(super) finite: Gap,
    /// Where it is, if there is one.
    pub(super) counterexample: Option<Counterexample>,
    /// Equal over the field, as polynomials of at most this degree.
    pub(super) field: Option<u32>,
    /// The numbers on which both sides were evaluated.
    pub(super) profiles: Vec<Profile>,
    /// The branches that the rewrite took.
    pub(super) branches: Vec<(Conditional, usize, usize)>,
    /// The element types of all values.
    pub(super) exact: bool,
    /// No result has an element.
    pub(super) empty: bool,
}

/// The same instance in `float64`, made where it is needed.
pub(super) type Wider<'a> = &'a dyn Fn() -> Option<Instance>;

/// Source and target of an instance.
struct Both {
    source: Module,
    target: Module,
    /// How far the rule says that results may be apart beside rounding.
    tolerance: f64,
    /// A constant of the model is no finite number.
    special: bool,
    /// Constants were rounded to a narrower type before.
    rounded: bool,
}

/// Where a rule matches: the root, and what was found there.
pub(super) type Site = (Op, Match);

/// Rewrites, evaluates and compares.
pub(super) fn try_instance(
    rule: &CompiledRule,
    natives: &Natives,
    made: Instance,
    (root, found): Site,
    wider: Wider<'_>,
    rng: &mut Rng,
) -> Outcome {
    let Instance { module: source, free, leaves, bound, base, .. } = made;
    let branches = branches::taken(rule, natives, &source, &found);
    let mut target = source.clone();
    match apply(rule, &mut target, root, &found) {
        Err(diagnostic) if diagnostic.code == NO_CHANGE => return Outcome::Unchanged(branches),
        Err(diagnostic) => {
            // Types are inferred for some programs that no kernel takes.
            let inputs = inputs(&source, base, Profile::Small, &Known::default(), rng);
            if inputs.is_none_or(|inputs| real::run(&source, &inputs).is_err()) {
                return Outcome::Void;
            }
            return Outcome::Refused { code: diagnostic.code, why: diagnostic.message };
        }
        Ok(()) => {}
    }
    let (tolerance, special) = (rule.rule().tolerance(), !all_finite(&source, &free));
    let both = Both { source, target, tolerance, special, rounded: false };
    let mut out =
        Compared { branches, field: field_degree(&both, &free, rng), ..Compared::default() };
    out.exact = out.field.is_none() && real::is_exact(&both.source) && real::is_exact(&both.target);
    let leaves = with_elements(&both.source, leaves);
    let known = Known::of([&both.source, &both.target]);
    let wide = OnceCell::new();
    let wide = || wide.get_or_init(|| widened(rule, wider()).or_else(|| both.widened())).as_ref();
    out.empty = has_no_elements(&both.source);
    // Where a constant is no number, what overflows besides says nothing new.
    let runs = values::RUNS.into_iter().filter(|run| !both.special || *run != Profile::Limits);
    for profile in runs {
        let Some(inputs) = inputs(&both.source, base, profile, &known, rng) else { continue };
        let difference = match both.run(profile, &inputs, &wide) {
            Run::Void => continue,
            Run::Equal => None,
            Run::Different(difference) => Some(difference),
        };
        out.profiles.push(profile);
        let Some(difference) = difference else { continue };
        let shown = || {
            let matched = matched(rule.rule(), &both.source, &bound);
            different(&both.source, &leaves, &inputs, matched, difference.text.clone())
        };
        if let Some(gap) = difference.gap.filter(|gap| *gap != Gap::Special) {
            out.finite = out.finite.max(gap);
        }
        match difference.gap {
            None => return Outcome::Different(shown()),
            Some(gap) if gap > out.gap => {
                out.gap = gap;
                out.counterexample = Some(shown());
            }
            Some(_) => {}
        }
    }
    if out.profiles.is_empty() { Outcome::Void } else { Outcome::Compared(out) }
}

/// Whether an instance can be evaluated on small numbers.
pub(super) fn is_evaluated(made: &Instance, rng: &mut Rng) -> bool {
    [Profile::Small, Profile::Positive].into_iter().any(|profile| {
        inputs(&made.module, made.base, profile, &Known::default(), rng)
            .is_some_and(|inputs| real::run(&made.module, &inputs).is_ok())
    })
}

/// Estimates the steps that trying an instance takes: both programs on all kinds of numbers, and
/// over the field.
pub(super) fn work(made: &Instance) -> u64 {
    let module = &made.module;
    let ops = module.ops(module.body());
    let once = ops.map(|op| budget::work(module, op)).fold(0, u64::saturating_add);
    once.saturating_mul(2 * values::RUNS.len() as u64 + 4)
}

/// Whether all of these constants are finite numbers.
pub(super) fn all_finite(module: &Module, constants: &[Value]) -> bool {
    let finite = |value: &Value| {
        let elements = constant::constant_tensor(module, *value).and_then(|t| t.f64s().ok());
        elements.is_none_or(|elements| elements.iter().all(|x| x.is_finite()))
    };
    constants.iter().all(finite)
}

/// The first place where a rule matches.
pub(super) fn find(rule: &CompiledRule, module: &Module) -> Option<Site> {
    module.ops(module.body()).find_map(|op| Some((op, rule.find(module, op)?)))
}

fn apply(
    rule: &CompiledRule,
    module: &mut Module,
    root: Op,
    found: &Match,
) -> Result<(), tangram_ir::Diagnostic> {
    let mut listener = Silent;
    let mut rewriter = Rewriter::new(module, &mut listener);
    rule.apply(&mut rewriter, root, found)
}

/// The same instance in a wider type, before and after the rewrite.
fn widened(rule: &CompiledRule, made: Option<Instance>) -> Option<Both> {
    let made = made?;
    let (root, found) = find(rule, &made.module)?;
    let mut target = made.module.clone();
    apply(rule, &mut target, root, &found).ok()?;
    Some(Both { source: made.module, target, tolerance: 0.0, special: false, rounded: false })
}

/// What came of running both programs on the same inputs.
enum Run {
    /// The source has no value there, or the standard does not say which.
    Void,
    Equal,
    Different(Difference),
}

/// Whether a value of a program has no elements. There an operation may say that it takes no such
/// operand, as attention without heads.
pub(super) fn has_empty_value(module: &Module) -> bool {
    let is_empty = |value: Value| {
        let shape = constant::static_tensor(module.context(), module.value_type(value));
        shape.is_some_and(|(_, shape)| shape.contains(&0))
    };
    let body = module.body();
    let results = module.ops(body).flat_map(|op| module.results(op));
    module.args(body).iter().copied().chain(results).any(is_empty)
}

/// Whether no result of a program has an element.
fn has_no_elements(module: &Module) -> bool {
    let results = module.last_op(module.body()).into_iter().flat_map(|op| module.operands(op));
    let empty = |value: Value| {
        let shape = constant::static_tensor(module.context(), module.value_type(value));
        shape.is_some_and(|(_, shape)| shape.contains(&0))
    };
    let mut results = results.peekable();
    results.peek().is_some() && results.all(empty)
}

impl Both {
    /// Both programs in `float64`, as they are: for rules that are meant for narrower types only.
    fn widened(&self) -> Option<Both> {
        let (source, target) = (wide::module(&self.source)?, wide::module(&self.target)?);
        Some(Both { source, target, tolerance: 0.0, special: false, rounded: true })
    }

    /// Whether all fractions are in `float64`.
    fn is_wide(&self) -> bool {
        [&self.source, &self.target].into_iter().all(|module| {
            module.ops(module.body()).flat_map(|op| module.results(op)).all(|value| {
                let element = module.context().element_type(module.value_type(value));
                let dtype = element.and_then(|e| dtype::dtype_of(module.context(), e));
                dtype.is_none_or(|dtype| !dtype.is_float() || dtype == DType::F64)
            })
        })
    }

    fn run<'w>(
        &self,
        profile: Profile,
        inputs: &[Datum],
        wide: &dyn Fn() -> Option<&'w Both>,
    ) -> Run {
        let Ok(expected) = real::run(&self.source, inputs) else { return Run::Void };
        let seen = || trace(&self.source, inputs).unwrap_or_default();
        let found = match real::run(&self.target, inputs) {
            Ok(found) => found,
            Err(real::Failure::Unsupported) => return Run::Void,
            Err(real::Failure::Refused) if seen().undefined || has_empty_value(&self.source) => {
                return Run::Void;
            }
            Err(real::Failure::Refused) => {
                let text = "the source can be evaluated, the target cannot".to_owned();
                return Run::Different(Difference { gap: None, text });
            }
        };
        let judge = Judge {
            // What a model fixes is judged as what it is given. No integer is none.
            profile: match profile {
                _ if self.special => Profile::Special,
                Profile::Limits | Profile::Special if !has_floats(inputs) => Profile::Roots,
                profile => profile,
            },
            trace: &|| seen().with(trace(&self.target, inputs).unwrap_or_default()),
            wide: &|| {
                let (wide, inputs) = (wide()?, widen(inputs)?);
                // Some rules go through narrow types whatever the inputs are.
                if !wide.is_wide() {
                    return None;
                }
                let source = real::run(&wide.source, &inputs).ok()?;
                Some((source, real::run(&wide.target, &inputs).ok()?))
            },
            nudged: &|| {
                let inputs = widen(inputs).unwrap_or_default();
                match wide() {
                    Some(wide) if wide.rounded => [&self.source, &self.target]
                        .map(|module| nudge::runs_rounded(module, &inputs)),
                    wide => {
                        let both = wide.unwrap_or(self);
                        [&both.source, &both.target].map(|module| nudge::runs(module, &inputs))
                    }
                }
            },
            smooth: is_smooth(&self.source) && is_smooth(&self.target),
            rounds: rounds(&self.source) || rounds(&self.target),
            converts: converts(&self.source) || converts(&self.target),
            tolerance: self.tolerance,
        };
        match judge.compare(&expected, &found) {
            Some(_) if seen().undefined => Run::Void,
            Some(difference) => Run::Different(difference),
            None if self.loses_meaning(profile, inputs) => {
                let gap = match profile {
                    // No integer is no number.
                    Profile::Special if has_floats(inputs) => Some(Gap::Special),
                    Profile::Limits | Profile::Special => Some(Gap::Range),
                    _ => None,
                };
                let text = "the standard says what the source gives, and leaves the target open";
                Run::Different(Difference { gap, text: text.to_owned() })
            }
            None => Run::Equal,
        }
    }

    /// Whether the standard leaves open what the target gives, where it does not for the source:
    /// that both give the same here says nothing of other machines.
    fn loses_meaning(&self, profile: Profile, inputs: &[Datum]) -> bool {
        let open = |module: &Module| trace(module, inputs).is_some_and(|seen| seen.undefined);
        // Some constants are no numbers, and a rule may promise nothing for these.
        let ordinary = !self.special || profile == Profile::Special;
        ordinary && nn::may_be_open(&self.target) && open(&self.target) && !open(&self.source)
    }
}

/// The degree, if both programs are the same functions over the field.
fn field_degree(both: &Both, free: &[Value], rng: &mut Rng) -> Option<u32> {
    let values = field_values(&both.source, free, rng)?;
    let before = field::run(&both.source, &values)?;
    let after = field::run(&both.target, &values)?;
    equal_over_field(&before, &after)
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
            DType::F64 => Element::random(&shape, |below| rng.u64(0..below))?,
            // Integers are looked at as they are, one assignment at a time.
            _ => Element::fixed(&values::tensor(dtype, &shape, Profile::Positive, &[], rng)?)?,
        };
        values.insert(value, element);
    }
    let floats = values.values().any(|element| element.tensor.dtype() == DType::F64);
    floats.then_some(values)
}

/// What makes an instance another one than those that were tried: operations, types, attributes,
/// but not the elements of constants.
pub(super) fn hash(made: &Instance) -> u64 {
    let module = &made.module;
    let mut hasher = FxHasher::default();
    let mut numbers = FxHashMap::default();
    for &value in module.args(module.body()) {
        numbers.insert(value, numbers.len());
        module.value_type(value).hash(&mut hasher);
    }
    let last = module.last_op(module.body());
    for op in module.ops(module.body()).take_while(|op| Some(*op) != last) {
        module.name(op).hash(&mut hasher);
        for operand in module.operands(op) {
            numbers.get(&operand).hash(&mut hasher);
        }
        for (name, attr) in module.context().entries(module.attrs(op)) {
            if module.context().text(*name) != "value" {
                (name, attr).hash(&mut hasher);
            }
        }
        for result in module.results(op) {
            numbers.insert(result, numbers.len());
            module.value_type(result).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// What values are called where programs are shown: `x0` an input, `v1` a result.
fn names(module: &Module) -> FxHashMap<Value, String> {
    let mut names = FxHashMap::default();
    for (i, value) in module.args(module.body()).iter().enumerate() {
        names.insert(*value, format!("x{i}"));
    }
    for (i, op) in module.ops(module.body()).enumerate() {
        for (j, value) in module.results(op).enumerate() {
            let name = if j == 0 { format!("v{i}") } else { format!("v{i}[{j}]") };
            names.insert(value, name);
        }
    }
    names
}

/// The operations of a program, one a line, with numbers for values.
pub(super) fn lines(module: &Module) -> Vec<String> {
    let names = names(module);
    let last = module.last_op(module.body());
    let ops = module.ops(module.body()).enumerate().take_while(|(_, op)| Some(*op) != last);
    let line = |(i, op): (usize, Op)| {
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
        let (operands, attrs, types) = (operands.join(", "), attrs.join(", "), types.join(", "));
        format!("v{i} = {name}({operands}) {{{attrs}}}: {types}")
    };
    ops.map(line).collect()
}

/// Which value each named pattern matched.
fn matched(rule: &Rule, module: &Module, bound: &[(PatId, Value)]) -> Vec<String> {
    let names = names(module);
    let one = |(id, value): &(PatId, Value)| {
        Some(format!("{} = {}", rule.pattern(*id).name.as_ref()?, names.get(value)?))
    };
    bound.iter().filter_map(one).collect()
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
    matched: Vec<String>,
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
    Counterexample { leaves: out, matched, source: lines(module), difference, size }
}
