//! Indices that come from data, and sizes for which an access would leave its tensor: compiled code
//! reads nothing that is not its own, and says what the reference kernels say.

mod support;

use support::{Graph, Side, agree, run_emitted, same_bits, session_of, session_with};
use tangram_dialects::interpret::Datum;
use tangram_onnx::Model;
use tangram_tensor::Tensor;

fn tensor(extents: &[usize], values: Vec<f32>) -> Datum {
    Datum::Tensor(Tensor::from_vec(extents, values).expect("fits"))
}

/// A table of 6 rows of 5, and places in it, as numbers that the graph converts to integers.
fn lookup(operator: &str, places: &[Side]) -> (Vec<u8>, String, String) {
    let mut graph = Graph::default();
    let table = graph.input(&[Side::Name("rows"), Side::Number(5)]);
    let places = graph.input(places);
    let indices = graph.node("Cast", &[&places], vec![("to", 7.into())]);
    let scaled = graph.node("Tanh", &[&table], Vec::new());
    let found = graph.node(operator, &[&scaled, &indices], Vec::new());
    let end = graph.node("Relu", &[&found], Vec::new());
    graph.output(&end);
    (graph.bytes(), table, places)
}

#[test]
fn an_index_outside_of_its_tensor_is_an_error_that_names_it() {
    let rows = |count| tensor(&[count, 5], (0..count * 5).map(|at| at as f32 / 7.0).collect());
    let forms: [(&str, &[Side], &[usize]); 3] = [
        ("Gather", &[Side::Name("n")], &[4]),
        ("GatherElements", &[Side::Name("n"), Side::Number(5)], &[4, 5]),
        ("GatherND", &[Side::Name("n"), Side::Number(1)], &[4, 1]),
    ];
    for (operator, places, extents) in forms {
        let (bytes, table, places) = lookup(operator, places);
        let compiled = session_of(&bytes, false);
        let reference = session_of(&bytes, true);
        let counts = &compiled.coverage().operations;
        assert!(counts.values().all(|counts| counts.1 == 0), "{operator}: {counts:?}");
        let count: usize = extents.iter().product();
        for outside in [0.0, 5.0, -6.0, -1.0, 6.0, -7.0, 1e9, -1e9, 9.2e18, f32::NAN] {
            for at in [0, count / 2, count - 1] {
                let mut values: Vec<f32> = (0..count).map(|at| (at % 6) as f32).collect();
                values[at] = outside;
                let feed = [(table.as_str(), rows(6)), (places.as_str(), tensor(extents, values))];
                let what = format!("{operator} at {outside}");
                match (compiled.run(&feed), reference.run(&feed)) {
                    (Ok(found), Ok(expected)) => agree(&what, &found[0], &expected[0], 1e-6),
                    (Err(found), Err(expected)) => {
                        assert_eq!(found.to_string(), expected.to_string(), "{what}");
                    }
                    (found, expected) => panic!("{what}: {found:?}, expected {expected:?}"),
                }
            }
        }
        // Nothing to select from.
        let feed =
            [(table.as_str(), rows(0)), (places.as_str(), tensor(extents, vec![0.0; count]))];
        assert!(compiled.run(&feed).is_err() && reference.run(&feed).is_err(), "{operator}");
    }
}

/// Each part of a call finds only its own indices.
#[test]
fn an_index_that_one_of_several_threads_reads_is_found() {
    let (bytes, table, places) = lookup("Gather", &[Side::Name("n")]);
    let compiled = session_with(&bytes, |options| {
        options.threads = 3;
        options.grain = 1;
    });
    let rows = || tensor(&[6, 5], vec![0.5; 30]);
    for at in [0, 17, 40] {
        let mut values: Vec<f32> = (0..41).map(|at| (at % 6) as f32).collect();
        let feed = [(table.as_str(), rows()), (places.as_str(), tensor(&[41], values.clone()))];
        let before = compiled.run(&feed).expect("all are within");
        values[at] = 6.0;
        let outside = [(table.as_str(), rows()), (places.as_str(), tensor(&[41], values))];
        assert!(compiled.run(&outside).is_err(), "{at}");
        assert!(same_bits(&compiled.run(&feed).expect("as before")[0], &before[0]));
    }
}

/// `x[:, 0]` has to have a column, `x[:, 3]` four of them.
#[test]
fn sizes_that_leave_nothing_to_read_are_an_error() {
    for (index, least) in [(0, 1), (3, 4), (-2, 2)] {
        let mut graph = Graph::default();
        let x = graph.input(&[Side::Name("b"), Side::Name("n")]);
        let at = graph.ints(&[index]);
        let column = graph.node("Gather", &[&x, &at], vec![("axis", 1.into())]);
        let end = graph.node("Relu", &[&column], Vec::new());
        graph.output(&end);
        let bytes = graph.bytes();
        let (compiled, reference) = (session_of(&bytes, false), session_of(&bytes, true));
        let counts = &compiled.coverage().operations;
        assert!(counts.values().all(|counts| counts.1 == 0), "{counts:?}");
        for n in 0..7 {
            let values = (0..3 * n).map(|at| at as f32).collect();
            let feed = [(x.as_str(), tensor(&[3, n], values))];
            let (found, expected) = (compiled.run(&feed), reference.run(&feed));
            assert_eq!(expected.is_ok(), n >= least, "{index} of {n}");
            match (found, expected) {
                (Ok(found), Ok(expected)) => agree("a column", &found[0], &expected[0], 0.0),
                (found, expected) => assert!(found.is_err() && expected.is_err(), "{index} of {n}"),
            }
        }
    }
}

/// C without this library tells sizes that it is not for from indices that are outside.
#[test]
fn a_model_as_c_says_that_an_index_is_outside() {
    let mut graph = Graph::default();
    let places = graph.input(&[Side::Name("n")]);
    let table = graph.floats(&[3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let indices = graph.node("Cast", &[&places], vec![("to", 7.into())]);
    let found = graph.node("Gather", &[&table, &indices], Vec::new());
    graph.output(&found);
    let model = Model::decode(graph.bytes().into(), tangram_dialects::context()).expect("imported");
    let options = tangram_native::Options::default();
    let emitted = tangram_native::emit(&model, "m", &options).expect("emitted");
    let main = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"

static void each(void *context, int64_t parts, void (*body)(void *, int64_t), void *work)
{
    (void)context;
    for (int64_t part = parts - 1; part >= 0; part--)
        body(work, part);
}

int main(int count, char **arguments)
{
    void *weights = aligned_alloc(64, 4096), *arena = aligned_alloc(64, 4096);
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (!file || M_WEIGHTS_BYTES > 4096 || fread(weights, 1, M_WEIGHTS_BYTES, file) != M_WEIGHTS_BYTES)
        return 2;
    const int64_t dims[] = {3}, none[] = {-1};
    const float within[] = {2, 0, -1}, outside[] = {0, 1, 3};
    const void *right[] = {within}, *wrong[] = {outside};
    float rows[6];
    void *outputs[] = {rows};
    const struct m_threads threads = {each, NULL, 3};
    if (m_run(weights, arena, right, outputs, dims, NULL) || rows[0] != 5 || rows[5] != 6)
        return 3;
    if (m_run(weights, arena, wrong, outputs, dims, NULL) != 2)
        return 4;
    if (m_run(weights, arena, wrong, outputs, dims, &threads) != 2)
        return 5;
    if (m_run(weights, arena, right, outputs, none, NULL) != 1)
        return 6;
    return 0;
}
"#;
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"];
    assert_eq!(run_emitted(&emitted, main, &flags), Some(0));
}
