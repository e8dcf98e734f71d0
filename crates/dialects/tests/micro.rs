//! Operations of micro-kernels: what the verifier refuses, and what vectors and walking views mean.

use std::cell::RefCell;
use std::rc::Rc;

use tangram_dialects::mlir::run::{Datum, Elements, Trap, run};
use tangram_ir::{Module, text};

const BUDGET: u64 = 1000;

fn module(arguments: &str, body: &str) -> Module {
    let source = format!(
        "func.func @f({arguments}) {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        {body}
        func.return
    }}"
    );
    text::parse(&source, "f.mlir", tangram_dialects::context()).expect("a text")
}

fn refused(arguments: &str, body: &str) -> String {
    let errors = tangram_ir::verify(&module(arguments, body)).expect_err("not valid");
    errors[0].message.clone()
}

fn ran(arguments: &str, body: &str, given: &[Datum]) -> Result<(), Trap> {
    let module = module(arguments, body);
    tangram_ir::verify(&module).expect("valid");
    let function = module.first_op(module.body()).expect("a function");
    run(&module, function, given, BUDGET).map(|_| ())
}

fn buffer(data: Vec<Datum>) -> Datum {
    let extents = vec![data.len() as i64];
    Datum::Buffer(Rc::new(RefCell::new(Elements { extents, data })))
}

fn ints(values: &[i128]) -> Datum {
    buffer(values.iter().map(|&value| Datum::Int(value)).collect())
}

fn floats(values: &[f64]) -> Datum {
    buffer(values.iter().map(|&value| Datum::Float(value)).collect())
}

#[test]
fn views_walk_as_far_as_to_the_end_and_are_read_before_it() {
    let walk = |count: usize, view: &str| {
        let step = "= \"tg.advance\"(%x, %c2) : (memref<?xf32>, index) -> memref<?xf32>";
        let steps = (0..count).map(|at| step.replace("%x", &format!("%v{at}")));
        let steps: String =
            steps.enumerate().map(|(at, step)| format!("%v{} {step}\n", at + 1)).collect();
        let steps = steps.replace("%v0", "%x");
        format!(
            "{steps}
            %a = memref.load {view}[%c1] : memref<?xf32>
            memref.store %a, %y[%c0] : memref<?xf32>"
        )
    };
    let arguments = "%x: memref<?xf32>, %y: memref<?xf32>";
    let given = || [floats(&[1.0, 2.0, 3.0, 4.0]), floats(&[0.0])];
    let [x, y] = given();
    assert_eq!(ran(arguments, &walk(1, "%v1"), &[x, y.clone()]), Ok(()));
    assert_eq!(y, floats(&[4.0]));
    // Beyond the end a view may be, but not be read.
    assert_eq!(ran(arguments, &walk(3, "%v1"), &given()), Ok(()));
    let beyond = ran(arguments, &walk(3, "%v3"), &given());
    assert_eq!(beyond, Err(Trap::Undefined("memref.load".into())));
}

#[test]
fn vectors_are_computed_lane_by_lane_and_rounded_each() {
    let body = "
        %a = vector.load %x[%c1] : memref<?xf32>, vector<2xf32>
        %s = memref.load %x[%c0] : memref<?xf32>
        %b = vector.broadcast %s : f32 to vector<2xf32>
        %k = \"tg.keep\"(%b) : (vector<2xf32>) -> vector<2xf32>
        %p = arith.mulf %a, %k : vector<2xf32>
        %n = arith.negf %p : vector<2xf32>
        %zero = arith.constant dense<0.0> : vector<2xf32>
        %t = arith.addf %n, %zero : vector<2xf32>
        vector.store %t, %y[%c1] : memref<?xf32>, vector<2xf32>";
    let numbers = [0.1_f32, 0.7, -0.0];
    let x = floats(&numbers.map(f64::from));
    let y = floats(&[7.0; 4]);
    assert_eq!(ran("%x: memref<?xf32>, %y: memref<?xf32>", body, &[x, y.clone()]), Ok(()));
    let lane = |value: f32| f64::from(-(value * numbers[0]) + 0.0);
    assert_eq!(y, floats(&[7.0, lane(0.7), lane(-0.0), 7.0]));
    let outside = body.replace("%x[%c1]", "%x[%c2]");
    let given = [floats(&[1.0; 3]), floats(&[7.0; 4])];
    let result = ran("%x: memref<?xf32>, %y: memref<?xf32>", &outside, &given);
    assert_eq!(result, Err(Trap::Undefined("vector.load".into())));
}

#[test]
fn products_of_pairs_wrap_and_bytes_keep_their_sign() {
    let body = "
        %a = \"tg.widen_load\"(%x, %c1) : (memref<?xi16>, index) -> vector<2xi32>
        %b = vector.load %y[%c0] : memref<?xi32>, vector<2xi32>
        %s = vector.load %z[%c0] : memref<?xi32>, vector<2xi32>
        %t = \"tg.dot\"(%s, %a, %b) : (vector<2xi32>, vector<2xi32>, vector<2xi32>) -> vector<2xi32>
        vector.store %t, %z[%c0] : memref<?xi32>, vector<2xi32>
        %d = \"tg.widen_load\"(%x, %c0) : (memref<?xi16>, index) -> i32
        memref.store %d, %z[%c2] : memref<?xi32>";
    let pair = |low: i16, high: i16| i128::from(i32::from(high) << 16 | i32::from(low) & 0xffff);
    let bytes = |low: i8, high: i8| i128::from(i16::from_le_bytes([low as u8, high as u8]));
    let x = ints(&[bytes(-1, 3), bytes(-128, 127), bytes(5, -6)]);
    let y = ints(&[pair(i16::MIN, 300), pair(-7, 9)]);
    let z = ints(&[i128::from(i32::MAX), 100, 0]);
    let arguments = "%x: memref<?xi16>, %y: memref<?xi32>, %z: memref<?xi32>";
    assert_eq!(ran(arguments, body, &[x, y, z.clone()]), Ok(()));
    let first = i32::MAX.wrapping_add(-128 * i32::from(i16::MIN) + 127 * 300);
    assert_eq!(z, ints(&[first.into(), 100 + 5 * -7 + -6 * 9, pair(-1, 3)]));
}

#[test]
fn operations_of_other_types_are_refused() {
    let rows = "%x: memref<?x4xf32>, %n: index";
    let body = "%a = \"tg.advance\"(%x, %n) : (memref<?x4xf32>, index) -> memref<?x4xf32>";
    assert!(refused(rows, body).contains("one dimension"));
    let line = "%x: memref<?xf32>, %n: index";
    let body = "%a = \"tg.advance\"(%x, %n) : (memref<?xf32>, index) -> memref<?xf64>";
    assert!(refused(line, body).contains("expected results"));
    let halves = "%x: vector<4xi16>";
    let body = "%a = \"tg.dot\"(%x, %x, %x) : (vector<4xi16>, vector<4xi16>, vector<4xi16>) -> vector<4xi16>";
    assert!(refused(halves, body).contains("32 bits"));
    let bytes = "%x: memref<?xi8>, %n: index";
    let body = "%a = \"tg.widen_load\"(%x, %n) : (memref<?xi8>, index) -> vector<4xi32>";
    assert!(refused(bytes, body).contains("16 bits"));
}
