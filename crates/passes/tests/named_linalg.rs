//! The named operations of `linalg` in the text that `mlir-opt` 22 prints: what they do to
//! elements is not written there, and is the same on both sides.

mod support;

use support::{mlir_opt, parse};
use tangram_ir::text;

/// An operation: its inputs' shapes, its output's shape.
type Row = (&'static str, &'static [&'static str], &'static str);

const UNARY: [&str; 13] = [
    "abs",
    "ceil",
    "erf",
    "exp",
    "floor",
    "log",
    "negf",
    "reciprocal",
    "round",
    "rsqrt",
    "sqrt",
    "square",
    "tanh",
];
const BINARY: [&str; 6] = ["add", "sub", "mul", "div", "max", "min"];
const PRODUCTS: &[Row] = &[
    ("matmul", &["4x5x", "5x6x"], "4x6x"),
    ("batch_matmul", &["2x4x5x", "2x5x6x"], "2x4x6x"),
    ("batch_reduce_matmul", &["2x4x5x", "2x5x6x"], "4x6x"),
    ("batch_matvec", &["2x4x5x", "2x5x"], "2x4x"),
    ("batch_vecmat", &["2x4x", "2x4x5x"], "2x5x"),
    ("matvec", &["4x5x", "5x"], "4x"),
    ("vecmat", &["4x", "4x5x"], "5x"),
    ("dot", &["4x", "4x"], ""),
    ("mmt4d", &["2x3x4x5x", "6x3x7x5x"], "2x6x4x7x"),
    ("conv_1d", &["8x", "3x"], "6x"),
    ("conv_2d", &["8x8x", "3x3x"], "6x6x"),
    ("conv_3d", &["8x8x8x", "3x3x3x"], "6x6x6x"),
    ("conv_1d_ncw_fcw", &["1x4x8x", "5x4x3x"], "1x5x6x"),
    ("conv_1d_nwc_wcf", &["1x8x4x", "3x4x5x"], "1x6x5x"),
    ("conv_2d_nchw_fchw", &["1x4x8x8x", "5x4x3x3x"], "1x5x6x6x"),
    ("conv_2d_nhwc_hwcf", &["1x8x8x4x", "3x3x4x5x"], "1x6x6x5x"),
    ("conv_2d_nhwc_fhwc", &["1x8x8x4x", "5x3x3x4x"], "1x6x6x5x"),
    ("depthwise_conv_1d_nwc_wc", &["1x8x4x", "3x4x"], "1x6x4x"),
    ("depthwise_conv_2d_nhwc_hwc", &["1x8x8x4x", "3x3x4x"], "1x6x6x4x"),
    ("depthwise_conv_2d_nchw_chw", &["1x4x8x8x", "4x3x3x"], "1x4x6x6x"),
];
const POOLS: &[Row] = &[
    ("pooling_nhwc_max", &["1x8x8x4x", "3x3x"], "1x6x6x4x"),
    ("pooling_nhwc_min", &["1x8x8x4x", "3x3x"], "1x6x6x4x"),
    ("pooling_nhwc_sum", &["1x8x8x4x", "3x3x"], "1x6x6x4x"),
    ("pooling_nchw_max", &["1x4x8x8x", "3x3x"], "1x4x6x6x"),
    ("pooling_nchw_sum", &["1x4x8x8x", "3x3x"], "1x4x6x6x"),
];

/// A function with one operation on tensors, and where `buffers`, on buffers as well.
fn function(out: &mut String, name: &str, inputs: &[String], output: &str, buffers: bool) {
    let number = out.lines().count();
    for kind in ["tensor", "memref"] {
        if kind == "memref" && !buffers {
            continue;
        }
        let ty = |shape: &String| format!("{kind}<{shape}>");
        let types: Vec<String> = inputs.iter().map(ty).collect();
        let output = ty(&output.to_owned());
        let args: Vec<String> =
            types.iter().enumerate().map(|(i, ty)| format!("%a{i}: {ty}")).collect();
        let names: Vec<String> = (0..types.len()).map(|i| format!("%a{i}")).collect();
        let (result, arrow) = match kind {
            "tensor" => ("%r = ", format!(" -> {output}")),
            _ => ("", String::new()),
        };
        *out += &format!(
            "func.func @{kind}{number}({}, %o: {output}) {{\n  {result}linalg.{name} ins({} : {}) \
             outs(%o : {output}){arrow}\n  return\n}}\n",
            args.join(", "),
            names.join(", "),
            types.join(", ")
        );
    }
}

fn program() -> String {
    let mut out = String::new();
    for element in ["f32", "f16", "f64"] {
        for name in UNARY {
            let shape = format!("4x?x{element}");
            function(&mut out, name, std::slice::from_ref(&shape), &shape, true);
        }
        let shape = format!("4x{element}");
        function(&mut out, "powf", &[shape.clone(), shape.clone()], &shape, false);
    }
    for element in ["f32", "i32", "i8"] {
        for name in BINARY {
            let shape = format!("4x{element}");
            function(&mut out, name, &[shape.clone(), shape.clone()], &shape, true);
        }
    }
    let shape = "4xi16".to_owned();
    function(&mut out, "div_unsigned", &[shape.clone(), shape.clone()], &shape, true);
    let select = ["4xi1".to_owned(), "4xf32".to_owned(), "4xf32".to_owned()];
    function(&mut out, "select", &select, "4xf32", true);
    for (from, to) in [("f32", "f32"), ("i8", "i32"), ("f16", "f32"), ("i32", "f32"), ("i1", "i1")]
    {
        for &(name, inputs, output) in PRODUCTS {
            let inputs: Vec<String> = inputs.iter().map(|shape| format!("{shape}{from}")).collect();
            function(&mut out, name, &inputs, &format!("{output}{to}"), true);
        }
    }
    for (from, to) in [("f32", "f32"), ("i32", "i32"), ("i8", "i32"), ("f32", "f16")] {
        for &(name, inputs, output) in POOLS {
            let inputs: Vec<String> = inputs.iter().map(|shape| format!("{shape}{from}")).collect();
            function(&mut out, name, &inputs, &format!("{output}{to}"), true);
        }
        let (from, to) = (format!("4x{from}"), format!("4x{to}"));
        function(&mut out, "copy", &[from], &to, true);
    }
    out
}

const MOVED: &str = "
func.func @moved(%a: tensor<2x3xf32>, %v: tensor<3xf32>, %t: tensor<3x2xf32>, %m: memref<3xi8>, %n: memref<3x4xi8>, %x: tensor<1x8x4xi8>, %k: tensor<3x4x5xi8>, %o: tensor<1x3x5xi32>, %w: tensor<3x4x5xi32>) {
  %0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%t : tensor<3x2xf32>) permutation = [1, 0]
  %1 = linalg.broadcast ins(%v : tensor<3xf32>) outs(%a : tensor<2x3xf32>) dimensions = [0]
  linalg.broadcast ins(%m : memref<3xi8>) outs(%n : memref<3x4xi8>) dimensions = [1]
  %c = arith.constant 1.0 : f32
  %2 = linalg.fill ins(%c : f32) outs(%a : tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%x, %k : tensor<1x8x4xi8>, tensor<3x4x5xi8>) outs(%o : tensor<1x3x5xi32>) -> tensor<1x3x5xi32>
  %4 = linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%k : tensor<3x4x5xi8>) outs(%w : tensor<3x4x5xi32>) -> tensor<3x4x5xi32>
  return
}
";

fn pretty(source: &str) -> String {
    let mut out = String::new();
    let options = text::Options { generic: false, ..text::Options::default() };
    text::print_to(&mut out, &parse(source), options).expect("a string takes all");
    out
}

#[test]
fn named_operations_are_read_and_printed_as_there() {
    let input = program() + MOVED;
    let Some(theirs) = mlir_opt(&[], &input) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    let same = |ours: &str, what: &str| {
        let lines = ours.trim_end().lines().zip(theirs.trim_end().lines());
        let first = lines.enumerate().find(|(_, (a, b))| a != b);
        assert_eq!(first, None, "{what}");
        assert_eq!(ours.trim_end().len(), theirs.trim_end().len(), "{what}");
    };
    same(&pretty(&theirs), "read and printed");
    let generic = mlir_opt(&["--mlir-print-op-generic"], &input).expect("installed");
    same(&pretty(&generic), "read from the generic form");
    // The bodies that were made are those that are made there.
    let back = mlir_opt(&[], &text::print(&parse(&theirs))).expect("installed");
    same(&back, "bodies");
    let bodies = mlir_opt(&["--mlir-print-op-generic"], &text::print(&parse(&theirs)));
    let plain = |text: &str| -> Vec<String> {
        let body = |line: &&str| line.contains("arith.") || line.contains("math.");
        let names = text
            .lines()
            .filter(body)
            .map(|line| line.split('"').nth(1).unwrap_or_default().to_owned());
        names.collect()
    };
    assert_eq!(plain(&bodies.expect("installed")), plain(&generic));
}

#[test]
fn another_body_is_not_lost() {
    let source = r#""func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "f"}> ({
    ^bb0(%a: tensor<4xf32>):
      %r = "linalg.exp"(%a, %a) <{operandSegmentSizes = array<i32: 1, 1>}> ({
      ^bb0(%x: f32, %y: f32):
        %z = "math.log"(%x) : (f32) -> f32
        "linalg.yield"(%z) : (f32) -> ()
      }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "func.return"() : () -> ()
    }) : () -> ()"#;
    assert_eq!(text::print(&parse(&pretty(source))), text::print(&parse(source)));
}

#[test]
fn transfers_and_constants_in_pieces_are_read() {
    let source = "
func.func @f(%a: memref<256x1024xf32>, %b: memref<256x32xf32, 1>, %n: index, %t: memref<1xi32>, %s: memref<i32>) -> tensor<3x4xf32> {
  memref.dma_start %a[%n, %n], %b[%n, %n], %n, %t[%n] : memref<256x1024xf32>, memref<256x32xf32, 1>, memref<1xi32>
  memref.dma_start %a[%n, %n], %b[%n, %n], %n, %t[%n], %n, %n : memref<256x1024xf32>, memref<256x32xf32, 1>, memref<1xi32>
  memref.dma_start %s[], %s[], %n, %t[%n] : memref<i32>, memref<i32>, memref<1xi32>
  memref.dma_wait %t[%n], %n : memref<1xi32>
  %c = arith.constant sparse<[[0, 0], [1, 2]], [1.000000e+00, 2.500000e+00]> : tensor<3x4xf32>
  return %c : tensor<3x4xf32>
}
";
    let Some(theirs) = mlir_opt(&[], source) else {
        println!("skipped: needs mlir-opt-22");
        return;
    };
    assert_eq!(pretty(&theirs).trim_end(), theirs.trim_end());
}
