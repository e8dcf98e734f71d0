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

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tangram_dialects::constant;
use tangram_dialects::defined;
use tangram_dialects::eval::{EvalCx, EvalError, Evaluated};
use tangram_dialects::interpret::{Datum, interpret};
use tangram_ir::{
    Attr, AttrKind, Context, InferCx, InferError, Inferred, Loc, Module, Name, Op, OpState, Point,
    Traits, Type, TypeData, Value,
};
use tangram_rewrite::{Rewriter, Silent};
use tangram_tensor::{DType, Tensor};

use crate::ast::{ExprId, ExprKind, NativeArg, OpChoice, PatId, PatternKind, Rule};
use crate::diagnostic::Diagnostic;
use crate::rules::{CompiledRule, Natives, Options, UnknownExtents};
use crate::text::LocatedRule;

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

/// Finds operators that two rules define, and not alike: which one is meant nobody can tell.
pub fn conflicts<'r>(rules: impl IntoIterator<Item = &'r LocatedRule>) -> Vec<Diagnostic> {
    let mut known: FxHashMap<&str, &LocatedRule> = FxHashMap::default();
    let mut found = Vec::new();
    for located in rules.into_iter().filter(|located| is_definition(&located.rule)) {
        let Some((_, operator, _)) = call(&located.rule) else { continue };
        let first = *known.entry(operator).or_insert(located);
        if first.rule != located.rule {
            let message = format!("two rules define `{operator}`");
            let error = Diagnostic::error("defined-twice", located.spans.name, message);
            found.push(error.label(first.spans.name, "the first one"));
        }
    }
    found
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
            // What inference may read: axes, shapes and the like.
            let known = tensor
                .as_ref()
                .filter(|tensor| tensor.dtype() == DType::I64 && tensor.len() <= LONGEST_SHAPE);
            operands.push(operand(&mut program, ty, known));
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

    fn within(&self, context: &Context) -> Arc<dyn defined::Definition> {
        Arc::new(Composition::new(&self.rule, context))
    }
}

/// The attributes of what `source` matches that a rule reads, by expression.
fn reads(rule: &Rule, source: PatId) -> Vec<(Option<ExprId>, String)> {
    let mut found = Vec::new();
    for (id, expr) in rule.exprs() {
        match &expr.kind {
            ExprKind::Access { pattern, attribute }
                if *pattern == source && !OF_TENSORS.contains(&attribute.as_str()) =>
            {
                found.push((Some(id), attribute.clone()));
            }
            ExprKind::Native { name, args } if name == "absent" => {
                if let [NativeArg::Pattern(of), NativeArg::Expr(text)] = args[..]
                    && of == source
                    && let ExprKind::Str(text) = &rule.expr(text).kind
                {
                    found.push((None, text.clone()));
                }
            }
            _ => {}
        }
    }
    found
}

/// The kind of an attribute, by what stands in its place where it is absent.
fn default(rule: &Rule, read: Option<ExprId>) -> Option<AttrKind> {
    let other = rule.exprs().find_map(|(_, expr)| match expr.kind {
        ExprKind::Cond { then, otherwise, .. } if Some(otherwise) == read => Some(then),
        ExprKind::Cond { then, otherwise, .. } if Some(then) == read => Some(otherwise),
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
