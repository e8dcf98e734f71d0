//! Programs written by hand, with functions in C: calls, the arena, aliases, reference steps between.

mod emitted;

use std::sync::Arc;

use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::Datum;
use tangram_ir::{Op, Value};
use tangram_lowering::{Buffer, Call, Program, ProgramStep, Storage, Stored};
use tangram_machine::{Isa, Machine};
use tangram_native::{Cache, CompileError, Options, Session, SessionError};
use tangram_onnx::Model;
use tangram_onnx::proto::{
    Dimension, DimensionValue, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    TensorShapeProto, TensorType, TypeProto, TypeValue, ValueInfoProto,
};
use tangram_tensor::{DType, Tensor};

fn node(operator: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: Some(operator.to_owned()),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    }
}

fn info(name: &str) -> ValueInfoProto {
    let dims = [DimensionValue::DimParam("N".to_owned()), DimensionValue::DimValue(4)];
    let dim = dims.map(|value| Dimension { value: Some(value), ..Dimension::default() }).to_vec();
    let shape = Some(TensorShapeProto { dim });
    let tensor = TensorType { elem_type: Some(1), shape };
    let ty = TypeProto { value: Some(TypeValue::TensorType(tensor)), ..TypeProto::default() };
    ValueInfoProto { name: Some(name.to_owned()), r#type: Some(ty), ..ValueInfoProto::default() }
}

/// `y = softmax(relu(x) + z) * relu(x)`, and `relu(x) + z`.
fn model() -> Model {
    let graph = GraphProto {
        name: Some("graph".to_owned()),
        node: vec![
            node("Relu", &["x"], "r"),
            node("Add", &["r", "z"], "s"),
            node("Softmax", &["s"], "t"),
            node("Mul", &["t", "r"], "y"),
        ],
        input: vec![info("x"), info("z")],
        output: vec![info("y"), info("s")],
        ..GraphProto::default()
    };
    let opset = OperatorSetIdProto { domain: None, version: Some(17) };
    let proto = ModelProto {
        ir_version: Some(8),
        graph: Some(graph),
        opset_import: vec![opset],
        ..ModelProto::default()
    };
    let mut bytes = Vec::new();
    tangram_onnx::file::encode(&proto, &mut bytes).expect("encoded");
    Model::decode(bytes.into(), tangram_dialects::context()).expect("imported")
}

const SOURCE: &str = r#"
#include <stdint.h>
/* Adds relu(x) and z; relu(x) is kept. */
int relu_add(const int64_t *arguments, void *const *buffers, int64_t part, int64_t parts) {
    (void)part, (void)parts;
    const float *x = buffers[0], *z = buffers[1];
    float *r = buffers[2], *s = buffers[3];
    for (int64_t i = 0; i < arguments[0]; i++) {
        r[i] = x[i] > 0 ? x[i] : 0;
        s[i] = r[i] + z[i];
    }
    return 0;
}
int multiply(const int64_t *arguments, void *const *buffers, int64_t part, int64_t parts) {
    (void)part, (void)parts;
    const float *t = buffers[0], *r = buffers[1];
    float *y = buffers[2];
    for (int64_t i = 0; i < arguments[0]; i++) y[i] = t[i] * r[i];
    return 0;
}
"#;

fn function(model: &Model) -> (Op, Vec<Value>, Vec<Op>, Vec<Value>) {
    let (module, block) = (&model.module, model.graph().expect("a graph"));
    let ops: Vec<Op> = module.ops(block).filter(|&op| module.result_count(op) > 0).collect();
    let made = ops.iter().map(|&op| module.result(op, 0)).collect();
    (model.main().expect("main"), module.args(block).to_vec(), ops, made)
}

/// The program of [`model`]: two calls, softmax by reference between them.
fn program(model: &Model) -> Program {
    let (_, args, ops, made) = function(model);
    let size = Expr::symbol("N").try_mul(&Expr::int(4)).expect("small");
    let extents = vec![Expr::symbol("N"), Expr::int(4)];
    let mut program = Program { source: SOURCE.to_owned(), ..Program::default() };
    let storages = [
        (args[0], Storage::Input(0)),
        (args[1], Storage::Input(1)),
        (made[0], Storage::Arena),
        (made[1], Storage::Output(1)),
        (made[2], Storage::Arena),
        (made[3], Storage::Output(0)),
    ];
    for (i, (value, storage)) in storages.into_iter().enumerate() {
        program.buffers.push(Buffer {
            element: DType::F32,
            size: size.clone(),
            storage,
            per_part: false,
        });
        program.values.insert(value, Stored { buffer: i, extents: extents.clone() });
    }
    let call = |function: &str, buffers: Vec<usize>, writes: Vec<usize>, ops: Vec<Op>| {
        let arguments = vec![size.clone()];
        ProgramStep::Call(Call {
            function: function.to_owned(),
            arguments,
            buffers,
            ops,
            writes,
            work: Vec::new(),
        })
    };
    program.steps = vec![
        call("relu_add", vec![0, 1, 2, 3], vec![2, 3], vec![ops[0], ops[1]]),
        ProgramStep::Reference(ops[2]),
        call("multiply", vec![4, 2, 5], vec![2], vec![ops[3]]),
    ];
    program
}

fn options(cache: Cache) -> Options {
    let mut options = Options::default();
    options.cache = cache;
    options.machine = Machine::of(Isa::Scalar);
    options
}

fn session(change: impl FnOnce(&mut Program), options: &Options) -> Result<Session, SessionError> {
    let model = model();
    let mut program = program(&model);
    change(&mut program);
    let main = function(&model).0;
    Session::with_program(model, main, program, options)
}

fn tensor(rows: usize, seed: u64) -> Tensor {
    let mut random = fastrand::Rng::with_seed(seed);
    let data = (0..rows * 4).map(|_| random.f32() * 4.0 - 2.0).collect::<Vec<f32>>();
    Tensor::from_vec([rows, 4], data).expect("fits")
}

fn floats(datum: &Datum) -> Vec<f32> {
    let Datum::Tensor(tensor) = datum else { panic!("no tensor: {datum:?}") };
    tensor.to_vec().expect("floats")
}

/// Runs on `rows` rows, and compares with what the definition says.
fn check(session: &Session, rows: usize, seed: u64) {
    let (x, z) = (tensor(rows, seed), tensor(rows, seed + 1000));
    let inputs = [("z", Datum::Tensor(z.clone())), ("x", Datum::Tensor(x.clone()))];
    let found = session.run(&inputs).expect("runs");
    let (x, z) = (x.to_vec::<f32>().expect("floats"), z.to_vec::<f32>().expect("floats"));
    let relu: Vec<f32> = x.iter().map(|x| x.max(0.0)).collect();
    let sum: Vec<f32> = relu.iter().zip(&z).map(|(r, z)| r + z).collect();
    assert_eq!(floats(&found[1]), sum);
    let expected = sum.chunks(4).zip(relu.chunks(4)).flat_map(|(row, relu)| {
        let total: f32 = row.iter().map(|s| s.exp()).sum();
        row.iter().zip(relu).map(move |(s, r)| s.exp() / total * r).collect::<Vec<f32>>()
    });
    let found = floats(&found[0]);
    assert_eq!(found.len(), rows * 4);
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}

#[test]
fn calls_and_reference_steps_share_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = session(|_| (), &options(Cache::at(folder.path()))).expect("compiled");
    for (seed, rows) in [3, 1, 17, 3, 0, 200].into_iter().enumerate() {
        check(&session, rows, seed as u64);
    }
    let coverage = session.coverage();
    assert_eq!((coverage.compiled(), coverage.reference(), coverage.calls), (3, 1, 2));
    assert_eq!(coverage.operations["nn.softmax"], (0, 1));
    let inputs = [("x", Datum::Tensor(tensor(2, 0))), ("z", Datum::Tensor(tensor(2, 1)))];
    // Only `r` is in the arena: softmax lends its result, the outputs have memory of their own.
    assert_eq!(session.arena_bytes(&inputs).expect("a size"), 2 * 4 * 4);
    let (_, profile) = session.profile(&inputs).expect("runs");
    let names: Vec<&str> = profile.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["relu_add", "nn.softmax", "multiply"]);
    assert!(profile.total >= profile.steps.iter().map(|step| step.time).sum());
}

#[test]
fn one_session_runs_on_many_threads() {
    let session = Arc::new(session(|_| (), &options(Cache::none())).expect("compiled"));
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let session = session.clone();
            scope.spawn(move || {
                (0..100).for_each(|i| check(&session, (i % 7) + 1, thread * 1000 + i as u64));
            });
        }
    });
}

#[test]
fn the_second_session_compiles_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let wrapper = folder.path().join("compiler");
    // A compiler that writes down how often it is called.
    let script = format!("#!/bin/sh\necho \"$1\" >> {}\nexec cc \"$@\"\n", log.display());
    std::fs::write(&wrapper, script).expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&wrapper, mode).expect("executable");
    let mut options = options(Cache::at(folder.path().join("cache")));
    options.compiler = Some(wrapper.display().to_string());
    let builds = || {
        let log = std::fs::read_to_string(&log).expect("a log");
        log.lines().filter(|line| *line == "-std=gnu11").count()
    };
    for expected in [1, 1] {
        check(&session(|_| (), &options).expect("compiled"), 5, 0);
        assert_eq!(builds(), expected);
    }
    options.exact = true;
    session(|_| (), &options).expect("compiled");
    assert_eq!(builds(), 2, "other flags are other code");
}

#[test]
fn values_may_share_a_buffer() {
    // The sum overwrites what relu left, and softmax reads it under another value.
    let alias = |program: &mut Program| {
        let ProgramStep::Call(call) = &mut program.steps[0] else { panic!() };
        call.buffers = vec![0, 1, 2, 2];
        for stored in program.values.values_mut().filter(|stored| stored.buffer == 3) {
            stored.buffer = 2;
        }
    };
    let session = session(alias, &options(Cache::none())).expect("compiled");
    let (x, z) = (tensor(3, 1), tensor(3, 2));
    let found = session.run(&[("x", Datum::Tensor(x.clone())), ("z", Datum::Tensor(z.clone()))]);
    let found = found.expect("runs");
    let (x, z) = (x.to_vec::<f32>().expect("floats"), z.to_vec::<f32>().expect("floats"));
    let sum: Vec<f32> = x.iter().zip(&z).map(|(x, z)| x.max(0.0) + z).collect();
    assert_eq!(floats(&found[1]), sum, "an output in the arena is copied out of it");
}

#[test]
fn what_is_wrong_is_said() {
    let refused = |change: fn(&mut Program)| match session(change, &options(Cache::none())) {
        Ok(session) => {
            let inputs = [("x", Datum::Tensor(tensor(2, 0))), ("z", Datum::Tensor(tensor(2, 1)))];
            session.run(&inputs).expect_err("refused").to_string()
        }
        Err(error) => error.to_string(),
    };
    let found = refused(|program| program.source.clear());
    assert!(found.contains("relu_add"), "{found}");
    let found = refused(|program| program.source.push_str("int x = ;"));
    assert!(found.contains("the C compiler failed") && found.contains("error"), "{found}");
    let found = refused(|program| program.steps.swap(0, 2));
    assert!(found.contains("`multiply` reads buffer 4, which is empty"), "{found}");
    let found = refused(|program| program.buffers[2].size = Expr::symbol("M"));
    assert_eq!(found, "`M` is no size for these inputs");
    let found = refused(|program| {
        let three = |stored: &mut Stored| stored.extents[1] = Expr::int(3);
        program.values.values_mut().filter(|s| s.buffer == 4).for_each(three);
    });
    assert_eq!(found, "`nn.softmax` gave float32[2, 4], but float32[2, 3] was inferred");
}

#[test]
fn without_a_compiler_the_error_says_what_to_do() {
    let mut options = options(Cache::none());
    options.compiler = Some("/nowhere/cc".to_owned());
    let error = session(|_| (), &options).map(|_| ()).expect_err("no compiler");
    assert!(matches!(error, SessionError::Compile(CompileError::NoCompiler { .. })));
    let text = error.to_string();
    for word in ["/nowhere/cc", "apt install gcc", "CC", "--interpret"] {
        assert!(text.contains(word), "{text}");
    }
    options.interpret = true;
    check(&Session::new(model(), &options).expect("interpreted"), 3, 0);
}

#[test]
fn inputs_are_compared_with_what_is_declared() {
    let session = session(|_| (), &options(Cache::none())).expect("compiled");
    let refused = |inputs: &[(&str, Tensor)]| {
        let inputs: Vec<(&str, Datum)> =
            inputs.iter().map(|(name, t)| (*name, Datum::Tensor(t.clone()))).collect();
        session.run(&inputs).expect_err("refused").to_string()
    };
    let (x, z) = (tensor(2, 0), tensor(2, 1));
    assert_eq!(refused(&[("x", x.clone())]), "no value is given for `z`");
    let found = refused(&[("x", x.clone()), ("w", z.clone())]);
    assert_eq!(found, "the model has no input `w`; it has `x`, `z`");
    let found = refused(&[("x", x.clone()), ("x", z.clone())]);
    assert_eq!(found, "input `x` is given twice");
    let found = refused(&[("x", x.clone()), ("z", tensor(3, 0))]);
    assert_eq!(found, "input `z`: dimension 0 is 3, expected 2, which is `N` of input `x`");
    let flat = z.reshaped([8]).expect("fits");
    let found = refused(&[("x", x.clone()), ("z", flat)]);
    assert_eq!(found, "input `z`: rank 2 expected, 1 given (shape [8])");
    let wide = z.reshaped([1, 8]).expect("fits");
    let found = refused(&[("x", x.clone()), ("z", wide)]);
    assert!(found.starts_with("input `z`: dimension"), "{found}");
    let whole = Tensor::from_vec([2, 4], vec![1i64; 8]).expect("fits");
    let found = refused(&[("x", whole), ("z", z)]);
    assert_eq!(found, "input `x`: elements of type float32 expected, int64 given");
}

/// A sum whose transpose is read twice, once transposed back: nobody may take its writer away while
/// another one still reads it.
#[test]
fn a_sum_behind_a_transpose_is_made_for_all_that_read_it() {
    let nodes = vec![
        node("Transpose", &["z"], "w"),
        node("MatMul", &["x", "w"], "t"),
        node("Transpose", &["t"], "p"),
        node("Relu", &["p"], "y"),
        node("Transpose", &["p"], "s"),
    ];
    let open = |name: &str| {
        let tensor = TensorType { elem_type: Some(1), shape: None };
        let ty = TypeProto { value: Some(TypeValue::TensorType(tensor)), ..TypeProto::default() };
        ValueInfoProto {
            name: Some(name.to_owned()),
            r#type: Some(ty),
            ..ValueInfoProto::default()
        }
    };
    let graph = GraphProto {
        name: Some("graph".to_owned()),
        node: nodes,
        input: vec![info("x"), info("z")],
        output: vec![open("y"), open("s")],
        ..GraphProto::default()
    };
    let opset = OperatorSetIdProto { domain: None, version: Some(17) };
    let proto = ModelProto {
        ir_version: Some(8),
        graph: Some(graph),
        opset_import: vec![opset],
        ..ModelProto::default()
    };
    let mut bytes = Vec::new();
    tangram_onnx::file::encode(&proto, &mut bytes).expect("encoded");
    let run = |interpret: bool| {
        let context = tangram_dialects::context();
        let model = Model::decode(bytes.clone().into(), context).expect("imported");
        let mut options = Options::default();
        options.interpret = interpret;
        let session = Session::new(model, &options).expect("a session");
        assert_eq!(session.coverage().calls > 0, !interpret);
        let tensor = |from: i16| {
            let values: Vec<f32> = (0..12).map(|i| f32::from((i * 7 + from) % 11 - 5)).collect();
            Datum::Tensor(Tensor::from_vec([3, 4], values).expect("fits"))
        };
        session.run(&[("x", tensor(0)), ("z", tensor(4))]).expect("it runs")
    };
    assert_eq!(run(false), run(true));
}

/// A session refuses sizes that its code was not made for.
#[test]
fn a_session_refuses_sizes_outside_their_range() {
    let context = tangram_dialects::context();
    assert!(tangram_dialects::dims::assume_range(&context, "batch", 1, 2));
    let model = Model::open("../../examples/models/cnn.onnx", context).expect("read");
    let session = Session::new(model, &options(Cache::none())).expect("a session");
    let image = |n: usize| {
        let zeros = vec![0_f32; n * 3 * 32 * 32];
        Datum::Tensor(Tensor::from_vec([n, 3, 32, 32], zeros).expect("fits"))
    };
    assert!(session.run(&[("image", image(2))]).is_ok());
    let refused = session.run(&[("image", image(3))]).expect_err("3 is outside");
    let said = "input `image`: `batch` is 3, but the model was opened for 1 to 2";
    assert_eq!(refused.to_string(), said);
}
