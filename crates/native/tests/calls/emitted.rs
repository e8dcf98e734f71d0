//! Models and programs as C: built beside a `main` of their own, and run without this library.

use tangram_affine::symbolic::Expr;
use tangram_lowering::{Call, ProgramStep};
use tangram_native::Cache;
use tangram_onnx::Model;

use super::{function, model, options, program};

#[test]
fn a_model_as_c_runs_without_this_library() {
    let model = model();
    let (_, args, ops, made) = function(&model);
    let mut program = program(&model);
    let refused = tangram_native::emit_program(&model, &program, "m", &options(Cache::none()))
        .expect_err("softmax is left");
    assert_eq!(refused.to_string(), "these operations are not compiled yet: Softmax");

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
    /* The weights of another build: the file ends with their hash. */
    ((unsigned char *)weights)[CNN_WEIGHTS_BYTES - 64] ^= 1;
    if (cnn_run(weights, NULL, inputs, outputs, dims, NULL) != 4)
        return 7;
    if (cnn_run(NULL, NULL, inputs, outputs, dims, NULL) != 4)
        return 8;
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
