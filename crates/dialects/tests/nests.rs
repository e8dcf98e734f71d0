//! Nests as operations: their text, what is refused, what they compute.

use std::process::{Command, Stdio};

use tangram_affine::symbolic::Expr;
use tangram_affine::{AffineExprs, AffineMap};
use tangram_dialects::interpret::{Datum, InterpretError, interpret};
use tangram_dialects::structured::{
    self, Access, Binary, Body, Comparison, Generic, Number, Reduction, Scalar, Structured,
    Temporary, TensorId, Unary,
};
use tangram_dialects::tg::{Nest, NestOperands, scalars, tensor_type};
use tangram_ir::{Loc, Module, Op, OpState, Point, text, verify};
use tangram_tensor::elementwise::cast;
use tangram_tensor::{DType, Tensor};

/// A product with a bias and `relu`, of rows of which only a run knows the number.
const PRODUCT: &str = r#"
"func.func"() <{sym_name = "f", function_type = (tensor<?x8xf32, ["n", ""]>, tensor<8x4xf32>, tensor<4xf32>) -> tensor<?x4xf32, ["n", ""]>}> ({
^bb0(%x: tensor<?x8xf32, ["n", ""]>, %w: tensor<8x4xf32>, %b: tensor<4xf32>):
  %e = "tg.buffer"() <{storage = "output"}> : () -> tensor<?x4xf32, ["n", ""]>
  %y = "tg.nest"(%x, %w, %b, %e) <{combine = "add", from = ["nn.matmul", "nn.bias_add", "nn.relu"], initial = 0.000000e+00 : f32, maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], operandSegmentSizes = array<i32: 2, 1, 0, 1, 0>, order = array<i64: 2>, sizes = ["n", "4", "8"]}> ({
  ^bb0(%a: f32, %k: f32):
    %p = "arith.mulf"(%a, %k) : (f32, f32) -> f32
    "tg.yield"(%p) : (f32) -> ()
  }, {
  ^bb0(%s: f32, %q: f32):
    %t = "arith.addf"(%s, %q) : (f32, f32) -> f32
    %z = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %m = "arith.cmpf"(%t, %z) <{predicate = 4 : i64}> : (f32, f32) -> i1
    %r = "arith.select"(%m, %z, %t) : (i1, f32, f32) -> f32
    "tg.yield"(%r) : (f32) -> ()
  }) : (tensor<?x8xf32, ["n", ""]>, tensor<8x4xf32>, tensor<4xf32>, tensor<?x4xf32, ["n", ""]>) -> tensor<?x4xf32, ["n", ""]>
  "func.return"(%y) : (tensor<?x4xf32, ["n", ""]>) -> ()
}) : () -> ()
"#;

fn parsed(source: &str) -> Module {
    match text::parse(source, "nests.mlir", tangram_dialects::context()) {
        Ok(module) => module,
        Err(errors) => panic!("{errors:?}"),
    }
}

fn function(module: &Module) -> Op {
    module.first_op(module.body()).expect("a function")
}

/// Runs the first function of a program on tensors.
fn run(module: &Module, inputs: &[Tensor]) -> Result<Vec<Tensor>, InterpretError> {
    let inputs: Vec<Datum> = inputs.iter().cloned().map(Datum::Tensor).collect();
    let results = interpret(module, function(module), &inputs)?;
    let tensor = |datum| match datum {
        Datum::Tensor(tensor) => tensor,
        other => panic!("{other:?}"),
    };
    Ok(results.into_iter().map(tensor).collect())
}

/// What `mlir-opt` prints of a program; nothing where it is not installed.
fn through_mlir_opt(source: &str) -> Option<String> {
    let mut child = Command::new("mlir-opt-22")
        .args(["--allow-unregistered-dialect", "--mlir-print-op-generic"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, source.as_bytes()).expect("a reader");
    drop(input);
    let output = child.wait_with_output().expect("an end");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}\n{source}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_nest_reads_back_and_computes() {
    let module = parsed(PRODUCT);
    assert!(verify(&module).is_ok(), "{:?}", verify(&module));
    for generic in [true, false] {
        let mut printed = String::new();
        let options = text::Options { generic, ..text::Options::default() };
        text::print_to(&mut printed, &module, options).expect("a text");
        let again = parsed(&printed);
        let mut second = String::new();
        text::print_to(&mut second, &again, options).expect("a text");
        assert_eq!(printed, second);
        let x = Tensor::from_vec([3, 8], (0..24).map(|n| n as f32 - 11.0).collect::<Vec<_>>());
        let w = Tensor::from_vec([8, 4], (0..32).map(|n| (n % 5) as f32 - 2.0).collect::<Vec<_>>());
        let b = Tensor::from_vec([4], vec![1.0_f32, -2.0, 0.5, 0.0]);
        let [x, w, b] = [x, w, b].map(|tensor| tensor.expect("a tensor"));
        let y = run(&again, &[x.clone(), w.clone(), b.clone()]).expect("a result").remove(0);
        let (xs, ws) = (x.to_vec::<f32>().expect("x"), w.to_vec::<f32>().expect("w"));
        let bias = b.to_vec::<f32>().expect("b");
        let expected: Vec<f32> = (0..12)
            .map(|at| {
                let (i, j) = (at / 4, at % 4);
                let sum: f32 = (0..8).map(|k| xs[i * 8 + k] * ws[k * 4 + j]).sum();
                (sum + bias[j]).max(0.0)
            })
            .collect();
        assert_eq!(y.to_vec::<f32>().expect("y"), expected);
    }
    match through_mlir_opt(PRODUCT) {
        Some(printed) => assert!(verify(&parsed(&printed)).is_ok()),
        None => println!("mlir-opt-22 is not installed: its reading is not tested"),
    }
}

#[test]
fn the_order_of_a_sum_is_part_of_its_meaning() {
    // Over i and j: 1e8, 1, -1e8, 1. By rows 1 is lost in the first sum, by columns in both.
    let source = |order: &str| {
        format!(
            r#"
"func.func"() <{{sym_name = "f", function_type = (tensor<2x2xf32>) -> tensor<f32>}}> ({{
^bb0(%x: tensor<2x2xf32>):
  %e = "tg.buffer"() : () -> tensor<f32>
  %y = "tg.nest"(%x, %e) <{{combine = "add", initial = 0.0 : f32, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], operandSegmentSizes = array<i32: 1, 0, 0, 1, 0>, {order}, sizes = ["2", "2"]}}> ({{
  ^bb0(%a: f32):
    "tg.yield"(%a) : (f32) -> ()
  }}) : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
  "func.return"(%y) : (tensor<f32>) -> ()
}}) : () -> ()"#
        )
    };
    let x = Tensor::from_vec([2, 2], vec![1e8_f32, 1.0, -1e8, 1.0]).expect("x");
    let sum = |order: &str| {
        let module = parsed(&source(order));
        assert!(verify(&module).is_ok(), "{:?}", verify(&module));
        run(&module, std::slice::from_ref(&x)).expect("a sum")[0].to_vec::<f32>().expect("f32")[0]
    };
    assert_eq!(sum("order = array<i64: 0, 1>"), 1.0);
    assert_eq!(sum("order = array<i64: 1, 0>"), 2.0);
    // Lane 0 has 1e8 and -1e8, lane 1 has both ones.
    assert_eq!(sum("order = array<i64: 0, 1>, lanes = array<i64: 1, 2>"), 2.0);
    for lanes in ["-1, 2", "2, 2", "1, 3", "1, 8192", "1, -2", "1"] {
        let order = format!("order = array<i64: 0, 1>, lanes = array<i64: {lanes}>");
        let errors = format!("{:?}", verify(&parsed(&source(&order))));
        assert!(errors.contains("`lanes`"), "{lanes}: {errors}");
    }
}

#[test]
fn what_finishes_an_element_follows_a_sum() {
    let source = r#"
"func.func"() <{sym_name = "f", function_type = (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>}> ({
^bb0(%x: tensor<4xf32>, %b: tensor<4xf32>):
  %e = "tg.buffer"() : () -> tensor<4xf32>
  %y = "tg.nest"(%x, %b, %e) <{maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>, sizes = ["4"]}> ({
  ^bb0(%a: f32):
    "tg.yield"(%a) : (f32) -> ()
  }, {
  ^bb0(%s: f32, %q: f32):
    "tg.yield"(%q) : (f32) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  "func.return"(%y) : (tensor<4xf32>) -> ()
}) : () -> ()"#;
    let errors = format!("{:?}", verify(&parsed(source)));
    assert!(errors.contains("region 2"), "{errors}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let broken = [
        ("sizes = [\"n\", \"4\", \"8\"]", "sizes = [\"n\", \"4\"]", "`maps`"),
        ("order = array<i64: 2>", "order = array<i64: 3>", "`order`"),
        ("order = array<i64: 2>", "order = array<i64: 2, 2>", "`order`"),
        ("combine = \"add\"", "combine = \"and\"", "`combine`"),
        ("initial = 0.000000e+00 : f32, ", "", "`initial`"),
        ("array<i32: 2, 1, 0, 1, 0>", "array<i32: 2, 1, 1, 0, 0>", "segment"),
        ("\"arith.mulf\"(%a, %k)", "\"arith.maximumf\"(%a, %k)", "occurs in no body"),
        ("^bb0(%s: f32, %q: f32)", "^bb0(%s: f32, %q: f32, %more: f32)", "region 1"),
        ("order = array<i64: 2>", "lanes = array<i64: 0, 2>, order = array<i64: 2>", "`lanes`"),
        ("order = array<i64: 2>", "lanes = array<i64: 2, 3>, order = array<i64: 2>", "`lanes`"),
        ("from =", "bound = array<i64: 0>, from =", "`bound`"),
        ("sizes = [\"n\"", "sizes = [\"n +\"", "`sizes`"),
    ];
    for (old, new, message) in broken {
        let source = PRODUCT.replacen(old, new, 1);
        assert_ne!(source, PRODUCT, "{old}");
        let found = match text::parse(&source, "nests.mlir", tangram_dialects::context()) {
            Ok(module) => verify(&module).map_err(|errors| format!("{errors:?}")),
            Err(errors) => Err(format!("{errors:?}")),
        };
        let error = found.expect_err(new);
        assert!(error.contains(message), "{new}: {error}");
    }
}

#[test]
fn what_nothing_wrote_is_not_read() {
    let source = PRODUCT.replacen("\"func.return\"(%y)", "\"func.return\"(%e)", 1);
    let module = parsed(&source);
    let zeros = |shape: &[usize]| {
        Tensor::from_vec(shape, vec![0.0_f32; shape.iter().product()]).expect("zeros")
    };
    let error = run(&module, &[zeros(&[1, 8]), zeros(&[8, 4]), zeros(&[4])]).expect_err("no value");
    assert!(error.to_string().contains("written"), "{error}");
}

/// Numbers that tell functions apart: zeros, infinities, NaN, the least and greatest.
fn telling(element: DType) -> Tensor {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        1e-45,
        -1e-45,
        1e-310,
        1e38,
        -1e38,
        3e9,
        -3e9,
        1e19,
        300.0,
        -129.0,
        255.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        0.1,
        65504.0,
    ];
    let ints = [
        0,
        1,
        -1,
        2,
        -2,
        3,
        7,
        -7,
        8,
        31,
        32,
        63,
        64,
        127,
        128,
        -128,
        255,
        256,
        32767,
        -32768,
        65535,
        i64::from(i32::MAX),
        i64::from(i32::MIN),
        i64::MAX,
        i64::MIN,
    ];
    let tensor = match element.is_float() {
        true => Tensor::vector(floats.to_vec()),
        false => Tensor::vector(ints.to_vec()),
    };
    cast(&tensor, element).expect("numbers")
}

/// A nest over all of `extents`, each the loop of an operand.
fn over_pairs(extents: &[Expr], body: Body) -> Generic {
    let mut generic = Generic::over(extents.to_vec());
    for at in 0..extents.len() {
        generic.read(Access::dims(TensorId::Operand(at), extents.len(), &[at]));
    }
    let all: Vec<usize> = (0..extents.len()).collect();
    generic.write(Access::dims(TensorId::Result(0), extents.len(), &all));
    generic.body = body;
    generic
}

/// A nest over pairs of numbers, in a function, by its text.
fn paired(types: &[DType], out: DType, body: Body) -> Option<Module> {
    let mut module = Module::new(tangram_dialects::context());
    let count = Expr::int(telling(types[0]).len() as i64);
    let extents: Vec<Expr> = types.iter().map(|_| count.clone()).collect();
    let generic = over_pairs(&extents, body);
    let context = module.context_arc().clone();
    let inputs: Vec<_> =
        types.iter().map(|&ty| tensor_type(&context, ty, std::slice::from_ref(&count))).collect();
    let result = tensor_type(&context, out, &extents);
    let signature = context.function_type(&inputs, &[result]);
    let mut state = OpState::new(context.name("func.func"), Loc::UNKNOWN);
    state.attrs = context.dict([
        (context.str("sym_name"), context.str_attr("f")),
        (context.str("function_type"), context.type_attr(signature)),
    ]);
    state.regions = 1;
    let made = module.create_at(Point::End(module.body()), state);
    let block = module.add_block(module.region(made, 0));
    let arguments: Vec<_> = inputs.iter().map(|&ty| module.add_arg(block, ty)).collect();
    let mut state = OpState::new(context.name("tg.buffer"), Loc::UNKNOWN);
    state.results.push(result);
    let buffer = module.create_at(Point::End(block), state);
    let into = module.result(buffer, 0);
    let operands = NestOperands { inputs: arguments, tables: Vec::new(), into, starts: Vec::new() };
    let nest = Nest::of(generic).write(&mut module, Point::End(block), &operands, Loc::UNKNOWN)?;
    let mut state = OpState::new(context.name("func.return"), Loc::UNKNOWN);
    state.operands.push(module.result(nest, 0));
    module.create_at(Point::End(block), state);
    Some(module)
}

/// Compares a body by its text with the definition that it was written from.
fn same_in_text(types: &[DType], out: DType, body: Body, tried: &mut usize) {
    let inputs: Vec<Tensor> = types.iter().map(|&ty| telling(ty)).collect();
    let Some(module) = paired(types, out, body.clone()) else { return };
    let count = Expr::int(inputs[0].len() as i64);
    let extents: Vec<Expr> = types.iter().map(|_| count.clone()).collect();
    let generic = over_pairs(&extents, body);
    let operands: Vec<Option<Tensor>> = inputs.iter().cloned().map(Some).collect();
    let result = Temporary { element: out, extents };
    let expected =
        structured::interpret(&Structured::one(generic), &operands, &[result], &|_| None);
    let printed = text::print(&module);
    let again = parsed(&printed);
    assert!(verify(&again).is_ok(), "{printed}\n{:?}", verify(&again));
    assert_eq!(text::print(&again), printed);
    let found = run(&again, &inputs);
    match (expected, found) {
        (Ok(expected), Ok(found)) => assert_eq!(expected, found, "{printed}"),
        (Err(_), Err(_)) => {}
        (expected, found) => panic!("{printed}\n{expected:?}\n{found:?}"),
    }
    *tried += 1;
}

const ELEMENTS: [DType; 13] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

#[test]
fn every_scalar_means_in_text_what_it_meant() {
    let mut tried = 0;
    for element in ELEMENTS {
        for name in scalars::functions() {
            let mut body = Body::default();
            let x = body.input(0);
            if let Some(function) = scalars::unary_named(name) {
                let value = body.unary(function, x);
                body.result(value);
                same_in_text(&[element], element, body, &mut tried);
            } else if let Some(function) = scalars::binary_named(name) {
                let y = body.input(1);
                let value = body.binary(function, x, y);
                body.result(value);
                same_in_text(&[element, element], element, body, &mut tried);
            }
        }
        use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
        for by in [Eq, Ne, Lt, Le, Gt, Ge] {
            let mut body = Body::default();
            let (x, y) = (body.input(0), body.input(1));
            let value = body.push(Scalar::Compare(by, x, y));
            let chosen = body.push(Scalar::Select(value, y, x));
            body.result(chosen);
            same_in_text(&[element, element], element, body, &mut tried);
        }
        for to in ELEMENTS {
            let mut body = Body::default();
            let x = body.input(0);
            let value = body.push(Scalar::Cast(to, x));
            body.result(value);
            same_in_text(&[element], to, body, &mut tried);
        }
        let mut body = Body::default();
        let highest = body.constant(Number::highest(element));
        body.result(highest);
        same_in_text(&[element], element, body, &mut tried);
    }
    assert!(tried > 600, "{tried}");
}

#[test]
fn places_symbols_and_combinations_are_in_the_text() {
    // The sum over a window of what is inside, plus where it is, by a symbol.
    let mut generic = Generic::over([Expr::symbol("n"), Expr::int(3)]);
    generic.symbols.push(Expr::symbol("n"));
    generic.reduce(1, Reduction::sum(DType::I64));
    let mut exprs = AffineExprs::new();
    let (i, j, back) = (exprs.dim(0), exprs.dim(1), exprs.constant(-1));
    let place = exprs.add(i, j);
    let place = exprs.add(place, back);
    let map = AffineMap::new(2, 1, &exprs, &[place]);
    let read = generic.read(Access::new(TensorId::Operand(0), map).or(Number::Int(DType::I64, 7)));
    generic.write(Access::dims(TensorId::Result(0), 2, &[0]));
    let body = &mut generic.body;
    let (x, inside) = (body.input(read), body.push(Scalar::Inside(read)));
    let (at, symbol) = (body.push(Scalar::Index(1)), body.push(Scalar::Symbol(0)));
    let sum = body.binary(Binary::Add, x, at);
    let other = body.unary(Unary::Neg, symbol);
    let chosen = body.push(Scalar::Select(inside, sum, other));
    body.result(chosen);
    let source = r#"
"func.func"() <{sym_name = "f", function_type = (tensor<?xi64, ["n"]>) -> tensor<?xi64, ["n"]>}> ({
^bb0(%x: tensor<?xi64, ["n"]>):
  %e = "tg.buffer"() : () -> tensor<?xi64, ["n"]>
  "func.return"(%e) : (tensor<?xi64, ["n"]>) -> ()
}) : () -> ()"#;
    let mut module = parsed(source);
    let block = module.first_block(module.region(function(&module), 0)).expect("a block");
    let (buffer, end) =
        (module.first_op(block).expect("a buffer"), module.last_op(block).expect("an end"));
    let operands = NestOperands {
        inputs: vec![module.args(block)[0]],
        tables: Vec::new(),
        into: module.result(buffer, 0),
        starts: Vec::new(),
    };
    let nest = Nest::of(generic.clone());
    let op = nest.write(&mut module, Point::Before(end), &operands, Loc::UNKNOWN).expect("a nest");
    let result = module.result(op, 0);
    module.set_operand(end, 0, result);
    assert!(verify(&module).is_ok(), "{:?}", verify(&module));
    assert_eq!(Nest::read(&module, op).as_ref(), Ok(&nest));
    let again = parsed(&text::print(&module));
    let x = Tensor::vector(vec![10_i64, 20, 30, 40]);
    let found = run(&again, std::slice::from_ref(&x)).expect("a run");
    // Elements 0 to 3 of windows from -1 on: outside is -4.
    assert_eq!(found[0].to_vec::<i64>().expect("i64"), [29, 63, 93, 67]);
    if through_mlir_opt(&text::print(&module)).is_none() {
        println!("mlir-opt-22 is not installed: its reading is not tested");
    }
}
