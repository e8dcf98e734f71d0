//! Evaluation of single operations against values worked out with NumPy's rules.

mod support;

use support::{build, cases_in};
use tangram_dialects::{constant, eval::evaluate};

/// Attribute and operand forms, defaults, optional operands: operation, then expected elements.
const TABLE: &str = r#"
clip(i32[4] = (-3, 0, 5, 9)) {a_min=-1, a_max=6} -> -1 0 5 6
clip(i32[4] = (-3, 0, 5, 9), none, i32[] = (4)) -> -3 0 4 4
clip(i64[1] = (9007199254740993)) {a_min=9007199254740993} -> 9007199254740993
divide(i64[2] = (-7, 7), i64[] = (2)) -> -3 3
mod(i64[2] = (-7, 7), i64[] = (3)) -> 2 1
mod(i64[2] = (-7, 7), i64[] = (3)) {fmod=true} -> -1 1
leaky_relu(f32[2] = (-100, 3)) -> -1 3
where(i1[2] = (1, 0), i64[2] = (5, 6), i64[] = (9)) -> 5 9
add_n(i64[2] = (1, 2), i64[1] = (10), i64[2] = (100, 200)) -> 111 212
bias_add(f32[1,2,2] = (1, 2, 3, 4), f32[2] = (10, 20)) -> 11 12 23 24
global_avg_pool(f32[1,2,2] = (1, 3, 5, 9)) -> 2 7
global_max_pool(f32[1,2,2] = (1, 3, 9, 5)) -> 3 9
sum(f32[2,2] = (1, 2, 3, 4)) {axis=[0], keepdims=false} -> 4 6
sum(f32[2,2] = (1, 2, 3, 4), i64[1] = (-1)) -> 3 7
max(f32[2,2] = (1, 2, 3, 4)) -> 4
argmax(f32[2,2] = (1, 2, 4, 4)) {axis=1} -> 1 0
argmax(f32[2,2] = (1, 2, 4, 4)) {axis=1, select_last_index=true} -> 1 1
cumsum(i64[3] = (1, 2, 3)) {axis=0, exclusive=true} -> 0 1 3
cumsum(i64[3] = (1, 2, 3), i64[] = (0)) {reverse=true} -> 6 5 3
split(i64[4] = (1, 2, 3, 4)) {axis=0, indices_or_sections=[1]} -> 1 | 2 3 4
split(i64[4] = (1, 2, 3, 4), i64[2] = (3, 1)) {axis=0} -> 1 2 3 | 4
strided_slice(i64[4] = (1, 2, 3, 4)) {begin=[-1], end=[-9], axes=[0], strides=[-2]} -> 4 2
pad(i64[2] = (1, 2)) {pad_width=[1,2], pad_value=7.0} -> 7 1 2 7 7
pad(i64[2] = (1, 2), i64[2] = (0, 1), i64[] = (5)) -> 1 2 5
transpose(i64[2,2] = (1, 2, 3, 4)) -> 1 3 2 4
take(i64[3] = (5, 6, 7), i64[2] = (-1, 0)) -> 7 5
topk(i64[4] = (3, 9, 1, 7)) {k=2} -> 9 7 | 1 3
one_hot(i64[2] = (2, 0), i64[] = (3), f32[2] = (0, 8)) -> 0 0 8 8 0 0
full() {shape=[2], value=dense i64[1] 7} -> 7 7
cast(f32[2] = (-2, 3)) {dtype=i1} -> 1 1
trilu(i64[2,2] = (1, 2, 3, 4)) {upper=false, k=-1} -> 0 0 3 0
dropout(f32[2] = (4, 5)) -> 4 5
"#;

#[test]
fn operations_compute_what_they_state() {
    for mut case in cases_in(TABLE, "table") {
        let stated = case.expected.clone();
        let expected: Vec<&str> = stated.split('|').map(str::trim).collect();
        let wanted = expected.join(" | ");
        // The number of results is read off the expected types, of which there are none here.
        case.expected = vec!["f32[]"; expected.len()].join(",");
        let (module, op) = build(&case, str::to_owned);
        let op = op.unwrap_or_else(|e| panic!("{}: {e}", case.place));
        let operand = |v| constant::constant_tensor(&module, v);
        let operands: Vec<_> = module.operands(op).map(operand).collect();
        let results = evaluate(&module, op, &operands);
        let results = results.unwrap_or_else(|e| panic!("{} {}: {e}", case.place, case.name));
        let text = |t: &tangram_tensor::Tensor| match t.i64s() {
            Ok(ints) => ints.iter().map(i64::to_string).collect::<Vec<_>>().join(" "),
            Err(_) => t.f64s().unwrap().iter().map(f64::to_string).collect::<Vec<_>>().join(" "),
        };
        let found: Vec<String> = results.iter().take(expected.len()).map(text).collect();
        assert_eq!(found.join(" | "), wanted, "{} {}", case.place, case.name);
    }
}
