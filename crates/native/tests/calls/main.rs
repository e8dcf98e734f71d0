//! Programs written by hand, with functions in C: calls, the arena, aliases, reference steps between.

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
    assert!(found.contains("refused the code") && found.contains("error"), "{found}");
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

#[test]
fn a_model_as_c_runs_without_this_library() {
    let model = model();
    let (_, args, ops, made) = function(&model);
    let mut program = program(&model);
    let refused = tangram_native::emit_program(&model, &program, "m", &options(Cache::none()))
        .expect_err("softmax is left");
    assert_eq!(refused.to_string(), "these operations are not compiled yet: nn.softmax");

    // Softmax replaced by a function that copies, and a buffer that takes the place of `s`.
    program.source.push_str(
        "int copy(const int64_t *n, void *const *b, int64_t part, int64_t parts) {\n    \
         (void)part, (void)parts;\n    \
         for (int64_t i = 0; i < n[0]; i++) ((float *)b[1])[i] = ((const float *)b[0])[i];\n    return 0;\n}\n",
    );
    let size = program.buffers[0].size.clone();
    program.steps[1] = ProgramStep::Call(Call {
        function: "copy".to_owned(),
        arguments: vec![size],
        buffers: vec![3, 4],
        writes: vec![1],
        ops: vec![ops[2]],
        work: Vec::new(),
    });
    let _ = (args, made);
    let emitted =
        tangram_native::emit_program(&model, &program, "my model", &options(Cache::none()))
            .expect("emitted");
    assert!(emitted.weights.is_empty());
    assert!(emitted.header.contains("inputs[1]: z float32[N, 4]"), "{}", emitted.header);
    assert!(emitted.header.contains("dims[0]: N"), "{}", emitted.header);
    let folder = tempfile::tempdir().expect("a folder");
    let main = r#"
#include <stdio.h>
#include "model.h"
int main(void) {
    int64_t dims[] = {3};
    static _Alignas(64) char arena[1 << 12];
    float x[12], z[12], y[12], s[12];
    for (int i = 0; i < 12; i++) x[i] = i % 5 - 2, z[i] = i;
    const void *inputs[] = {x, z};
    void *outputs[] = {y, s};
    if (my_model_arena_bytes(dims, 0) > sizeof arena) return 2;
    if (my_model_run(0, arena, inputs, outputs, dims, 0)) return 3;
    for (int i = 0; i < 12; i++) {
        float r = x[i] > 0 ? x[i] : 0;
        if (s[i] != r + z[i] || y[i] != s[i] * r) return 4;
    }
    printf("%zu\n", my_model_arena_bytes(dims, 0));
    return 0;
}
"#;
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("model.h"), &emitted.header).expect("written");
    std::fs::write(path("model.c"), &emitted.source).expect("written");
    std::fs::write(path("main.c"), main).expect("written");
    let built = std::process::Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-o"])
        .args([path("main"), path("main.c"), path("model.c")])
        .output()
        .expect("a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = std::process::Command::new(path("main")).output().expect("runs");
    assert_eq!((ran.status.code(), ran.stdout.as_slice()), (Some(0), b"128\n".as_slice()));
}

#[test]
fn expressions_in_c_have_the_values_that_they_have() {
    let mut random = fastrand::Rng::with_seed(9);
    let symbol = |random: &mut fastrand::Rng| Expr::symbol(["N", "M", "K"][random.usize(0..3)]);
    let mut exprs: Vec<Expr> = Vec::new();
    while exprs.len() < 300 {
        let pick = |random: &mut fastrand::Rng, exprs: &[Expr]| match random.usize(0..4) {
            0 => Expr::int(random.i64(-9..10)),
            1 => symbol(random),
            _ => exprs.get(random.usize(0..exprs.len().max(1))).cloned().unwrap_or(Expr::int(1)),
        };
        let (a, b) = (pick(&mut random, &exprs), pick(&mut random, &exprs));
        let divisor = Expr::int(random.i64(1..9));
        let made = match random.usize(0..7) {
            0 => a.try_add(&b),
            1 => a.try_sub(&b),
            2 => a.try_mul(&b),
            3 => a.floor_div(&divisor),
            4 => a.trunc_div(&divisor),
            5 => Expr::min(&a, &b),
            _ => Expr::max(&a, &b),
        };
        exprs.extend(made.filter(|made| made.to_string().len() < 300));
    }
    let values = [("K", -3i64), ("M", 7), ("N", 12)];
    let find = |name: &str| values.iter().find(|(known, _)| *known == name).map(|found| found.1);
    let mut text = format!(
        "#include <stdint.h>\n#include <stdio.h>\n{}int main(void) {{ int64_t K=-3, M=7, N=12;\n",
        tangram_affine::symbolic::C_FUNCTIONS
    );
    let mut expected = String::new();
    for expr in &exprs {
        let Some(value) = expr.eval(&find).filter(|value| value.abs() < 1 << 40) else { continue };
        let code = expr.to_c(&str::to_owned);
        text.push_str(&format!("printf(\"%lld\\n\", (long long)({code}));\n"));
        expected.push_str(&format!("{value}\n"));
    }
    text.push_str("return (int)(K & M & N & 0); }\n");
    let folder = tempfile::tempdir().expect("a folder");
    let (source, binary) = (folder.path().join("main.c"), folder.path().join("main"));
    std::fs::write(&source, text).expect("written");
    let built = std::process::Command::new("cc").arg("-o").arg(&binary).arg(&source).output();
    assert!(built.expect("a C compiler").status.success());
    let ran = std::process::Command::new(&binary).output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
    assert!(expected.lines().count() > 200);
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

/// A model as C whose host has threads of its own: any number of them makes the same bits.
#[test]
fn a_model_as_c_runs_on_the_threads_of_its_host() {
    let model = Model::open("../../examples/models/cnn.onnx", tangram_dialects::context());
    let emitted = tangram_native::emit(&model.expect("read"), "cnn", &options(Cache::none()));
    let emitted = emitted.expect("emitted");
    let folder = tempfile::tempdir().expect("a folder");
    let main = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cnn.h"

struct part { void (*body)(void *, int64_t); void *work; int64_t part; };
static int shared;

static void *one(void *of)
{
    struct part *part = of;
    part->body(part->work, part->part);
    return NULL;
}

static void parallel_for(void *context, int64_t parts, void (*body)(void *, int64_t), void *work)
{
    pthread_t threads[8];
    struct part own[8];
    if (context != &shared || parts < 2 || parts > 8)
        exit(5);
    shared++;
    for (int64_t i = 0; i < parts; i++) {
        own[i] = (struct part){body, work, i};
        if (pthread_create(&threads[i], NULL, one, &own[i]))
            exit(6);
    }
    for (int64_t i = 0; i < parts; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
    int64_t dims[] = {2, 64, 64};
    static float image[2 * 3 * 64 * 64], shares[20], again[20];
    for (int i = 0; i < 2 * 3 * 64 * 64; i++)
        image[i] = (float)(i * 7 % 19) / 8 - 1;
    void *weights = aligned_alloc(64, (CNN_WEIGHTS_BYTES + 63) / 64 * 64);
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (!file || fread(weights, 1, CNN_WEIGHTS_BYTES, file) != CNN_WEIGHTS_BYTES)
        return 2;
    fclose(file);
    const void *inputs[] = {image};
    void *outputs[] = {shares}, *others[] = {again};
    void *arena = aligned_alloc(64, (cnn_arena_bytes(dims, NULL) + 63) / 64 * 64);
    if (cnn_run(weights, arena, inputs, outputs, dims, NULL))
        return 3;
    free(arena);
    for (int64_t most = 1; most <= 8; most++) {
        struct cnn_threads threads = {parallel_for, &shared, most};
        arena = aligned_alloc(64, (cnn_arena_bytes(dims, &threads) + 63) / 64 * 64);
        if (cnn_run(weights, arena, inputs, others, dims, &threads))
            return 3;
        free(arena);
        if (memcmp(shares, again, sizeof shares))
            return 4;
    }
    free(weights);
    printf("%d\n", shared);
    return shared == 0;
}
"#;
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("cnn.h"), &emitted.header).expect("written");
    std::fs::write(path("cnn.c"), &emitted.source).expect("written");
    std::fs::write(path("cnn.weights"), &emitted.weights).expect("written");
    std::fs::write(path("main.c"), main).expect("written");
    let built = std::process::Command::new("cc")
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
        .args([path("main"), path("main.c"), path("cnn.c")])
        .arg("-lm")
        .output()
        .expect("a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = std::process::Command::new(path("main")).arg(path("cnn.weights")).output();
    let ran = ran.expect("it starts");
    assert!(ran.status.success(), "{ran:?}");
}

/// The greatest arena is that of the largest sizes, and sizes outside the ranges are refused.
#[test]
fn a_model_as_c_keeps_its_promise_of_memory() {
    let context = tangram_dialects::context();
    for (symbol, most) in [("batch", 16), ("height", 40), ("width", 50)] {
        assert!(tangram_dialects::dims::assume_range(&context, symbol, 1, most));
    }
    let model = Model::open("../../examples/models/cnn.onnx", context).expect("read");
    let emitted = tangram_native::emit(&model, "cnn", &options(Cache::none())).expect("emitted");
    let promise = emitted.arena.as_ref().expect("a range for each size");
    let within: Vec<String> = promise.within.iter().map(|range| format!("{range:?}")).collect();
    assert_eq!(within, ["(\"batch\", (1, 16))", "(\"height\", (1, 40))", "(\"width\", (1, 50))"]);
    let main = r#"
#include <stdio.h>
#include "cnn.h"

static void parallel_for(void *context, int64_t parts, void (*body)(void *, int64_t), void *work)
{
    (void)context, (void)parts, (void)body, (void)work;
}

int main(void)
{
    size_t most = 0, most_of_four = 0;
    int64_t dims[3];
    for (dims[0] = 1; dims[0] <= 16; dims[0]++)
        for (dims[1] = 1; dims[1] <= 40; dims[1]++)
            for (dims[2] = 1; dims[2] <= 50; dims[2]++) {
                const struct cnn_threads four = {parallel_for, NULL, 4};
                const size_t one = cnn_arena_bytes(dims, NULL);
                const size_t shared = cnn_arena_bytes(dims, &four);
                most = one > most ? one : most;
                most_of_four = shared > most_of_four ? shared : most_of_four;
            }
    /* Sizes grow with each extent here, so the bound is what the largest need. */
    if (most != CNN_ARENA_BYTES)
        return 2;
    if (most_of_four > CNN_ARENA_BYTES + 3 * (size_t)CNN_ARENA_BYTES_PER_THREAD)
        return 3;
    const int64_t outside[][3] = {{0, 32, 32}, {17, 32, 32}, {1, 41, 32}, {1, 32, 51}};
    for (int i = 0; i < 4; i++)
        if (cnn_run(NULL, NULL, NULL, NULL, outside[i], NULL) != 1)
            return 4;
    return 0;
}
"#;
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in
        [("cnn.c", &emitted.source[..]), ("cnn.h", &emitted.header), ("main.c", main)]
    {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let built = std::process::Command::new("cc")
        .args(["-O1", "-std=gnu11", "cnn.c", "main.c", "-o", "main", "-lm"])
        .current_dir(folder.path())
        .status();
    assert!(built.expect("a compiler").success());
    let ran = std::process::Command::new(folder.path().join("main")).status().expect("it starts");
    assert_eq!(ran.code(), Some(0));
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
