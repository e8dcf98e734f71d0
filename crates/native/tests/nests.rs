//! Models as IR after each pass over nests: what the verifier accepts, reads back to the same text, and
//! has the same bits after every pass.

mod support;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fastrand::Rng;
use support::graphs::{Made, plain_graph, random_graph};
use support::{Graph, Side, attribute_ints, session_with};
use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::{Datum, interpret};
use tangram_dialects::{dims, dtype};
use tangram_ir::{Module, Op, text};
use tangram_lowering::{Options, Watch, lower_watched, pass_names};
use tangram_onnx::Model;
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

/// Keeps the program after each pass.
#[derive(Default)]
struct Kept {
    programs: Vec<(&'static str, Module)>,
}

impl Watch for Kept {
    fn wants(&self, _: &str) -> bool {
        true
    }

    fn after(&mut self, pass: &'static str, _: Duration, program: Option<&Module>) -> bool {
        self.programs.extend(program.map(|program| (pass, program.clone())));
        pass != "contract"
    }
}

/// The program of a model after each pass.
fn programs(model: &Model, exact: bool) -> Vec<(&'static str, Module)> {
    let mut options = Options::default();
    (options.exact, options.verify_each) = (exact, true);
    let main = model.main().expect("a graph");
    let mut kept = Kept::default();
    lower_watched(&model.module, main, &options, &mut kept).expect("nests");
    assert_eq!(kept.programs.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names());
    kept.programs
}

/// The passes over nests; behind them there are micro-kernels.
fn names() -> Vec<&'static str> {
    pass_names().filter(|name| *name != "micro").collect()
}

fn function(module: &Module) -> Op {
    let found = module.ops(module.body()).find(|&op| module.name_text(op) == "func.func");
    found.expect("a function")
}

/// The program that the text of another one is, which has to be written as the same text again.
fn read_back(what: &str, program: &Module) -> Module {
    let printed = text::print(program);
    let again = text::parse(&printed, "nests.mlir", program.context_arc().clone());
    let again = again.unwrap_or_else(|errors| panic!("{what}: {errors:?}"));
    assert!(tangram_ir::verify(&again).is_ok(), "{what}");
    assert_eq!(text::print(&again), printed, "{what}");
    again
}

/// Lets `mlir-opt` read a program; `None` where it is not installed.
fn accepted(what: &str, program: &Module) -> Option<()> {
    let mut child = Command::new("mlir-opt-22")
        .arg("--allow-unregistered-dialect")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().expect("a pipe");
    // A program that it refuses early is not read to its end.
    let _ = input.write_all(text::print(program).as_bytes());
    drop(input);
    let output = child.wait_with_output().expect("an end");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {error}");
    Some(())
}

/// What inputs are like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Like {
    /// Numbers as data has them.
    Usual,
    /// Some zeros of both signs, infinities, NaNs, tiny and huge numbers among them.
    Special,
    /// All of them so, or the extremes of integers.
    Extreme,
}

fn number(like: Like, random: &mut Rng) -> f64 {
    const SPECIAL: [f64; 12] = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-45,
        -1e-42,
        1e-310,
        3e38,
        -3e38,
        65504.0,
        0.5,
    ];
    let special = match like {
        Like::Usual => false,
        Like::Special => random.u32(0..24) == 0,
        Like::Extreme => random.u32(0..2) == 0,
    };
    match special {
        true => SPECIAL[random.usize(0..SPECIAL.len())],
        false => random.f64() * 4.0 - 2.0,
    }
}

fn tensor(element: DType, shape: &[usize], like: Like, random: &mut Rng) -> Tensor {
    let count: usize = shape.iter().product();
    let wide = match element.is_float() {
        true => {
            Tensor::from_vec(shape, (0..count).map(|_| number(like, random)).collect::<Vec<_>>())
        }
        false => {
            let int = |random: &mut Rng| match like {
                Like::Extreme => [i64::MIN, i64::MAX, -1, 0, 1, 255, -128][random.usize(0..7)],
                _ => random.i64(0..4),
            };
            Tensor::from_vec(shape, (0..count).map(|_| int(random)).collect::<Vec<_>>())
        }
    };
    cast(&wide.expect("fits"), element).expect("numbers")
}

/// Inputs of a function whose symbols have these values; `None` for one that takes no numbers.
fn inputs(
    module: &Module,
    size: &dyn Fn(&str) -> i64,
    like: Like,
    random: &mut Rng,
) -> Option<Vec<Datum>> {
    let context = module.context();
    let block = module.first_block(module.region(function(module), 0))?;
    let one = |&value: &tangram_ir::Value| {
        let (extents, element) = context.as_tensor(module.value_type(value))?;
        let element = dtype::dtype_of(context, element).filter(|own| *own != DType::String)?;
        let extent = |&dim| -> Option<usize> {
            let expr: Expr = dims::expr(context, dim)?;
            usize::try_from(expr.eval(&|name| Some(size(name)))?).ok()
        };
        let shape: Vec<usize> = extents.iter().map(extent).collect::<Option<_>>()?;
        Some(Datum::Tensor(tensor(element, &shape, like, random)))
    };
    module.args(block).iter().map(one).collect()
}

/// Whether two results have the same bits, or the same numbers where both are NaN.
fn same(a: &Datum, b: &Datum) -> bool {
    let (Datum::Tensor(a), Datum::Tensor(b)) = (a, b) else { return a == b };
    if a.bytes() == b.bytes() && a.dtype() == b.dtype() {
        return true;
    }
    let (Ok(x), Ok(y)) = (a.f64s(), b.f64s()) else { return false };
    a.dtype() == b.dtype()
        && a.dtype().is_float()
        && x.len() == y.len()
        && x.iter().zip(&y).all(|(x, y)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan())
}

/// Runs all programs on the same inputs, and compares them with the first; whether that has results.
///
/// # Errors
/// What differs, after which pass.
fn agree(programs: &[(&'static str, Module)], inputs: &[Datum]) -> Result<bool, String> {
    let mut first = None;
    for (pass, program) in programs {
        let results = interpret(program, function(program), inputs);
        match (&first, results) {
            (None, results) => first = Some(results),
            (Some(Ok(expected)), Ok(found)) => {
                for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
                    if !same(found, expected) {
                        let text = format!("{found:?}\n{expected:?}");
                        let text: String = text.chars().take(2000).collect();
                        return Err(format!("result {at} differs after `{pass}`: {text}"));
                    }
                }
            }
            (Some(Err(_)), Err(_)) => {}
            (Some(expected), found) => {
                let expected = expected.as_ref().err();
                let found = found.err();
                return Err(format!("after `{pass}`: {found:?} instead of {expected:?}"));
            }
        }
    }
    Ok(matches!(first, Some(Ok(_))))
}

/// Reads programs back and runs what was read; a pass that changed nothing is not run again.
fn check(what: &str, model: &Model, sizes: &[i64], random: &mut Rng) -> usize {
    let mut read: Vec<(&'static str, Module)> = Vec::new();
    let mut last = String::new();
    for (pass, program) in programs(model, true) {
        let printed = text::print(&program);
        if printed != last {
            read.push((pass, read_back(&format!("{what} after `{pass}`"), &program)));
        }
        last = printed;
    }
    let programs = read;
    let mut runs = 0;
    for (&size, like) in sizes.iter().zip([Like::Usual, Like::Special, Like::Extreme]) {
        let value =
            |name: &str| if name.contains("batch") || name == "b" { size.min(2) } else { size };
        let Some(inputs) = inputs(&programs[0].1, &value, like, random) else { continue };
        let what = format!("{what}, size {size}, {like:?}");
        let agreed = agree(&programs, &inputs);
        runs += usize::from(agreed.unwrap_or_else(|error| panic!("{what}: {error}")));
    }
    runs
}

fn examples() -> Vec<(String, Model)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("examples")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "onnx"))
        .collect();
    paths.sort();
    let model = |path: &std::path::PathBuf| {
        let loaded = tangram_onnx::file::open(path).expect("an example is read");
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name, tangram_onnx::import(loaded, tangram_dialects::context()).expect("imported"))
    };
    paths.iter().map(model).collect()
}

#[test]
fn examples_have_the_same_bits_after_every_pass() {
    let mut random = Rng::with_seed(5);
    let mut runs = 0;
    for (name, model) in examples() {
        // The largest once.
        let sizes: &[i64] = if name == "inception" { &[1] } else { &[3, 2, 2] };
        runs += check(&name, &model, sizes, &mut random);
    }
    assert!(runs > 15, "{runs} runs");
}

fn random_model(seed: u64) -> Option<(Model, Rng)> {
    let Made { bytes, random, .. } = random_graph(seed)?;
    let model = Model::decode(bytes.into(), tangram_dialects::context()).expect("imported");
    Some((model, random))
}

fn try_random(seeds: std::ops::Range<u64>) -> usize {
    let mut runs = 0;
    for seed in seeds {
        let Some((model, mut random)) = random_model(seed) else { continue };
        runs += check(&format!("seed {seed}"), &model, &[5, 3, 2], &mut random);
    }
    runs
}

#[test]
fn random_models_have_the_same_bits_after_every_pass() {
    let runs = try_random(0..24);
    assert!(runs > 40, "{runs} runs");
}

/// Five hundred, or as many as `TANGRAM_CASES` says.
#[test]
#[ignore = "minutes"]
fn five_hundred_random_models_have_the_same_bits_after_every_pass() {
    let cases = std::env::var("TANGRAM_CASES").ok().and_then(|text| text.parse().ok());
    println!("{} runs", try_random(5000..5000 + cases.unwrap_or(500)));
}

/// Runs graphs of sums and products compiled, and by the text of the first pass: the order of each sum
/// is that of its operation, whatever stands around it.
fn sums_as_stated(seeds: std::ops::Range<u64>) -> usize {
    let mut runs = 0;
    for seed in seeds {
        let Some(Made { bytes, inputs, mut random }) = plain_graph(seed) else { continue };
        let context = tangram_dialects::context();
        let model = Model::decode(bytes.clone().into(), context).expect("imported");
        let (_, program) = programs(&model, true).remove(0);
        let session = session_with(&bytes, |options| options.exact = true);
        for (batch, length) in [(1, 1), (2, 19)] {
            let tensor = |shape: &[Side]| {
                let extents: Vec<usize> =
                    shape.iter().map(|side| side.size(batch, length)).collect();
                tensor(DType::F32, &extents, Like::Usual, &mut random)
            };
            let feed: Vec<(&str, Datum)> = inputs
                .iter()
                .map(|input| input.name.as_str())
                .zip(inputs.iter().map(|input| &input.shape[..]).map(tensor).map(Datum::Tensor))
                .collect();
            let data: Vec<Datum> = feed.iter().map(|(_, datum)| datum.clone()).collect();
            let expected = interpret(&program, function(&program), &data).expect("a result");
            let found = session.run(&feed).expect("a result");
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let what = format!("seed {seed}, sizes {batch} and {length}, result {at}");
                assert!(same(found, expected), "{what}");
            }
            runs += 1;
        }
    }
    runs
}

#[test]
fn compiled_sums_have_the_order_of_the_text() {
    let runs = sums_as_stated(0..10);
    assert!(runs > 12, "{runs} runs");
}

/// Three hundred, or as many as `TANGRAM_CASES` says.
#[test]
#[ignore = "minutes"]
fn three_hundred_compiled_models_have_the_order_of_the_text() {
    let cases = std::env::var("TANGRAM_CASES").ok().and_then(|text| text.parse().ok());
    println!("{} runs", sums_as_stated(9000..9000 + cases.unwrap_or(300)));
}

#[test]
fn mlir_opt_reads_every_program() {
    let mut read = 0;
    for (name, model) in examples() {
        for (pass, program) in programs(&model, false) {
            if accepted(&format!("{name} after `{pass}`"), &program).is_none() {
                println!("mlir-opt-22 is not installed: its reading is not tested");
                return;
            }
            read += 1;
        }
    }
    assert!(read > 50, "{read} programs");
}

/// A mistake of a pass changes a text; the comparison has to see it.
#[test]
fn a_changed_program_is_found() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("b"), Side::Number(6), Side::Number(5), Side::Number(5)]);
    let w = graph.floats(&[8, 6, 3, 3], (0..432).map(|n| ((n % 7) as f32 - 3.0) * 0.1).collect());
    let b = graph.floats(&[8], (0..8).map(|n| n as f32 * 0.3 - 1.0).collect());
    let conv = graph.node("Conv", &[&x, &w, &b], vec![("pads", attribute_ints([1, 1, 1, 1]))]);
    let relu = graph.node("Relu", &[&conv], Vec::new());
    graph.output(&relu);
    let model = Model::decode(graph.bytes().into(), tangram_dialects::context()).expect("imported");
    let mut programs = programs(&model, true);
    let inputs =
        inputs(&programs[0].1, &|_| 2, Like::Usual, &mut Rng::with_seed(2)).expect("inputs");
    assert_eq!(agree(&programs, &inputs), Ok(true));
    let printed = text::print(&programs[9].1);
    let mutations = [
        ("arith.addf", "arith.subf"),
        ("0.000000e+00 : f32", "1.000000e+00 : f32"),
        ("predicate = 4", "predicate = 2"),
        ("d3 + d6", "d3 + d5"),
        ("combine = \"add\"", "combine = \"max\""),
        ("sizes = [\"b\"", "sizes = [\"b - 1\""),
    ];
    let mut found = 0;
    for (old, new) in mutations {
        let changed = printed.replacen(old, new, 1);
        if changed == printed {
            continue;
        }
        let context = programs[0].1.context_arc().clone();
        let Ok(program) = text::parse(&changed, "nests.mlir", context) else { continue };
        programs[9].1 = program;
        assert!(agree(&programs, &inputs).is_err(), "{old} to {new} is not seen");
        found += 1;
    }
    assert!(found >= 4, "{found} changes");
}

/// The number of operations that a chain of `length` layers is written with, after the last pass.
fn operations(length: usize) -> usize {
    let mut graph = Graph::default();
    let mut x = graph.input(&[Side::Name("b"), Side::Number(8)]);
    for _ in 0..length {
        let w = graph.floats(&[8, 8], vec![0.25; 64]);
        x = graph.node("MatMul", &[&x, &w], Vec::new());
        x = graph.node("Softmax", &[&x], vec![("axis", (-1).into())]);
        x = graph.node("Tanh", &[&x], Vec::new());
    }
    graph.output(&x);
    let model = Model::decode(graph.bytes().into(), tangram_dialects::context()).expect("imported");
    let programs = programs(&model, false);
    let (_, program) = programs.last().expect("a program");
    tangram_ir::walk(program, program.root(), tangram_ir::Order::Pre).len()
}

#[test]
fn a_longer_chain_has_as_many_more_operations() {
    let (short, long) = (operations(4), operations(40));
    assert!(long <= 10 * short, "{short} operations, {long} for ten times as many layers");
    assert!(short < 4 * 120, "{short} operations of four layers");
}
