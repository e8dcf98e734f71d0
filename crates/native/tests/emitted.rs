//! Models as C, built as users build C: without the flags that a session gives its compiler.

mod support;

use support::{Graph, Side, attribute_ints, run_emitted};
use tangram_machine::{Isa, Machine};
use tangram_native::Emitted;
use tangram_onnx::Model;

const INT32: i64 = 6;
const INT64: i64 = 7;

fn emitted(graph: Graph, exact: bool) -> Emitted {
    let bytes = graph.bytes();
    let model = Model::decode(bytes.into(), tangram_dialects::context()).expect("imported");
    let mut options = tangram_native::Options::default();
    options.exact = exact;
    tangram_native::emit(&model, "m", &options).expect("emitted")
}

/// A program that runs a model of three inputs of `n` floats and compares its results.
fn program(inputs: &str, type_: &str, expected: &str) -> String {
    format!(
        r#"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"

int main(int count, char **arguments)
{{
    void *weights = aligned_alloc(64, 4096), *arena = aligned_alloc(64, 4096);
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (!file || M_WEIGHTS_BYTES > 4096 || fread(weights, 1, M_WEIGHTS_BYTES, file) != M_WEIGHTS_BYTES)
        return 2;
    {inputs}
    const int64_t dims[] = {{3}};
    {type_} results[3];
    const {type_} expected[3] = {expected};
    void *outputs[] = {{results}};
    if (m_run(weights, arena, inputs, outputs, dims, NULL))
        return 3;
    free(weights), free(arena), fclose(file);
    for (int i = 0; i < 3; i++)
        printf("%.17g for %.17g\n", (double)results[i], (double)expected[i]);
    return memcmp(results, expected, sizeof expected) ? 4 : 0;
}}
"#
    )
}

/// Flags of an optimising build, and of one that stops where C has no meaning.
const BUILDS: [&[&str]; 2] = [
    &["-O2", "-march=native"],
    &["-O1", "-g", "-fsanitize=undefined,float-cast-overflow", "-fno-sanitize-recover=all"],
];

#[test]
fn integers_wrap_around() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("n")]);
    let whole = graph.node("Cast", &[&x], vec![("to", INT64.into())]);
    // 2^62, twice which is out of range: (y * 4) / 4, |y * 2| and y - 1 < y.
    let big = graph.ints(&[1 << 62]);
    let [one, two, four] = [1, 2, 4].map(|value| graph.ints(&[value]));
    let y = graph.node("Mul", &[&whole, &big], Vec::new());
    let product = graph.node("Mul", &[&y, &four], Vec::new());
    let quotient = graph.node("Div", &[&product, &four], Vec::new());
    let twice = graph.node("Mul", &[&y, &two], Vec::new());
    let absolute = graph.node("Abs", &[&twice], Vec::new());
    let negative = graph.node("Neg", &[&twice], Vec::new());
    let less = graph.node("Sub", &[&twice, &one], Vec::new());
    let is_less = graph.node("Less", &[&less, &twice], Vec::new());
    let is_less = graph.node("Cast", &[&is_less], vec![("to", INT64.into())]);
    let sum = graph.node("Add", &[&quotient, &is_less], Vec::new());
    let same = graph.node("Equal", &[&absolute, &negative], Vec::new());
    let same = graph.node("Cast", &[&same], vec![("to", INT64.into())]);
    let all = graph.node("Add", &[&sum, &same], Vec::new());
    let all = graph.node("Cast", &[&all], vec![("to", INT32.into())]);
    graph.output(&all);
    let emitted = emitted(graph, false);
    let inputs = "const float x[3] = {1, 2, 3};\n    const void *inputs[] = {x};";
    // Of 2^62 times 1 and 3, twice which is -2^63, nothing less than which there is.
    let main = program(inputs, "int32_t", "{1, 2, 1}");
    for flags in BUILDS {
        assert_eq!(run_emitted(&emitted, &main, flags), Some(0), "{flags:?}");
    }
}

#[test]
fn exact_sums_and_products_are_rounded_by_themselves() {
    let mut graph = Graph::default();
    let [a, b, c] = [0, 1, 2].map(|_| graph.input(&[Side::Name("n")]));
    let product = graph.node("Mul", &[&a, &b], Vec::new());
    let sum = graph.node("Add", &[&product, &c], Vec::new());
    graph.output(&sum);
    let emitted = emitted(graph, true);
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, whose last part is lost by itself.
    let inputs = "const float a[3] = {1 + 0x1p-12f, 1, 2}, c[3] = {-1 - 0x1p-11f, 1, 1};\n    \
                  const void *inputs[] = {a, a, c};";
    let main = program(inputs, "float", "{0, 2, 5}");
    for flags in BUILDS {
        assert_eq!(run_emitted(&emitted, &main, flags), Some(0), "{flags:?}");
    }
}

#[test]
fn functions_of_what_is_no_number_have_a_meaning_in_c() {
    let mut graph = Graph::default();
    let x = graph.input(&[Side::Name("n")]);
    let mut y = graph.node("Exp", &[&x], Vec::new());
    for function in ["Sigmoid", "Tanh", "Erf"] {
        let other = graph.node(function, &[&x], Vec::new());
        y = graph.node("Max", &[&y, &other], Vec::new());
    }
    graph.output(&y);
    let emitted = emitted(graph, false);
    let inputs = "const float x[3] = {NAN, INFINITY, -INFINITY};\n    const void *inputs[] = {x};";
    let main = program(inputs, "float", "{NAN, INFINITY, 0}");
    for flags in BUILDS {
        assert_eq!(run_emitted(&emitted, &main, flags), Some(0), "{flags:?}");
    }
}

/// The assembly of a model.
fn listing(emitted: &Emitted, flags: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("m.h"), &emitted.header).expect("written");
    std::fs::write(path("m.c"), &emitted.source).expect("written");
    let built = std::process::Command::new("cc")
        .args(["-S", "-w", "-o"])
        .args([path("m.s"), path("m.c")])
        .args(flags)
        .output();
    let is_built = built.is_ok_and(|built| built.status.success());
    is_built.then(|| std::fs::read_to_string(path("m.s")).expect("a listing"))
}

/// The loops without a jump inside that have as many fused products and sums.
fn loops_of_updates(listing: &str, updates: usize) -> Vec<Vec<&str>> {
    let lines: Vec<&str> = listing.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (end, line) in lines.iter().enumerate() {
        let target = line.strip_prefix('j').and_then(|rest| rest.split_whitespace().nth(1));
        let label = target.map(|target| format!("{target}:"));
        let Some(from) = lines[..end].iter().rposition(|line| Some(*line) == label.as_deref())
        else {
            continue;
        };
        let body = &lines[from + 1..end];
        let is_inner = !body.iter().any(|line| line.starts_with('j') || line.ends_with(':'));
        let fused = body.iter().filter(|line| line.starts_with("vfmadd")).count();
        if is_inner && fused == updates {
            found.push(body.to_vec());
        }
    }
    found
}

/// A product with four constants behind its sum, where a tile of 6 by 2 vectors leaves one register.
fn gated() -> Graph {
    let mut graph = Graph::default();
    let x = graph.input(&[7600, 128].map(Side::Number));
    let weights = graph.floats(&[128, 128], vec![0.5; 128 * 128]);
    let bias = graph.floats(&[128], vec![0.25; 128]);
    let y = graph.node("MatMul", &[&x, &weights], Vec::new());
    let y = graph.node("Add", &[&y, &bias], Vec::new());
    let gate = graph.node("HardSigmoid", &[&y], Vec::new());
    let y = graph.node("Mul", &[&y, &gate], Vec::new());
    graph.output(&y);
    graph
}

/// Two products and a softmax in one function: rows of the second one are scaled.
fn attention() -> Graph {
    let mut graph = Graph::default();
    let x = graph.input(&[6, 300, 16].map(Side::Number));
    let [keys, values] =
        [[6, 16, 300], [6, 300, 16]].map(|shape| graph.input(&shape.map(Side::Number)));
    let y = graph.node("MatMul", &[&x, &keys], Vec::new());
    let y = graph.node("Softmax", &[&y], vec![("axis", (-1).into())]);
    let y = graph.node("MatMul", &[&y, &values], Vec::new());
    graph.output(&y);
    graph
}

#[test]
fn sums_of_a_tile_stay_in_registers_whatever_follows_them() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: reads listings of x86");
        return;
    }
    for (graph, most) in [(gated(), 1), (attention(), 2)] {
        let model =
            Model::decode(graph.bytes().into(), tangram_dialects::context()).expect("imported");
        let mut options = tangram_native::Options::default();
        options.machine = Machine::of(Isa::Avx2);
        let emitted = tangram_native::emit(&model, "m", &options).expect("emitted");
        let flags = ["-O3", "-mavx2", "-mfma", "-ffp-contract=fast", "-fPIC", "-fno-trapping-math"];
        let Some(text) = listing(&emitted, &flags) else {
            println!("skipped: needs cc with {flags:?}");
            return;
        };
        let loops = loops_of_updates(&text, 12);
        assert!((1..=most).contains(&loops.len()), "{} loops of a tile of 6 by 2", loops.len());
        for body in loops {
            let in_memory = |line: &&&str| line.contains("(%rsp)") || line.contains("(%rbp)");
            assert_eq!(body.iter().filter(in_memory).count(), 0, "{body:#?}");
        }
    }
}

/// A convolution of 16 channels with as many results, behind one that leaves channels side by side.
fn few_results(results: i64) -> Graph {
    let mut graph = Graph::default();
    let x = graph.input(&[1, 3, 20, 21].map(Side::Number));
    let weights = graph.floats(&[16, 3, 3, 3], vec![0.5; 432]);
    let x = graph.node("Conv", &[&x, &weights], Vec::new());
    let count = usize::try_from(results).expect("a count");
    let weights = graph.floats(&[results, 16, 5, 5], vec![0.25; count * 400]);
    let y = graph.node("Conv", &[&x, &weights], Vec::new());
    let y = graph.node("Sigmoid", &[&y], Vec::new());
    graph.output(&y);
    graph
}

#[test]
fn convolutions_with_few_results_run_in_tiles() {
    for results in [1, 2, 3, 8] {
        let text = emitted(few_results(results), false).source;
        // All sums are in tiles: none has lanes of its own.
        assert!(text.contains("static void tg_tile_"), "{results} results");
        assert!(!text.contains("acc["), "{results} results");
    }
}

#[test]
fn windows_with_steps_of_two_read_even_and_odd_columns_apart() {
    let text = |steps: i64| {
        let mut graph = Graph::default();
        let x = graph.input(&[1, 3, 40, 41].map(Side::Number));
        let attributes =
            vec![("kernel_shape", attribute_ints([3, 3])), ("strides", attribute_ints([1, steps]))];
        let y = graph.node("MaxPool", &[&x], attributes);
        graph.output(&y);
        emitted(graph, false).source
    };
    // The place of a tap of the window: in which half, and where.
    let apart = |steps| {
        let text = text(steps);
        text.contains("tg_mod(i5, 2)") && text.contains("tg_floord(i5, 2)")
    };
    assert!(apart(2));
    assert!(!apart(1) && !apart(3));
}

/// Pictures of 31 by 31: tiles of rows of nearly one size, windows by a kernel of vectors at the border
/// too, and channels last and first again in squares.
#[test]
fn windows_rows_and_changes_of_order_have_code_of_their_own() {
    let mut graph = Graph::default();
    let x = graph.input(&[1, 8, 31, 31].map(Side::Number));
    let weights = graph.floats(&[32, 8, 1, 1], vec![0.5; 256]);
    let x = graph.node("Conv", &[&x, &weights], Vec::new());
    let weights = graph.floats(&[32, 1, 5, 5], vec![0.25; 800]);
    let attributes = vec![("group", 32.into()), ("pads", attribute_ints([2, 2, 2, 2]))];
    let x = graph.node("Conv", &[&x, &weights], attributes);
    let weights = graph.floats(&[8, 32, 1, 1], vec![0.5; 256]);
    let y = graph.node("Conv", &[&x, &weights], Vec::new());
    graph.output(&y);
    let model = Model::decode(graph.bytes().into(), tangram_dialects::context()).expect("imported");
    for (isa, window, square) in [
        (Isa::Avx2, "tg_window_float_4x2x8(25,", "tg_transpose_8("),
        (Isa::Neon, "tg_window_float_4x4x4(25,", "tg_transpose_4("),
    ] {
        let mut options = tangram_native::Options::default();
        options.machine = Machine::of(isa);
        let text = tangram_native::emit(&model, "m", &options).expect("emitted").source;
        for expected in [window, square, "const int64_t number = "] {
            assert!(text.contains(expected), "{isa}: {expected}");
        }
    }
}
