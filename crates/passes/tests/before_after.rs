//! What each pass makes of a small program: the text before and the text that must come out.

use tangram_ir::{Module, text};
use tangram_passes::{OptionError, Pipeline, RunError, RunOptions, Silent, run};

fn read(source: &str) -> Module {
    match text::parse(source, "test.mlir", tangram_dialects::context()) {
        Ok(module) => module,
        Err(errors) => panic!("{}\n{source}", errors[0]),
    }
}

/// A function `f` of type `ty` whose blocks are `body`.
fn function(ty: &str, body: &str) -> String {
    format!(
        "\"func.func\"() <{{sym_name = \"f\", function_type = {ty}}}> ({{{body}}}) : () -> ()\n"
    )
}

/// Runs `passes` on the module `before` and expects `after`.
#[track_caller]
fn check(passes: &str, before: &str, after: &str) {
    let mut module = read(before);
    let pipeline = Pipeline::parse(&format!("builtin.module({passes})")).expect("a pipeline");
    if let Err(error) = run(&mut module, &pipeline, &RunOptions::default(), &mut Silent) {
        panic!("{error}");
    }
    assert_eq!(text::print(&module), text::print(&read(after)));
}

#[test]
fn canonicalize_folds_a_chain_of_constants() {
    // ((7 + x) + 5) - 2 = x + 10, and x - x = 0 disappears from the sum.
    let before = r#"^bb0(%x: i32):
        %c7 = "arith.constant"() <{value = 7 : i32}> : () -> i32
        %c5 = "arith.constant"() <{value = 5 : i32}> : () -> i32
        %c2 = "arith.constant"() <{value = 2 : i32}> : () -> i32
        %a = "arith.addi"(%c7, %x) : (i32, i32) -> i32
        %b = "arith.addi"(%a, %c5) : (i32, i32) -> i32
        %c = "arith.subi"(%b, %c2) : (i32, i32) -> i32
        %z = "arith.subi"(%x, %x) : (i32, i32) -> i32
        %r = "arith.addi"(%c, %z) : (i32, i32) -> i32
        "func.return"(%r) : (i32) -> ()"#;
    let after = r#"^bb0(%x: i32):
        %c10 = "arith.constant"() <{value = 10 : i32}> : () -> i32
        %r = "arith.addi"(%x, %c10) : (i32, i32) -> i32
        "func.return"(%r) : (i32) -> ()"#;
    let ty = "(i32) -> i32";
    check("func.func(canonicalize)", &function(ty, before), &function(ty, after));
}

#[test]
fn canonicalize_wraps_at_the_width() {
    // 100 + 100 = 200 = -56 in eight bits.
    let before = r#"
        %a = "arith.constant"() <{value = 100 : i8}> : () -> i8
        %r = "arith.addi"(%a, %a) : (i8, i8) -> i8
        "func.return"(%r) : (i8) -> ()"#;
    let after = r#"
        %r = "arith.constant"() <{value = -56 : i8}> : () -> i8
        "func.return"(%r) : (i8) -> ()"#;
    let ty = "() -> i8";
    check("func.func(canonicalize)", &function(ty, before), &function(ty, after));
}

#[test]
fn canonicalize_leaves_what_would_trap_or_round() {
    // A division by zero has no value; x + 0.0 is not x where x is -0.0.
    let same = r#"^bb0(%x: i32, %y: f32):
        %zero = "arith.constant"() <{value = 0 : i32}> : () -> i32
        %nought = "arith.constant"() <{value = 0.0 : f32}> : () -> f32
        %q = "arith.divsi"(%x, %zero) : (i32, i32) -> i32
        %s = "arith.addf"(%y, %nought) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "func.return"(%q, %s) : (i32, f32) -> ()"#;
    let same = function("(i32, f32) -> (i32, f32)", same);
    check("func.func(canonicalize)", &same, &same);
}

#[test]
fn canonicalize_turns_selects_of_a_negated_condition() {
    let before = r#"^bb0(%c: i1, %x: i32, %y: i32):
        %true = "arith.constant"() <{value = true}> : () -> i1
        %n = "arith.xori"(%c, %true) : (i1, i1) -> i1
        %r = "arith.select"(%n, %x, %y) : (i1, i32, i32) -> i32
        "func.return"(%r) : (i32) -> ()"#;
    let after = r#"^bb0(%c: i1, %x: i32, %y: i32):
        %r = "arith.select"(%c, %y, %x) : (i1, i32, i32) -> i32
        "func.return"(%r) : (i32) -> ()"#;
    let ty = "(i1, i32, i32) -> i32";
    check("func.func(canonicalize)", &function(ty, before), &function(ty, after));
}

#[test]
fn cse_merges_equal_pure_operations_only() {
    // The two products are one; the two calls may do different things.
    let callee = r#""func.func"() <{sym_name = "g", function_type = () -> i32, sym_visibility = "private"}> ({}) : () -> ()
"#;
    let before = r#"^bb0(%x: i32):
        %a = "arith.muli"(%x, %x) : (i32, i32) -> i32
        %p = "func.call"() <{callee = @g}> : () -> i32
        %b = "arith.muli"(%x, %x) : (i32, i32) -> i32
        %q = "func.call"() <{callee = @g}> : () -> i32
        "func.return"(%a, %b, %p, %q) : (i32, i32, i32, i32) -> ()"#;
    let after = r#"^bb0(%x: i32):
        %a = "arith.muli"(%x, %x) : (i32, i32) -> i32
        %p = "func.call"() <{callee = @g}> : () -> i32
        %q = "func.call"() <{callee = @g}> : () -> i32
        "func.return"(%a, %a, %p, %q) : (i32, i32, i32, i32) -> ()"#;
    let ty = "(i32) -> (i32, i32, i32, i32)";
    let with = |body| format!("{callee}{}", function(ty, body));
    check("func.func(cse)", &with(before), &with(after));
}

#[test]
fn cse_does_not_use_a_value_that_does_not_dominate() {
    let same = r#"^bb0(%c: i1, %x: i32):
        "cf.cond_br"(%c)[^yes, ^no] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
      ^yes:
        %a = "arith.muli"(%x, %x) : (i32, i32) -> i32
        "func.return"(%a) : (i32) -> ()
      ^no:
        %b = "arith.muli"(%x, %x) : (i32, i32) -> i32
        "func.return"(%b) : (i32) -> ()"#;
    let same = function("(i1, i32) -> i32", same);
    check("func.func(cse)", &same, &same);
}

#[test]
fn dce_keeps_effects() {
    let before = r#"^bb0(%x: i32, %m: memref<i32>):
        %a = "arith.muli"(%x, %x) : (i32, i32) -> i32
        %b = "arith.addi"(%a, %x) : (i32, i32) -> i32
        "memref.store"(%x, %m) : (i32, memref<i32>) -> ()
        "func.return"() : () -> ()"#;
    let after = r#"^bb0(%x: i32, %m: memref<i32>):
        "memref.store"(%x, %m) : (i32, memref<i32>) -> ()
        "func.return"() : () -> ()"#;
    let ty = "(i32, memref<i32>) -> ()";
    check("func.func(dce)", &function(ty, before), &function(ty, after));
}

#[test]
fn sccp_follows_the_path_that_is_taken() {
    // Only the branch with 3 is taken, so that the argument is 3 and 3 + 3 is 6.
    let before = r#"^bb0(%x: i32):
        %true = "arith.constant"() <{value = true}> : () -> i1
        %c3 = "arith.constant"() <{value = 3 : i32}> : () -> i32
        "cf.cond_br"(%true, %c3, %x)[^to, ^to] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, i32, i32) -> ()
      ^to(%y: i32):
        %r = "arith.addi"(%y, %y) : (i32, i32) -> i32
        "func.return"(%r) : (i32) -> ()"#;
    let after = r#"^bb0(%x: i32):
        %r = "arith.constant"() <{value = 6 : i32}> : () -> i32
        %c3 = "arith.constant"() <{value = 3 : i32}> : () -> i32
        %true = "arith.constant"() <{value = true}> : () -> i1
        "cf.cond_br"(%true, %c3, %x)[^to, ^to] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, i32, i32) -> ()
      ^to(%y: i32):
        "func.return"(%r) : (i32) -> ()"#;
    let ty = "(i32) -> i32";
    check("func.func(sccp,dce)", &function(ty, before), &function(ty, after));
}

const LOOP: &str = r#"^bb0(%n: index, %x: i32, %y: i32, %m: memref<?xi32>):
        %zero = "arith.constant"() <{value = 0 : index}> : () -> index
        %one = "arith.constant"() <{value = 1 : index}> : () -> index
        BEFORE
        "scf.for"(%zero, %n, %one) ({
        ^body(%i: index):
          INSIDE
          %q = "arith.divsi"(%x, %y) : (i32, i32) -> i32
          %s = "arith.addi"(%p, %q) : (i32, i32) -> i32
          "memref.store"(%s, %m, %i) : (i32, memref<?xi32>, index) -> ()
          "scf.yield"() : () -> ()
        }) : (index, index, index) -> ()
        "func.return"() : () -> ()"#;

#[test]
fn loop_invariant_code_motion_leaves_divisions() {
    // A division may trap, and the loop may not run at all; the sum depends on it.
    let product = r#"%p = "arith.muli"(%x, %x) : (i32, i32) -> i32"#;
    let before = LOOP.replace("BEFORE", "").replace("INSIDE", product);
    let after = LOOP.replace("BEFORE", product).replace("INSIDE", "");
    let ty = "(index, i32, i32, memref<?xi32>) -> ()";
    check("func.func(loop-invariant-code-motion)", &function(ty, &before), &function(ty, &after));
}

#[test]
fn inline_and_symbol_dce_erase_what_nothing_names() {
    let private = |name: &str, body: &str| {
        format!(
            "\"func.func\"() <{{sym_name = \"{name}\", function_type = (i32) -> i32, \
             sym_visibility = \"private\"}}> ({{{body}}}) : () -> ()\n"
        )
    };
    let square = r#"^bb0(%x: i32):
        %a = "arith.muli"(%x, %x) : (i32, i32) -> i32
        "func.return"(%a) : (i32) -> ()"#;
    let caller = r#"^bb0(%x: i32):
        %a = "func.call"(%x) <{callee = @square}> : (i32) -> i32
        "func.return"(%a) : (i32) -> ()"#;
    let public = |body| function("(i32) -> i32", body);
    let both = private("square", square) + &public(caller);
    check("inline", &both, &public(square));
    // Without inlining the callee is needed, the other private function is not.
    check("symbol-dce", &(private("idle", square) + &both), &both);
}

#[test]
fn inline_leaves_calls_of_itself() {
    let same = r#"^bb0(%x: i32):
        %a = "func.call"(%x) <{callee = @f}> : (i32) -> i32
        "func.return"(%a) : (i32) -> ()"#;
    let same = function("(i32) -> i32", same);
    check("inline", &same, &same);
}

#[test]
fn inline_splits_the_block_of_a_call_of_several_blocks() {
    let callee = r#""func.func"() <{sym_name = "g", function_type = (i1) -> i32, sym_visibility = "private"}> ({
        ^bb0(%c: i1):
          %one = "arith.constant"() <{value = 1 : i32}> : () -> i32
          "cf.cond_br"(%c, %one)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i1, i32) -> ()
        ^bb1:
          %two = "arith.constant"() <{value = 2 : i32}> : () -> i32
          "func.return"(%two) : (i32) -> ()
        ^bb2(%x: i32):
          "func.return"(%x) : (i32) -> ()
        }) : () -> ()
    "#;
    let caller = r#"^bb0(%c: i1):
        %a = "func.call"(%c) <{callee = @g}> : (i1) -> i32
        "func.return"(%a) : (i32) -> ()"#;
    let after = r#"^bb0(%c: i1):
        "cf.br"(%c)[^bb1] : (i1) -> ()
      ^bb1(%d: i1):
        %one = "arith.constant"() <{value = 1 : i32}> : () -> i32
        "cf.cond_br"(%d, %one)[^bb2, ^bb3] <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i1, i32) -> ()
      ^bb2:
        %two = "arith.constant"() <{value = 2 : i32}> : () -> i32
        "cf.br"(%two)[^bb4] : (i32) -> ()
      ^bb3(%x: i32):
        "cf.br"(%x)[^bb4] : (i32) -> ()
      ^bb4(%a: i32):
        "func.return"(%a) : (i32) -> ()"#;
    let ty = "(i1) -> i32";
    check(
        "inline{default-pipeline=''}",
        &(callee.to_owned() + &function(ty, caller)),
        &function(ty, after),
    );
    let kept = callee.replace("private\"", "private\", no_inline");
    let kept = kept + &function(ty, caller);
    check("inline{default-pipeline=''}", &kept, &kept);
}

/// `linalg.fill` of `result`, with the region that it has in the generic form.
fn fill(name: &str, output: &str, ty: &str, result: &str) -> String {
    format!(
        "{name}\"linalg.fill\"(%c, {output}) <{{operandSegmentSizes = array<i32: 1, 1>}}> ({{\n^bb0(%p: \
         f32, %q: f32):\n\"linalg.yield\"(%p) : (f32) -> ()\n}}) : (f32, {ty}) -> {result}\n"
    )
}

#[test]
fn what_writes_buffers_is_not_dead() {
    let body = "^bb0(%c: f32, %m: memref<4xf32>):\n".to_owned()
        + &fill("", "%m", "memref<4xf32>", "()")
        + "\"func.return\"() : () -> ()";
    let source = function("(f32, memref<4xf32>) -> ()", &body);
    check("func.func(canonicalize,cse,dce)", &source, &source);
    let body = "^bb0(%c: f32, %t: tensor<4xf32>):\n".to_owned()
        + &fill("%0 = ", "%t", "tensor<4xf32>", "tensor<4xf32>");
    let end = "\"func.return\"() : () -> ()";
    let ty = "(f32, tensor<4xf32>) -> ()";
    let empty = function(ty, &format!("^bb0(%c: f32, %t: tensor<4xf32>):\n{end}"));
    for pass in ["canonicalize", "dce"] {
        check(&format!("func.func({pass})"), &function(ty, &(body.clone() + end)), &empty);
    }
}

/// `linalg.transpose` by `order` of two dimensions.
fn transpose(name: &str, input: &str, order: &str) -> String {
    format!(
        "{name} = \"linalg.transpose\"({input}, %o) <{{permutation = array<i64: {order}>}}> ({{\n^bb0(%p: \
         f32, %q: f32):\n\"linalg.yield\"(%p) : (f32) -> ()\n}}) : (tensor<4x4xf32>, \
         tensor<4x4xf32>) -> tensor<4x4xf32>\n"
    )
}

#[test]
fn canonicalize_drops_transpositions_of_tensors_and_keeps_copies() {
    let head = "^bb0(%c: f32, %t: tensor<4x4xf32>, %o: tensor<4x4xf32>):\n";
    let ty = "(f32, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>";
    let returned = |name: &str| format!("\"func.return\"({name}) : (tensor<4x4xf32>) -> ()");
    let program = |body: &str, name: &str| function(ty, &format!("{head}{body}{}", returned(name)));
    let nothing = program("", "%t");
    let once = transpose("%0", "%t", "1, 0");
    let twice = once.clone() + &transpose("%1", "%0", "1, 0");
    check("func.func(canonicalize)", &program(&twice, "%1"), &nothing);
    check("func.func(canonicalize)", &program(&transpose("%0", "%t", "0, 1"), "%0"), &nothing);
    check("func.func(canonicalize)", &program(&once, "%0"), &program(&once, "%0"));
    let filled = fill("%0 = ", "%t", "tensor<4x4xf32>", "tensor<4x4xf32>");
    let turned = filled + &transpose("%1", "%0", "1, 0");
    let after = fill("%1 = ", "%o", "tensor<4x4xf32>", "tensor<4x4xf32>");
    check("func.func(canonicalize)", &program(&turned, "%1"), &program(&after, "%1"));
    let copy = "%0 = \"linalg.copy\"(%t, %o) <{operandSegmentSizes = array<i32: 1, 1>}> ({\n^bb0(%p: f32, %q: \
                f32):\n\"linalg.yield\"(%p) : (f32) -> ()\n}) : (tensor<4x4xf32>, tensor<4x4xf32>) \
                -> tensor<4x4xf32>\n";
    // A copy says where a tensor is to be, as `mlir-opt` takes it.
    check("func.func(canonicalize)", &program(copy, "%0"), &program(copy, "%0"));
}

/// `mlir-opt` 22 fills the wider tensor with the narrow value, which its verifier refuses.
#[test]
fn canonicalize_fills_no_copy_that_widens() {
    let program = "func.func @f(%v: i8, %a: tensor<4xi8>, %b: tensor<4xi32>) -> tensor<4xi32> {
        %0 = linalg.fill ins(%v : i8) outs(%a : tensor<4xi8>) -> tensor<4xi8>
        %1 = linalg.copy ins(%0 : tensor<4xi8>) outs(%b : tensor<4xi32>) -> tensor<4xi32>
        return %1 : tensor<4xi32>
    }";
    check("func.func(canonicalize)", program, program);
}

#[test]
fn canonicalize_calls_known_functions_by_name() {
    let before = r#"^bb0(%x: i32):
        %g = "func.constant"() <{value = @f}> : () -> ((i32) -> i32)
        %a = "func.call_indirect"(%g, %x) : ((i32) -> i32, i32) -> i32
        "func.return"(%a) : (i32) -> ()"#;
    let after = r#"^bb0(%x: i32):
        %a = "func.call"(%x) <{callee = @f}> : (i32) -> i32
        "func.return"(%a) : (i32) -> ()"#;
    let ty = "(i32) -> i32";
    check("func.func(canonicalize)", &function(ty, before), &function(ty, after));
}

#[test]
fn wrong_pipelines_say_what_there_is() {
    let attempt = |pipeline: &str| {
        let pipeline = Pipeline::parse(pipeline).expect("well formed");
        let mut module = read(&function("() -> ()", "\"func.return\"() : () -> ()"));
        run(&mut module, &pipeline, &RunOptions::default(), &mut Silent)
    };
    let error = attempt("builtin.module(func.func(canonicalise))").expect_err("no such pass");
    assert!(matches!(error, RunError::UnknownPass { ref name, .. } if name == "canonicalise"));
    assert!(error.to_string().contains("canonicalize"), "{error}");
    let error = attempt("builtin.module(cse{depth=3})").expect_err("no such option");
    let RunError::Option { pass, error } = error else { panic!("{error}") };
    assert_eq!((&*pass, &*error.to_string()), ("cse", "no option `depth`; there are: none"));
    assert!(matches!(error, OptionError::Unknown { name, .. } if name == "depth"));
    let option = |text: &str| {
        let error = attempt(&format!("builtin.module(canonicalize{{{text}}})"));
        let RunError::Option { error, .. } = error.expect_err("a wrong option") else {
            panic!("{text}: another error")
        };
        error
    };
    let error = option("top-down=upwards");
    assert_eq!(error.to_string(), "option `top-down` takes no `upwards`; the default is `true`");
    assert!(matches!(error, OptionError::Value { value, .. } if value == "upwards"));
    let error = option("region-simplify=much");
    let text = "`region-simplify` is `disabled`, `normal` or `aggressive`, not `much`";
    assert_eq!(error.to_string(), text);
    assert!(matches!(error, OptionError::Word { name: "region-simplify", .. }));
    for wrong in ["builtin.module(cse", "builtin.module(cse))", "builtin.module(cse{depth=1)"] {
        assert!(Pipeline::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_not_lowered_is_said() {
    let source = "func.func @f(%t: tensor<4xf32>, %x: tensor<1xf32>) -> tensor<4xf32> {
        %r = scf.forall (%i) in (4) shared_outs(%o = %t) -> tensor<4xf32> {
          scf.forall.in_parallel {
            tensor.parallel_insert_slice %x into %o[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
          }
        }
        return %r : tensor<4xf32>
      }";
    let mut module = read(source);
    let pipeline = Pipeline::parse("builtin.module(convert-scf-to-cf)").expect("a pipeline");
    let report = run(&mut module, &pipeline, &RunOptions::default(), &mut Silent);
    let warnings = report.expect("a conversion").warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].code, "not-lowered");
    assert!(warnings[0].message.contains("1 `scf.forall`"), "{warnings:?}");
}

#[test]
fn unknown_patterns_are_refused() {
    let mut module = read("");
    let text = "builtin.module(canonicalize{disable-patterns=no-such-pattern})";
    let pipeline = Pipeline::parse(text).expect("a pipeline");
    let outcome = run(&mut module, &pipeline, &RunOptions::default(), &mut Silent);
    assert!(matches!(&outcome, Err(RunError::Failed { .. })), "{outcome:?}");
}
