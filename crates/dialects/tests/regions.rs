//! Types that hold around loops, worked out by hand.

use tangram_dialects::nn::infer_regions;
use tangram_ir::text::type_text;
use tangram_ir::{Module, Op, Order, text, walk};

/// A function of `%x`, `%limit` and `%go` with a loop or scan as its last operation but one.
fn module(operation: &str) -> (Module, Op) {
    let program = format!(
        r#""func.func"() <{{function_type = (tensor<?x8xf32, ["rows", ""]>, tensor<i64>, tensor<i1>) -> (), sym_name = "main"}}> ({{
        ^bb0(%x: tensor<?x8xf32, ["rows", ""]>, %limit: tensor<i64>, %go: tensor<i1>):
          %none = "nn.none"() : () -> none
          %five = "nn.constant"() <{{value = dense<5> : tensor<i64>}}> : () -> tensor<i64>
          {operation}
          "func.return"() : () -> ()
        }}) : () -> ()"#
    );
    let module = text::parse(&program, "test", tangram_dialects::context()).expect("a program");
    let last = |op: &Op| matches!(module.name_text(*op), "nn.loop" | "nn.scan");
    let found = walk(&module, module.root(), Order::Pre).into_iter().find(last).expect("a loop");
    (module, found)
}

fn results(operation: &str) -> Vec<String> {
    let (mut module, op) = module(operation);
    infer_regions(&mut module, op);
    let ty = |value| type_text(&module, module.value_type(value));
    module.results(op).map(ty).collect()
}

fn looped(limit: &str, go: &str, go_type: &str, step: &str) -> Vec<String> {
    results(&format!(
        r#"%r:2 = "nn.loop"({limit}, {go}, %x) ({{
          ^bb0(%i: tensor<i64>, %c: tensor<i1>, %a: tensor<*xf32>):
            {step}
            "nn.yield"(%c, %b, %a) : (tensor<i1>, tensor<*xf32>, tensor<*xf32>) -> ()
          }}) : (tensor<i64>, {go_type}, tensor<?x8xf32, ["rows", ""]>) -> (tensor<*xf32>, tensor<*xf32>)"#
    ))
}

const KEEPS: &str = r#"%b = "nn.abs"(%a) : (tensor<*xf32>) -> tensor<*xf32>"#;
const GROWS: &str = r#"%b = "nn.concatenate"(%a, %a) <{axis = 0 : i64}> : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>"#;
const DEEPENS: &str =
    r#"%b = "nn.expand_dims"(%a) <{axis = array<i64: 0>}> : (tensor<*xf32>) -> tensor<*xf32>"#;

#[test]
fn what_keeps_its_shape_is_known_after_any_number_of_steps() {
    let found = looped("%five", "%none", "none", KEEPS);
    assert_eq!(
        found,
        [r#"tensor<?x8xf32, ["rows", ""]>"#, r#"tensor<5x?x8xf32, ["", "rows", ""]>"#]
    );
}

#[test]
fn a_condition_or_an_unknown_limit_leaves_the_number_of_steps_open() {
    let open = [r#"tensor<?x8xf32, ["rows", ""]>"#, r#"tensor<?x?x8xf32, ["", "rows", ""]>"#];
    assert_eq!(looped("%five", "%go", "tensor<i1>", KEEPS), open);
    assert_eq!(looped("%limit", "%none", "none", KEEPS), open);
}

#[test]
fn an_extent_that_grows_is_open_and_the_others_stay() {
    let found = looped("%limit", "%none", "none", GROWS);
    assert_eq!(found, ["tensor<?x8xf32>", "tensor<?x?x8xf32>"]);
}

#[test]
fn a_rank_that_grows_is_open() {
    assert_eq!(looped("%limit", "%none", "none", DEEPENS), ["tensor<*xf32>", "tensor<*xf32>"]);
}

#[test]
fn a_scan_goes_along_its_axis_and_stacks_along_another() {
    let found = results(
        r#"%r:2 = "nn.scan"(%five, %x) <{num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 1>, scan_output_axes = array<i64: 1>}> ({
          ^bb0(%s: tensor<*xi64>, %a: tensor<*xf32>):
            "nn.yield"(%s, %a) : (tensor<*xi64>, tensor<*xf32>) -> ()
          }) : (tensor<i64>, tensor<?x8xf32, ["rows", ""]>) -> (tensor<*xi64>, tensor<*xf32>)"#,
    );
    assert_eq!(found, ["tensor<i64>", r#"tensor<?x8xf32, ["rows", ""]>"#]);
}
