//! Programs in MLIR's text, and passes on them that are Python functions: what `tangram.mlir` is
//! made of.
//!
//! While such a function runs, the program is with the handles that it is given; when it ends, the
//! program goes back, and handles that were kept raise an error.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use tangram::dialects;
use tangram::ir::{Attr, Context, Diagnostic, LocData, Module, Op, OpState, Order, Point, Type};
use tangram::ir::{text, walk};
use tangram::passes::{
    Pass, PassCx, PassError, Pipeline, Registration, Registry, RunError, RunOptions, Silent,
};
use tangram::rewrite::{Rewriter, Silent as Unheard};

use crate::MlirError;

fn error(why: impl ToString) -> PyErr {
    MlirError::new_err(why.to_string())
}

/// A program that a pass works on, and the operation that it runs on.
struct Work {
    module: Module,
    root: Op,
}

/// A place where a program is while a pass runs.
#[derive(Clone, Default)]
struct Home(Arc<Mutex<Option<Work>>>);

impl Home {
    fn lock(&self) -> MutexGuard<'_, Option<Work>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the program and an operation of it.
    fn with<T>(&self, op: Op, work: impl FnOnce(&mut Work) -> PyResult<T>) -> PyResult<T> {
        match &mut *self.lock() {
            None => Err(error("the pass has ended, and its operations with it")),
            Some(inside) if !inside.module.is_live(op) => Err(error("the operation was erased")),
            Some(inside) => work(inside),
        }
    }
}

impl Work {
    /// Refuses what the pass may not change: what it runs on, and what stands around that.
    fn inside(&self, op: Op) -> PyResult<()> {
        match self.module.is_proper_ancestor(self.root, op) {
            true => Ok(()),
            false => {
                Err(error("the pass changes operations inside of the one that it runs on only"))
            }
        }
    }
}

/// An operation, as long as the pass runs.
#[pyclass(module = "tangram._native", frozen)]
pub(crate) struct Operation {
    home: Home,
    op: Op,
}

/// A value, as long as the pass runs.
#[pyclass(module = "tangram._native", frozen)]
pub(crate) struct OperationValue {
    home: Home,
    value: tangram::ir::Value,
    /// An operation that has it as a result, or around whose blocks it is an argument.
    owner: Op,
}

impl OperationValue {
    fn of(home: &Home, module: &Module, value: tangram::ir::Value) -> Option<OperationValue> {
        let block = || module.def_block(value).and_then(|block| module.block_parent(block));
        let owner = module.def_op(value).or_else(block)?;
        Some(OperationValue { home: home.clone(), value, owner })
    }
}

impl Operation {
    fn other(&self, op: Op) -> Operation {
        Operation { home: self.home.clone(), op }
    }

    fn read<T>(&self, read: impl FnOnce(&Module) -> T) -> PyResult<T> {
        self.home.with(self.op, |work| Ok(read(&work.module)))
    }
}

#[pymethods]
impl Operation {
    #[getter]
    fn name(&self) -> PyResult<String> {
        self.read(|module| module.name_text(self.op).to_owned())
    }

    #[getter]
    fn parent(&self) -> PyResult<Option<Operation>> {
        self.read(|module| module.parent(self.op).map(|op| self.other(op)))
    }

    #[getter]
    fn operands(&self) -> PyResult<Vec<OperationValue>> {
        self.read(|module| {
            let value = |value| OperationValue::of(&self.home, module, value);
            module.operands(self.op).filter_map(value).collect()
        })
    }

    #[getter]
    fn results(&self) -> PyResult<Vec<OperationValue>> {
        self.read(|module| {
            let value = |value| OperationValue::of(&self.home, module, value);
            module.results(self.op).filter_map(value).collect()
        })
    }

    #[getter]
    fn attributes(&self) -> PyResult<Vec<(String, String)>> {
        self.read(|module| {
            let entries = module.context().entries(module.attrs(self.op));
            let text = |attr| text::attr_text(module, attr);
            entries
                .iter()
                .map(|&(name, attr)| (module.context().text(name).to_owned(), text(attr)))
                .collect()
        })
    }

    /// The operations in its regions, those around before those inside.
    fn walk(&self) -> PyResult<Vec<Operation>> {
        self.read(|module| {
            let inside = walk(module, self.op, Order::Pre);
            inside.into_iter().skip(1).map(|op| self.other(op)).collect()
        })
    }

    #[getter]
    fn alive(&self) -> bool {
        self.home.lock().as_ref().is_some_and(|work| work.module.is_live(self.op))
    }

    fn __str__(&self) -> PyResult<String> {
        self.read(|module| {
            let mut out = String::new();
            let _ = text::print_op(&mut out, module, self.op, text::Options::default());
            out
        })
    }

    fn __eq__(&self, other: &Operation) -> bool {
        self.op == other.op && Arc::ptr_eq(&self.home.0, &other.home.0)
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.op.as_u32())
    }
}

#[pymethods]
impl OperationValue {
    #[getter]
    fn r#type(&self) -> PyResult<String> {
        self.home.with(self.owner, |work| {
            Ok(text::type_text(&work.module, work.module.value_type(self.value)))
        })
    }

    /// The operation that it is a result of.
    #[getter]
    fn definition(&self) -> PyResult<Option<Operation>> {
        self.home.with(self.owner, |work| {
            let def = work.module.def_op(self.value);
            Ok(def.map(|op| Operation { home: self.home.clone(), op }))
        })
    }

    #[getter]
    fn users(&self) -> PyResult<Vec<Operation>> {
        self.home.with(self.owner, |work| {
            let mut users: Vec<Op> = work.module.uses(self.value).map(|used| used.op).collect();
            users.reverse();
            users.dedup();
            Ok(users.into_iter().map(|op| Operation { home: self.home.clone(), op }).collect())
        })
    }

    fn __eq__(&self, other: &OperationValue) -> bool {
        self.value == other.value && Arc::ptr_eq(&self.home.0, &other.home.0)
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.value.as_u32())
    }
}

/// Changes the program.
#[pyclass(module = "tangram._native", frozen)]
pub(crate) struct OperationRewriter {
    home: Home,
}

impl OperationRewriter {
    /// Does something to `op`, which has to be inside of what the pass runs on.
    fn change<T>(
        &self,
        op: &Operation,
        change: impl FnOnce(&mut Work) -> PyResult<T>,
    ) -> PyResult<T> {
        self.home.with(op.op, |work| {
            work.inside(op.op)?;
            change(work)
        })
    }
}

#[pymethods]
impl OperationRewriter {
    /// Makes an operation before another one.
    fn create(
        &self,
        name: &str,
        operands: Vec<PyRef<'_, OperationValue>>,
        results: Vec<String>,
        attributes: Vec<(String, String)>,
        before: &Operation,
    ) -> PyResult<Operation> {
        self.change(before, |work| {
            let context = work.module.context_arc().clone();
            let (attrs, types) = read(&context, &attributes, &results)?;
            let loc = work.module.loc(before.op);
            let mut state = OpState::new(context.name(name), loc);
            state.operands.extend(operands.iter().map(|value| value.value));
            state.results.extend(types);
            state.attrs = attrs;
            let mut unheard = Unheard;
            let mut rewriter = Rewriter::new(&mut work.module, &mut unheard);
            let op = rewriter.create(Point::Before(before.op), state);
            Ok(Operation { home: self.home.clone(), op })
        })
    }

    /// Replaces the results of an operation by values, and erases it.
    fn replace(&self, op: &Operation, values: Vec<PyRef<'_, OperationValue>>) -> PyResult<()> {
        self.change(op, |work| {
            let values: Vec<_> = values.iter().map(|value| value.value).collect();
            let types = |values: &mut dyn Iterator<Item = tangram::ir::Value>| -> Vec<Type> {
                values.map(|value| work.module.value_type(value)).collect()
            };
            let (old, new) =
                (types(&mut work.module.results(op.op)), types(&mut values.iter().copied()));
            if old != new {
                return Err(error(
                    "the values have other types than the results, or are not as many",
                ));
            }
            if values.iter().any(|&value| work.module.def_op(value) == Some(op.op)) {
                return Err(error("an operation cannot be replaced by its own results"));
            }
            let mut unheard = Unheard;
            let mut rewriter = Rewriter::new(&mut work.module, &mut unheard);
            rewriter.replace(op.op, &values).map_err(|why| error(why.message))
        })
    }

    /// Erases an operation whose results nothing uses.
    fn erase(&self, op: &Operation) -> PyResult<()> {
        self.change(op, |work| {
            if !work.module.is_unused(op.op) {
                return Err(error("the results of the operation are used"));
            }
            let mut unheard = Unheard;
            Rewriter::new(&mut work.module, &mut unheard).erase(op.op);
            Ok(())
        })
    }

    /// Makes every user of a value use another one of its type.
    fn replace_uses(&self, old: &OperationValue, new: &OperationValue) -> PyResult<()> {
        self.home.with(old.owner, |work| {
            if work.module.value_type(old.value) != work.module.value_type(new.value) {
                return Err(error("the values have different types"));
            }
            let users: Vec<Op> = work.module.uses(old.value).map(|used| used.op).collect();
            users.into_iter().try_for_each(|user| work.inside(user))?;
            let mut unheard = Unheard;
            Rewriter::new(&mut work.module, &mut unheard).replace_uses(old.value, new.value);
            Ok(())
        })
    }

    /// Sets an attribute by its text; `None` removes it.
    fn set_attribute(&self, op: &Operation, name: &str, value: Option<String>) -> PyResult<()> {
        self.home.with(op.op, |work| {
            if op.op != work.root {
                work.inside(op.op)?;
            }
            let context = work.module.context_arc().clone();
            let attr = match value {
                None => None,
                Some(text) => {
                    let (attrs, _) = read(&context, &[(name.to_owned(), text)], &[])?;
                    context.entries(attrs).first().map(|entry| entry.1)
                }
            };
            let key = context.str(name);
            let mut unheard = Unheard;
            Rewriter::new(&mut work.module, &mut unheard).set_attr(op.op, key, attr);
            Ok(())
        })
    }

    /// Moves an operation before another one.
    fn move_before(&self, op: &Operation, other: &Operation) -> PyResult<()> {
        self.change(op, |work| {
            if !work.module.is_live(other.op) {
                return Err(error("the operation was erased"));
            }
            work.inside(other.op)?;
            if work.module.is_proper_ancestor(op.op, other.op) {
                return Err(error("an operation cannot move into its own regions"));
            }
            let mut unheard = Unheard;
            Rewriter::new(&mut work.module, &mut unheard).move_to(op.op, Point::Before(other.op));
            Ok(())
        })
    }
}

/// Attributes and types of their texts: those of an operation that has them.
fn read(
    context: &Arc<Context>,
    attributes: &[(String, String)],
    types: &[String],
) -> PyResult<(Attr, Vec<Type>)> {
    let attributes: Vec<String> =
        attributes.iter().map(|(name, text)| format!("{name:?} = {text}")).collect();
    let source =
        format!("\"tangram.read\"() {{{}}} : () -> ({})", attributes.join(", "), types.join(", "));
    let source = match types.len() {
        0 => source,
        n => format!("%r:{n} = {source}"),
    };
    let module = text::parse(&source, "text", context.clone())
        .map_err(|errors| error(errors.first().map_or_else(String::new, |e| e.message.clone())))?;
    let op = module.first_op(module.body()).ok_or_else(|| error("expected one operation"))?;
    let types = module.results(op).map(|value| module.value_type(value)).collect();
    Ok((module.attrs(op), types))
}

/// A pass that is a Python function.
struct Function {
    function: Arc<Py<PyAny>>,
    /// What the function raised.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Pass for Function {
    fn run(&mut self, cx: &mut PassCx<'_>) -> Result<(), PassError> {
        let context = cx.module.context_arc().clone();
        let loc = cx.module.loc(cx.root);
        let module = std::mem::replace(cx.module, Module::new(context));
        let home = Home(Arc::new(Mutex::new(Some(Work { module, root: cx.root }))));
        let outcome = Python::attach(|python| {
            let root = Operation { home: home.clone(), op: cx.root };
            let rewriter = OperationRewriter { home: home.clone() };
            self.function.call1(python, (root, rewriter)).map(drop)
        });
        if let Some(work) = home.lock().take() {
            *cx.module = work.module;
        }
        outcome.map_err(|raised| {
            let message = raised.to_string();
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
            Box::new(Diagnostic::error("python", loc, message))
        })
    }
}

/// Runs a pipeline, in which passes may be Python functions, on a program; returns its text.
#[pyfunction]
pub(crate) fn rewrite_program(
    python: Python<'_>,
    source: &str,
    pipeline: &str,
    passes: Vec<(String, String, Py<PyAny>)>,
    generic: bool,
    file: &str,
) -> PyResult<String> {
    let raised: Arc<Mutex<Option<PyErr>>> = Arc::default();
    let mut registry = Registry::standard();
    for (name, summary, function) in passes {
        let (function, raised) = (Arc::new(function), raised.clone());
        let make = move |_: &_| -> Result<Box<dyn Pass>, _> {
            Ok(Box::new(Function { function: function.clone(), raised: raised.clone() }))
        };
        registry.add(Registration::new(name, summary, make)).map_err(error)?;
    }
    let pipeline = Pipeline::parse(pipeline).map_err(error)?;
    let outcome = python.detach(|| -> Result<String, String> {
        let context = dialects::context();
        let placed = |errors: &[Diagnostic]| first(errors, &context);
        let mut module =
            text::parse(source, file, context.clone()).map_err(|errors| placed(&errors))?;
        let ran = registry.run(&mut module, &pipeline, &RunOptions::default(), &mut Silent);
        ran.map_err(|failed| match &failed {
            RunError::Input(errors) => placed(errors),
            RunError::Broken { errors, .. } => format!("{failed}; {}", placed(errors)),
            _ => failed.to_string(),
        })?;
        let mut out = String::new();
        let options = text::Options { generic, ..text::Options::default() };
        text::print_to(&mut out, &module, options).map_err(|_| "the program cannot be printed")?;
        Ok(out)
    });
    let raised = raised.lock().unwrap_or_else(PoisonError::into_inner).take();
    outcome.map_err(|why| raised.unwrap_or_else(|| error(why)))
}

/// The first of `errors`, with its place.
fn first(errors: &[Diagnostic], context: &Context) -> String {
    let Some(first) = errors.first() else { return "the program is not valid".to_owned() };
    match context.loc_data(first.loc) {
        LocData::File { file, line, column } => {
            format!("{}:{line}:{column}: {}", context.text(*file), first.message)
        }
        _ => first.message.clone(),
    }
}
