//! Definitions of operators of a caller's: what one computes, as a rule says it.
//!
//! ```text
//! rule scaled-tanh [definition] {
//!   let x = *;
//!   let s = acme.ScaledTanh(x);
//!   match s;
//!   attr alpha = if native absent(s, "alpha") then 1.0 else s.alpha;
//!   rewrite tanh(x) * const(splat alpha);
//! }
//! ```
//!
//! A rule with the label `definition` is never applied to a model. Where an operation of the
//! operator is typed or evaluated, its target is made beside it, in a program of its own.

mod among;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tangram_dialects::eval::{EvalCx, EvalError, Evaluated, is_order_open};
use tangram_dialects::interpret::{Datum, interpret};
use tangram_dialects::{budget, constant, defined};
use tangram_ir::{
    Attr, AttrKind, Context, InferCx, InferError, Inferred, Loc, Module, Name, Op, OpState, Point,
    Traits, Type, TypeData, Value,
};
use tangram_rewrite::{Rewriter, Silent};
use tangram_tensor::{DType, Tensor};

use crate::ast::{ExprId, ExprKind, NativeArg, OpChoice, PatId, PatternKind, Reference, Rule};
use crate::rules::{CompiledRule, Natives, Options, UnknownExtents};

pub use among::conflicts;

/// The label of a rule that defines an operator.
pub const DEFINITION: &str = "definition";

/// Elements of the largest tensor that is looked into where a definition is typed for evaluation.
const LONGEST_SHAPE: usize = 64;

/// What is read of a value that is no attribute of its operation.
const OF_TENSORS: [&str; 6] = ["shape", "dtype", "ndim", "value", "length", "index"];

/// A rule that says what an operator computes.
#[derive(Clone, Debug)]
pub struct Definition {
    rule: Rule,
}

impl Definition {
    /// The definition that `rule` is, if it has the label and the form: it matches one call of one
    /// operator, on any values, each another one.
    pub fn new(rule: &Rule) -> Option<Definition> {
        (is_definition(rule) && call(rule).is_some()).then(|| Definition { rule: rule.clone() })
    }

    /// The operator that is defined.
    pub fn operator(&self) -> &str {
        call(&self.rule).map_or("", |(_, name, _)| name)
    }

    /// Makes the operator known to `context`, unless it is already.
    pub fn define_in(&self, context: &Context) {
        defined::define(context, self.operator(), Arc::new(Composition::new(&self.rule, context)));
    }
}

/// Whether a rule defines an operator, and is never applied.
pub fn is_definition(rule: &Rule) -> bool {
    rule.labels().iter().any(|label| label == DEFINITION)
}

/// The call that a definition matches, its operator, and the names of its operands.
fn call(rule: &Rule) -> Option<(PatId, &str, Vec<String>)> {
    let (&[source], &[_]) = (rule.sources(), rule.targets()) else { return None };
    let PatternKind::Call { op, args, attrs, rest, .. } = &rule.pattern(source).kind else {
        return None;
    };
    let OpChoice::Name(name) = &rule.op(*op).choice else { return None };
    let (domain, _) = name.rsplit_once('.')?;
    let plain = |arg: &PatId| matches!(rule.pattern(*arg).kind, PatternKind::Wildcard);
    let twice = args.iter().enumerate().any(|(i, arg)| args[..i].contains(arg));
    let special = matches!(domain, "nn" | "onnx") || !attrs.is_empty() || rest.is_some();
    if special || twice || !args.iter().all(plain) {
        return None;
    }
    let named = |(i, arg): (usize, &PatId)| {
        rule.pattern(*arg).name.clone().unwrap_or_else(|| format!("x{i}"))
    };
    Some((source, name, args.iter().enumerate().map(named).collect()))
}

/// A definition in a context.
struct Composition {
    rule: Rule,
    compiled: CompiledRule,
}

impl Composition {
    fn new(rule: &Rule, context: &Context) -> Composition {
        let options = Options {
            natives: Arc::new(Natives::standard()),
            fold: false,
            unknown_extents: UnknownExtents::Accept,
            ..Options::default()
        };
        let compiled = CompiledRule::unchecked(rule, context, &options);
        Composition { rule: rule.clone(), compiled }
    }

    /// Makes what an operation is in `program`, behind the operands.
    fn open(&self, program: &mut Module, name: Name, operands: &[Value], attrs: Attr) -> Opened {
        let end = Point::End(program.body());
        let mut state = OpState::new(name, Loc::UNKNOWN);
        state.attrs = attrs;
        state.operands.extend_from_slice(operands);
        state.results.push(program.context().ty(TypeData::None));
        let op = program.create_at(end, state);
        let refused =
            |why: String| format!("the definition `{}` says nothing here: {why}", self.rule.name());
        let Some(found) = self.compiled.find(program, op) else {
            let why = self.compiled.explain(program, op).unwrap_or_default();
            return Err(refused(why));
        };
        let mut listener = Silent;
        let mut rewriter = Rewriter::new(program, &mut listener);
        let place = (op, Point::Before(op));
        let made = self.compiled.instantiate(&mut rewriter, place, &found, 0);
        let (values, _) = made.map_err(|error| refused(error.message))?;
        let body = program.body();
        // Two operations of a definition are equal where their operands are.
        let draws = |op: Op| program.def(op).is_some_and(|def| def.traits.contains(Traits::RANDOM));
        if program.ops(body).any(draws) {
            return Err(refused("it draws random numbers, which no definition may".to_owned()));
        }
        if program.ops(body).any(|op| is_order_open(program, op)) {
            return Err(refused("it leaves the order of its results open".to_owned()));
        }
        let own = program.result(op, 0);
        match values.first() {
            Some(&value) if value != own && !program.has_uses(own) => {
                program.erase(op);
                Ok(value)
            }
            _ => Err(refused("it reads what it defines".to_owned())),
        }
    }
}

/// The value that an operation is, or why there is none.
type Opened = Result<Value, String>;

/// An operand of a program of its own: of a type, or a constant.
fn operand(program: &mut Module, ty: Type, constant: Option<&Tensor>) -> Value {
    let (context, body) = (program.context_arc().clone(), program.body());
    if constant::is_none_type(&context, ty) {
        let mut state = OpState::new(context.name("nn.none"), Loc::UNKNOWN);
        state.results.push(ty);
        let op: Op = program.create_at(Point::End(body), state);
        return program.result(op, 0);
    }
    match constant {
        Some(tensor) => {
            let end = Point::End(body);
            let op = constant::build(program, end, tensor, "operand", Loc::UNKNOWN);
            program.result(op, 0)
        }
        None => program.add_arg(body, ty),
    }
}

impl defined::Definition for Composition {
    fn operands(&self) -> Vec<String> {
        call(&self.rule).map(|(_, _, operands)| operands).unwrap_or_default()
    }

    fn attributes(&self) -> Vec<(String, AttrKind)> {
        let Some((source, ..)) = call(&self.rule) else { return Vec::new() };
        let mut found: Vec<(String, AttrKind)> = Vec::new();
        for (id, name) in reads(&self.rule, source) {
            let kind = default(&self.rule, id).unwrap_or(AttrKind::Any);
            match found.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) if *known == AttrKind::Any => *known = kind,
                Some(_) => {}
                None => found.push((name, kind)),
            }
        }
        found
    }

    fn infer(&self, cx: &InferCx<'_>) -> Result<Inferred, InferError> {
        let mut program = Module::new(cx.module.context_arc().clone());
        let mut operands = Vec::new();
        for &value in cx.operands {
            let constant = constant::constant_tensor(cx.module, value);
            operands.push(operand(&mut program, cx.module.value_type(value), constant.as_ref()));
        }
        let made = self.open(&mut program, cx.name, &operands, cx.attrs);
        let value = made.map_err(InferError::mismatch)?;
        let types = [program.value_type(value)].into_iter().collect();
        Ok(Inferred { types, ..Inferred::default() })
    }

    fn evaluate(&self, cx: &EvalCx<'_>) -> Evaluated {
        let context = cx.module.context_arc().clone();
        let mut program = Module::new(context.clone());
        let (mut operands, mut inputs) = (Vec::new(), Vec::new());
        for tensor in cx.operands {
            let ty = match tensor {
                Some(tensor) => constant::tensor_type(&context, tensor),
                None => context.ty(TypeData::None),
            };
            // What inference may read.
            let known = shown(tensor.clone());
            operands.push(operand(&mut program, ty, known.as_ref()));
            if known.is_none() {
                inputs.extend(tensor.clone().map(Datum::Tensor));
            }
        }
        let name = context.name(cx.def.name);
        let value =
            self.open(&mut program, name, &operands, cx.dict).map_err(EvalError::Undefined)?;
        let mut state = OpState::new(context.name("func.return"), Loc::UNKNOWN);
        state.operands.push(value);
        program.create_at(Point::End(program.body()), state);
        let found = interpret(&program, program.root(), &inputs);
        let found = found.map_err(|error| EvalError::Undefined(error.to_string()))?;
        let tensor = |datum| match datum {
            Datum::Tensor(tensor) => Ok(tensor),
            _ => Err(EvalError::Undefined("a definition gives no tensor".to_owned())),
        };
        found.into_iter().map(tensor).collect()
    }

    fn work(&self, module: &Module, op: Op) -> u64 {
        let context = module.context_arc().clone();
        let mut program = Module::new(context.clone());
        let mut operands = Vec::new();
        for value in module.operands(op) {
            let constant = shown(constant::constant_tensor(module, value));
            operands.push(operand(&mut program, module.value_type(value), constant.as_ref()));
        }
        // What says nothing here is refused before it is evaluated.
        if self.open(&mut program, module.name(op), &operands, module.attrs(op)).is_err() {
            return 0;
        }
        let steps = program.ops(program.body()).map(|op| budget::work(&program, op));
        steps.fold(0, u64::saturating_add)
    }

    fn within(&self, context: &Context) -> Arc<dyn defined::Definition> {
        Arc::new(Composition::new(&self.rule, context))
    }
}

/// The constant, if it is short: axes, shapes and the like.
fn shown(constant: Option<Tensor>) -> Option<Tensor> {
    constant.filter(|tensor| tensor.dtype() == DType::I64 && tensor.len() <= LONGEST_SHAPE)
}

/// The attributes of what `source` matches that a rule names, by expression.
fn reads(rule: &Rule, source: PatId) -> Vec<(ExprId, String)> {
    let mut found = Vec::new();
    for (id, expr) in rule.exprs() {
        match &expr.kind {
            ExprKind::Access { pattern, attribute }
                if *pattern == source && !OF_TENSORS.contains(&attribute.as_str()) =>
            {
                found.push((id, attribute.clone()));
            }
            ExprKind::Native { name, args } if name == "absent" => {
                if let [NativeArg::Pattern(of), NativeArg::Expr(text)] = args[..]
                    && of == source
                    && let ExprKind::Str(text) = &rule.expr(text).kind
                {
                    found.push((id, text.clone()));
                }
            }
            _ => {}
        }
    }
    found
}

/// The attributes that a definition declares, and neither its target nor a condition reads, each with
/// the expression that names it.
pub(crate) fn unread(rule: &Rule) -> Vec<(ExprId, String)> {
    let Some((source, ..)) = call(rule) else { return Vec::new() };
    let computed = computed(rule);
    let all = reads(rule, source);
    let read: FxHashSet<&str> =
        all.iter().filter(|(id, _)| computed.contains(id)).map(|(_, name)| &**name).collect();
    let mut found: Vec<(ExprId, String)> = Vec::new();
    for (id, name) in &all {
        if !read.contains(&**name) && found.iter().all(|(_, known)| known != name) {
            found.push((*id, name.clone()));
        }
    }
    found
}

/// The expressions that targets and conditions are made of.
fn computed(rule: &Rule) -> FxHashSet<ExprId> {
    let (mut patterns, mut exprs) = (FxHashSet::default(), FxHashSet::default());
    let targets = rule.targets().iter().map(|id| Reference::Part(*id));
    let mut stack: Vec<Reference> =
        targets.chain(rule.conditions().iter().map(|id| Reference::Expr(*id))).collect();
    while let Some(reference) = stack.pop() {
        match reference {
            Reference::Part(id) | Reference::Mention(id) if patterns.insert(id) => {
                stack.extend(rule.pattern(id).references());
            }
            Reference::Expr(id) if exprs.insert(id) => stack.extend(rule.expr(id).references()),
            _ => {}
        }
    }
    exprs
}

/// The kind of an attribute, by what stands in its place where it is absent.
fn default(rule: &Rule, read: ExprId) -> Option<AttrKind> {
    let other = rule.exprs().find_map(|(_, expr)| match expr.kind {
        ExprKind::Cond { then, otherwise, .. } if otherwise == read => Some(then),
        ExprKind::Cond { then, otherwise, .. } if then == read => Some(otherwise),
        _ => None,
    })?;
    Some(match &rule.expr(other).kind {
        ExprKind::Int(_) => AttrKind::Int,
        ExprKind::Float(_) => AttrKind::Float,
        ExprKind::Str(_) => AttrKind::Str,
        ExprKind::Tuple(fields) => match fields.first().map(|field| &rule.expr(*field).kind) {
            Some(ExprKind::Int(_)) => AttrKind::Ints,
            Some(ExprKind::Float(_)) => AttrKind::Floats,
            Some(ExprKind::Str(_)) => AttrKind::Strs,
            _ => AttrKind::Any,
        },
        _ => AttrKind::Any,
    })
}
