//! The dialect `toy`: negation, addition and zero, on integers of any width.

use std::sync::Arc;

use tangram_ir::{
    Arity, AttrData, Context, Module, Name, Op, OpDef, OpState, OperandDef, Order, Point,
    ResultDef, Traits, Value, walk,
};
use tangram_passes::{Pass, PassCx, PassError, PassOptions, Registration};
use tangram_rewrite::conversion::ConversionTarget;
use tangram_rewrite::{
    FnPattern, MatchThenRewrite, NoMatch, PatternSet, RewritePattern, Rewriter, Roots, Split,
    create,
};

const X: OperandDef = OperandDef { name: "x", arity: Arity::One, doc: "a number" };
const Y: OperandDef = OperandDef { name: "y", arity: Arity::One, doc: "a number" };
const RESULT: &[ResultDef] = &[ResultDef { name: "result", arity: Arity::One, doc: "a number" }];

const fn operation(name: &'static str, operands: &'static [OperandDef]) -> OpDef {
    OpDef { operands, results: RESULT, traits: Traits::PURE, ..OpDef::new(name, "arithmetic") }
}

/// The operations of the dialect.
pub static OPERATIONS: &[OpDef] = &[
    operation("toy.zero", &[]),
    operation("toy.neg", &[X]),
    OpDef { traits: Traits::PURE.union(Traits::COMMUTATIVE), ..operation("toy.add", &[X, Y]) },
];

/// The pass `toy-simplify`: three patterns, with options to switch them off.
pub fn simplify() -> Registration {
    Registration::of_patterns("toy-simplify", "simplifies arithmetic of `toy`", patterns)
}

fn patterns(context: &Arc<Context>) -> Vec<Box<dyn RewritePattern>> {
    let [neg, add] = ["toy.neg", "toy.add"].map(|name| context.name(name));
    let double = FnPattern::new("double-negation", Roots::Names(vec![neg]), double_negation)
        .with_depth(2)
        .with_label("toy-negations");
    let opposite = FnPattern::new("add-opposite", Roots::Names(vec![add]), add_opposite)
        .with_depth(2)
        .with_label("toy-negations");
    vec![create(double), create(opposite), create(Split(AddZero { add }))]
}

/// The operation called `name` that makes `value`.
fn made_by(module: &Module, value: Value, name: &str) -> Option<Op> {
    module.def_op(value).filter(|&op| module.name_text(op) == name)
}

/// `-(-x)` is `x`.
fn double_negation(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let Some(inner) = made_by(module, module.operand(op, 0), "toy.neg") else {
        return Err(rewriter.no_match(|| "the operand is no negation".to_owned()));
    };
    let x = module.operand(inner, 0);
    rewriter.replace(op, &[x]).map_err(|error| NoMatch::because(error.message))
}

/// `x + -x` is 0.
fn add_opposite(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let [x, y] = [module.operand(op, 0), module.operand(op, 1)];
    let opposite = |value: Value, of: Value| {
        made_by(module, value, "toy.neg").is_some_and(|neg| module.operand(neg, 0) == of)
    };
    if !opposite(x, y) && !opposite(y, x) {
        return Err(rewriter.no_match(|| "no operand is the other's opposite".to_owned()));
    }
    let mut zero = OpState::new(module.context().name("toy.zero"), module.loc(op));
    zero.results.push(module.value_type(x));
    rewriter.replace_with(op, zero).map_err(|error| NoMatch::because(error.message))?;
    Ok(())
}

/// `x + 0` is `x`: in two steps, of which the first cannot change anything.
struct AddZero {
    add: Name,
}

impl MatchThenRewrite for AddZero {
    /// What is left.
    type Found = Value;

    fn name(&self) -> &'static str {
        "add-zero"
    }

    fn roots(&self) -> Roots {
        Roots::Names(vec![self.add])
    }

    fn depth(&self) -> u32 {
        2
    }

    fn matches(&self, module: &Module, op: Op) -> Result<Value, NoMatch> {
        let [x, y] = [module.operand(op, 0), module.operand(op, 1)];
        match (made_by(module, x, "toy.zero"), made_by(module, y, "toy.zero")) {
            (_, Some(_)) => Ok(x),
            (Some(_), None) => Ok(y),
            (None, None) => Err(NoMatch::SILENT),
        }
    }

    fn reason(&self, _: &Module, _: Op) -> Option<String> {
        Some("no operand is zero".to_owned())
    }

    fn rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op, left: Value) {
        rewriter.replace_op_uses(op, &[left]);
        rewriter.erase(op);
    }
}

/// The pass `toy-to-arith`: a conversion to MLIR's dialect `arith`.
pub fn to_arith() -> Registration {
    Registration::of_conversion("toy-to-arith", "makes `arith` of `toy`", |context| {
        let mut target = ConversionTarget::new();
        target.illegal_dialect(context, "toy").legal_dialect(context, "arith");
        let mut set = PatternSet::new();
        let root = |name: &str| Roots::Names(vec![context.name(name)]);
        set.add(FnPattern::new("lower-add", root("toy.add"), lower_add));
        set.add(FnPattern::new("lower-neg", root("toy.neg"), lower_neg));
        set.add(FnPattern::new("lower-zero", root("toy.zero"), |rewriter, op| {
            let zero = zero(rewriter, op);
            rewriter.replace(op, &[zero]).map_err(|error| NoMatch::because(error.message))
        }));
        (target, set)
    })
}

/// An `arith.constant` of the type of `op`, before it.
fn zero(rewriter: &mut Rewriter<'_>, op: Op) -> Value {
    let module = rewriter.module();
    let context = module.context();
    let ty = module.value_type(module.result(op, 0));
    let mut state = OpState::new(context.name("arith.constant"), module.loc(op));
    let zero = context.attr(AttrData::Integer { value: 0, ty });
    state.attrs = context.dict([(context.str("value"), zero)]);
    state.results.push(ty);
    let made = rewriter.create(Point::Before(op), state);
    rewriter.module().result(made, 0)
}

/// Puts an operation of `arith` on these operands in the place of `op`.
fn lower(
    rewriter: &mut Rewriter<'_>,
    op: Op,
    name: &str,
    operands: [Value; 2],
) -> Result<(), NoMatch> {
    let module = rewriter.module();
    let mut state = OpState::new(module.context().name(name), module.loc(op));
    state.operands.extend(operands);
    state.results.push(module.value_type(operands[0]));
    rewriter.replace_with(op, state).map_err(|error| NoMatch::because(error.message))?;
    Ok(())
}

fn lower_add(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let operands = [0, 1].map(|i| rewriter.module().operand(op, i));
    lower(rewriter, op, "arith.addi", operands)
}

fn lower_neg(rewriter: &mut Rewriter<'_>, op: Op) -> Result<(), NoMatch> {
    let operands = [zero(rewriter, op), rewriter.module().operand(op, 0)];
    lower(rewriter, op, "arith.subi", operands)
}

/// The pass `toy-measure`: writes on what it runs on how many operations of a dialect it holds.
pub fn measure() -> Registration {
    Registration::new("toy-measure", "counts operations of a dialect", |options: &PassOptions| {
        Ok(Box::new(Measure { dialect: options.get("dialect", "toy".to_owned())? }))
    })
    .with_option("dialect", "the dialect whose operations count; `toy`")
}

struct Measure {
    dialect: String,
}

impl Pass for Measure {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let all = walk(cx.module, cx.root, Order::Pre);
        let counted = |op: &Op| cx.module.name_text(*op).starts_with(&format!("{}.", self.dialect));
        let n = all.into_iter().filter(counted).count();
        cx.count("operations", n as u64);
        let context = cx.module.context_arc().clone();
        let (key, n) = (context.str("toy.operations"), context.i64_attr(n as i64));
        cx.module.set_attr(cx.root, key, Some(n));
        Ok(())
    }
}
