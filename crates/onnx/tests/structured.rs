//! Structured definitions, interpreted, on ONNX's node tests, if `TANGRAM_PYTHON` names a Python
//! that has onnx.
//!
//! Every model is imported as it is, with all inputs but the first constant, and with all extents
//! symbolic; each of its operations that has a structured form is run by the reference kernel and
//! by the interpreter of that form on the operands that it has in the test.

#[path = "../../dialects/tests/structured/difference.rs"]
mod difference;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use difference::{difference, has_sum};
use tangram_dialects::eval::evaluate;
use tangram_dialects::interpret::{Datum, Interpreter};
use tangram_dialects::structured::{interpret, result_types, structured};
use tangram_ir::{DimKind, Module, Op, Value};
use tangram_onnx::Model;
use tangram_tensor::Tensor;

/// Writes each case in each mode, with the values of its inputs as their defaults.
const WRITE: &str = r"
import pathlib, sys
sys.path.insert(0, sys.argv[2])
import numpy as np, onnx, node_suite
from onnx import numpy_helper
for case in node_suite.cases():
    for mode in ('as-is', 'first-free', 'symbolic'):
        try:
            model, inputs = node_suite.variant(case, mode)
        except node_suite.NotApplicable:
            continue
        given = {tensor.name for tensor in model.graph.initializer}
        model.ir_version = max(model.ir_version, 4)
        for value in model.graph.input:
            array = inputs.get(value.name)
            if value.name in given or not isinstance(array, (np.ndarray, np.generic)):
                continue
            tensor = numpy_helper.from_array(np.asarray(array), value.name)
            model.graph.initializer.append(tensor)
        path = pathlib.Path(sys.argv[1]) / f'{case.name}.{mode}.onnx'
        path.write_bytes(model.SerializeToString())
";

/// The directory with the models; `None` if there is no Python with onnx.
fn models() -> Option<tempfile::TempDir> {
    let python = std::env::var_os("TANGRAM_PYTHON").filter(|python| {
        let probe = Command::new(python).args(["-c", "import onnx, ml_dtypes"]).output();
        probe.is_ok_and(|output| output.status.success())
    });
    let Some(python) = python else {
        println!("skipped: needs onnx");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/python");
    let output =
        Command::new(python).arg("-c").arg(WRITE).arg(folder.path()).arg(tests).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(folder)
}

#[derive(Default)]
struct Tally {
    judged: BTreeMap<String, usize>,
    without: BTreeMap<String, usize>,
    failures: Vec<String>,
}

#[test]
fn the_node_tests_compute_what_the_kernels_do() {
    let Some(folder) = models() else { return };
    let mut files: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut tally = Tally::default();
    for file in &files {
        judge(file, &mut tally);
    }
    let names: BTreeSet<&String> = tally.judged.keys().chain(tally.without.keys()).collect();
    for name in names {
        let count = |map: &BTreeMap<String, usize>| map.get(name).copied().unwrap_or(0);
        println!("{name}: {} with, {} without", count(&tally.judged), count(&tally.without));
    }
    let judged: usize = tally.judged.values().sum();
    println!("{} models, {judged} operations with a structured form", files.len());
    let count = tally.failures.len();
    tally.failures.truncate(40);
    assert!(tally.failures.is_empty(), "{count} differ:\n{}", tally.failures.join("\n"));
    assert!(judged > 2000, "only {judged} operations have a structured form");
}

/// Judges the operations of a model, as far as it can be run.
fn judge(file: &Path, tally: &mut Tally) {
    let Ok(model) = Model::open(file, tangram_dialects::context()) else { return };
    let Some(block) = model.graph() else { return };
    let module = &model.module;
    let mut run = Interpreter::new(module);
    let mut symbols = BTreeMap::new();
    for value in module.args(block).iter().copied() {
        let name = module.value_name(value).map(|name| module.context().text(name));
        let Some(tensor) = name.and_then(|name| model.default_of(name)) else { return };
        bind(module, value, &tensor, &mut symbols);
        run.set(value, Datum::Tensor(tensor));
    }
    for op in module.ops(block) {
        if Some(op) == module.last_op(block) {
            return;
        }
        if let Some(why) = compare(module, op, &run, &symbols, tally) {
            let file = file.file_name().unwrap_or_default().to_string_lossy();
            tally.failures.push(format!("{file}: {}: {why}", module.name_text(op)));
        }
        if run.step(op).is_err() {
            return;
        }
    }
}

/// Notes what the extents of an argument are that are symbols alone.
fn bind(module: &Module, value: Value, tensor: &Tensor, symbols: &mut BTreeMap<String, i64>) {
    let context = module.context();
    let Some((dims, _)) = context.as_tensor(module.value_type(value)) else { return };
    for (dim, &extent) in dims.iter().zip(tensor.shape()) {
        if let DimKind::Symbolic(expr) = dim.kind() {
            let name = context.dim_expr(expr).as_symbol().map(str::to_owned);
            name.map(|name| symbols.insert(name, extent as i64));
        }
    }
}

/// How the structured form of an operation differs from its kernel, if it does.
fn compare(
    module: &Module,
    op: Op,
    run: &Interpreter<'_>,
    symbols: &BTreeMap<String, i64>,
    tally: &mut Tally,
) -> Option<String> {
    let name = module.name_text(op).to_owned();
    if matches!(&name[..], "nn.constant" | "nn.none") {
        return None;
    }
    let operand = |value: Value| match run.find(value)? {
        Datum::Tensor(tensor) => Some(Some(tensor.clone())),
        Datum::None => Some(None),
        _ => None,
    };
    let operands: Vec<Option<Tensor>> = module.operands(op).map(operand).collect::<Option<_>>()?;
    let Some(definition) = structured(module, op) else {
        *tally.without.entry(name).or_default() += 1;
        return None;
    };
    let expected = evaluate(module, op, &operands).ok()?;
    *tally.judged.entry(name).or_default() += 1;
    let Some(types) = result_types(module, op) else {
        return Some("a definition although extents are unknown".to_owned());
    };
    let value = |name: &str| symbols.get(name).copied();
    let found = match interpret(&definition, &operands, &types, &value) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    let sums = has_sum(&definition);
    found.iter().zip(&expected).find_map(|(found, expected)| difference(found, expected, sums))
}
