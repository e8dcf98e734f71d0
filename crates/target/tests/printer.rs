//! What variables hold, where statements stand, and what has no text.

use tangram_target::{GNU_C, PrintError, function};

fn printed(body: &str) -> Result<String, PrintError> {
    let source = format!(
        "func.func @f(%x: memref<?xf32>, %n: index, %y: memref<?xf32>, %z: memref<?xf64>) {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %zero = arith.constant 0.0 : f32
        {body}
        func.return
    }}"
    );
    let context = tangram_dialects::context();
    let module = tangram_ir::text::parse(&source, "f.mlir", context).expect("a text");
    tangram_ir::verify(&module).expect("valid");
    let first = module.first_op(module.body()).expect("a function");
    function(&module, first, &GNU_C)
}

/// Compares the statements of a function.
fn check(body: &str, expected: &[&str]) {
    let text = printed(body).expect("a text");
    let lines: Vec<&str> = text.lines().skip_while(|line| *line != "{").skip(1).collect();
    let lines = lines.split(|line| *line == "}").next().expect("an end");
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    assert_eq!(lines, expected, "{text}");
}

const CARRIED: &str = "iter_args(%a = %zero, %b = %zero) -> (f32, f32)";

#[test]
fn a_carried_value_that_is_read_later_is_not_written_before() {
    // The old value is stored behind the sum that becomes the next one.
    check(
        "%r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {
            %v = memref.load %x[%i] : memref<?xf32>
            %s = arith.addf %a, %v : f32
            memref.store %a, %y[%i] : memref<?xf32>
            scf.yield %s : f32
        }",
        &[
            "float v4 = 0;",
            "for (long v5 = 0; v5 < v1; v5++) {",
            "float v6 = v0[v5];",
            "float v7 = v4 + v6;",
            "v2[v5] = v4;",
            "v4 = v7;",
            "}",
        ],
    );
    // So is an expression that is a part of a later statement.
    check(
        "%r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {
            %t = arith.mulf %a, %a : f32
            %s = arith.addf %a, %a : f32
            memref.store %t, %y[%i] : memref<?xf32>
            scf.yield %s : f32
        }",
        &[
            "float v4 = 0;",
            "for (long v5 = 0; v5 < v1; v5++) {",
            "float v6 = v4 + v4;",
            "v2[v5] = v4 * v4;",
            "v4 = v6;",
            "}",
        ],
    );
}

#[test]
fn values_that_change_places_go_by_way_of_others() {
    let body = format!(
        "%r:2 = scf.for %i = %c0 to %n step %c1 {CARRIED} {{
            scf.yield %b, %a : f32, f32
        }}
        memref.store %r#0, %y[%c0] : memref<?xf32>"
    );
    check(
        &body,
        &[
            "float v4 = 0;",
            "float v5 = 0;",
            "for (long v6 = 0; v6 < v1; v6++) {",
            "float v4_next = v5;",
            "float v5_next = v4;",
            "v4 = v4_next;",
            "v5 = v5_next;",
            "}",
            "v2[0] = v4;",
        ],
    );
}

#[test]
fn loops_inside_of_each_other_share_what_they_carry_and_nothing_that_is_read_again() {
    check(
        "%r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zero) -> (f32) {
            %q = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (f32) {
                %v = memref.load %x[%j] : memref<?xf32>
                %s = arith.addf %b, %v : f32
                scf.yield %s : f32
            }
            scf.yield %q : f32
        }",
        &[
            "float v4 = 0;",
            "for (long v5 = 0; v5 < v1; v5++) {",
            "for (long v6 = 0; v6 < v1; v6++) {",
            "float v7 = v0[v6];",
            "v4 = v4 + v7;",
            "}",
            "}",
        ],
    );
    // A parameter that a later loop starts from too stays as it is.
    let walk = "scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
            memref.store %zero, %a[%c0] : memref<?xf32>
            %s = \"tg.advance\"(%a, %c1) : (memref<?xf32>, index) -> memref<?xf32>
            scf.yield %s : memref<?xf32>
        }";
    check(
        &format!("%r = {walk} %q = {walk}"),
        &[
            "float *v4 = v0;",
            "for (long v5 = 0; v5 < v1; v5++) {",
            "v4[0] = 0;",
            "v4 += 1;",
            "}",
            "float *v6 = v0;",
            "for (long v7 = 0; v7 < v1; v7++) {",
            "v6[0] = 0;",
            "v6 += 1;",
            "}",
        ],
    );
    // Nor does a loop inside change what the loop around it has to start from again.
    check(
        "scf.for %j = %c0 to %n step %c1 {
            %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (memref<?xf32>) {
                %s = \"tg.advance\"(%a, %c1) : (memref<?xf32>, index) -> memref<?xf32>
                scf.yield %s : memref<?xf32>
            }
        }",
        &[
            "for (long v4 = 0; v4 < v1; v4++) {",
            "const float *v5 = v0;",
            "for (long v6 = 0; v6 < v1; v6++) {",
            "v5 += 1;",
            "}",
            "}",
        ],
    );
}

#[test]
fn what_is_computed_stays_out_of_loops_and_loads_stay_in_their_order() {
    check(
        "%v = memref.load %x[%c0] : memref<?xf32>
        %p = arith.mulf %v, %v : f32
        memref.store %zero, %x[%c0] : memref<?xf32>
        %w = memref.load %x[%c0] : memref<?xf32>
        scf.for %i = %c0 to %n step %c1 {
            %s = arith.addf %p, %w : f32
            memref.store %s, %y[%i] : memref<?xf32>
        }",
        &[
            "float v4 = v0[0];",
            "float v5 = v4 * v4;",
            "v0[0] = 0;",
            "float v6 = v0[0];",
            "for (long v7 = 0; v7 < v1; v7++) {",
            "v2[v7] = v5 + v6;",
            "}",
        ],
    );
}

#[test]
fn tables_of_rows_are_constant_where_only_their_rows_are_written() {
    let source =
        "func.func @f(%t: memref<?xmemref<?xf32>> {tg.noalias}, %s: memref<?xmemref<?xf32>>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %r = memref.load %s[%c1] : memref<?xmemref<?xf32>>
        %v = vector.load %r[%c0] : memref<?xf32>, vector<4xf32>
        %w = memref.load %t[%c1] : memref<?xmemref<?xf32>>
        vector.store %v, %w[%c0] : memref<?xf32>, vector<4xf32>
        func.return
    }";
    let context = tangram_dialects::context();
    let module = tangram_ir::text::parse(source, "f.mlir", context).expect("a text");
    let first = module.first_op(module.body()).expect("a function");
    let text = function(&module, first, &GNU_C).expect("a text");
    let expected = "\
static void f(float *const *restrict v0, const float *const *v1)
{
    f_vector v2 = *(const f_vector *)&v1[1][0];
    *(f_vector *)(v0[1] + 0) = v2;
}

";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn vectors_are_defined_once_for_each_type() {
    let text = printed(
        "%a = vector.load %x[%c0] : memref<?xf32>, vector<4xf32>
        vector.store %a, %y[%c1] : memref<?xf32>, vector<4xf32>
        %b = vector.load %z[%c0] : memref<?xf64>, vector<8xf64>
        %s = arith.subf %b, %b : vector<8xf64>
        vector.store %s, %z[%c0] : memref<?xf64>, vector<8xf64>",
    );
    let expected = "\
typedef float f_vector __attribute__((vector_size(16), aligned(4), may_alias));

typedef double f_vector2 __attribute__((vector_size(64), aligned(8), may_alias));

#ifdef __clang__
__attribute__((min_vector_width(512)))
#endif
static void f(const float *v0, long v1, float *v2, double *v3)
{
    f_vector v4 = *(const f_vector *)&v0[0];
    *(f_vector *)(v2 + 1) = v4;
    f_vector2 v5 = *(const f_vector2 *)&v3[0];
    *(f_vector2 *)(v3 + 0) = v5 - v5;
}

";
    assert_eq!(text.as_deref(), Ok(expected));
}

#[test]
fn what_has_no_text_is_named() {
    let refused = |body: &str| printed(body).expect_err("no text").to_string();
    let maximum = refused(
        "%v = memref.load %x[%c0] : memref<?xf32>
        %m = arith.maximumf %v, %v : f32
        memref.store %m, %y[%c0] : memref<?xf32>",
    );
    assert_eq!(maximum, "the target has no spelling of `arith.maximumf`");
    let half = refused("%v = vector.load %x[%c0] : memref<?xf32>, vector<2x2xf32>");
    assert_eq!(half, "the target has no name for the type `vector<2x2xf32>`");
    let one = refused(
        "%one = arith.constant 1.0 : f32
        memref.store %one, %y[%c0] : memref<?xf32>",
    );
    assert_eq!(one, "the target has no spelling of `arith.constant`");
}
