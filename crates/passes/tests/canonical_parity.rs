//! Where `mlir-opt` is installed, canonicalisation leaves what it leaves, pattern by pattern, on
//! programs that were written for it.

mod support;

use support::beside::same_but_for_constants as same;

const PIPELINE: &str = "builtin.module(func.func(canonicalize))";

#[test]
fn an_if_around_another_one() {
    let source = "
func.func @yields(%a: i1, %b: i1, %x: i32, %y: f32) -> (i32, f32, i32) {
  %z = \"u.z\"() : () -> i32
  %r:3 = scf.if %a -> (i32, f32, i32) {
    %s:2 = scf.if %b -> (i32, f32) {
      %i = \"u.i\"() : () -> i32
      %j = \"u.j\"() : () -> f32
      scf.yield %i, %j : i32, f32
    } else {
      scf.yield %x, %y : i32, f32
    }
    scf.yield %s#0, %s#1, %z : i32, f32, i32
  } else {
    scf.yield %x, %y, %x : i32, f32, i32
  }
  return %r#0, %r#1, %r#2 : i32, f32, i32
}
func.func @other_value(%a: i1, %b: i1, %x: i32, %y: i32) -> i32 {
  %r = scf.if %a -> i32 {
    %s = scf.if %b -> i32 {
      %i = \"u.i\"() : () -> i32
      scf.yield %i : i32
    } else {
      scf.yield %x : i32
    }
    scf.yield %s : i32
  } else {
    scf.yield %y : i32
  }
  return %r : i32
}
func.func @for_the_effect(%a: i1, %b: i1, %x: i32, %y: i32) -> i32 {
  %r = scf.if %a -> i32 {
    scf.if %b {
      \"u.run\"() : () -> ()
    }
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  return %r : i32
}
func.func @negated(%a: i1) -> i32 {
  %true = arith.constant true
  %not = arith.xori %a, %true : i1
  %r = scf.if %not -> i32 {
    %i = \"u.i\"() : () -> i32
    scf.yield %i : i32
  } else {
    %j = \"u.j\"() : () -> i32
    scf.yield %j : i32
  }
  return %r : i32
}";
    same(PIPELINE, source, &["arith.xori"]);
}

/// The later one may end with what the earlier one gives, in its region or in one inside.
#[test]
fn an_if_behind_another_one() {
    let source = "
func.func @ends_with_it(%a: i1, %x: i32) -> i32 {
  %r = scf.if %a -> i32 {
    %i = \"u.i\"() : () -> i32
    scf.yield %i : i32
  } else {
    %j = \"u.j\"() : () -> i32
    scf.yield %j : i32
  }
  %s = scf.if %a -> i32 {
    scf.yield %r : i32
  } else {
    \"u.run\"() : () -> ()
    scf.yield %r : i32
  }
  return %s : i32
}
func.func @negated(%a: i1, %b: i1, %x: i32) -> (i32, i32) {
  %true = arith.constant true
  %not = arith.xori %a, %true : i1
  %r = scf.if %a -> i32 {
    %i = \"u.i\"() : () -> i32
    scf.yield %i : i32
  } else {
    scf.yield %x : i32
  }
  %s:2 = scf.if %not -> (i32, i32) {
    %j = \"u.j\"(%r) : (i32) -> i32
    scf.yield %r, %j : i32, i32
  } else {
    %k = scf.if %b -> i32 {
      %l = \"u.l\"() : () -> i32
      scf.yield %l : i32
    } else {
      \"u.m\"() : () -> ()
      scf.yield %r : i32
    }
    scf.yield %k, %r : i32, i32
  }
  return %s#0, %s#1 : i32, i32
}";
    same(PIPELINE, source, &["arith.xori"]);
}

#[test]
fn regions_that_run_once() {
    let source = "
func.func @blocks(%c: i1) -> i64 {
  \"u.before\"() : () -> ()
  %v = scf.execute_region -> i64 {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    %x = \"u.x\"() : () -> i64
    scf.yield %x : i64
  ^bb2:
    %y = \"u.y\"() : () -> i64
    scf.yield %y : i64
  }
  \"u.after\"(%v) : (i64) -> ()
  return %v : i64
}
func.func @from_outside(%c: i1, %x: i64, %y: i64) -> (i64, i64) {
  %v:2 = scf.execute_region -> (i64, i64) no_inline {
    cf.cond_br %c, ^bb1, ^bb2
  ^bb1:
    \"u.run\"() : () -> ()
    scf.yield %x, %x : i64, i64
  ^bb2:
    \"u.walk\"() : () -> ()
    scf.yield %x, %y : i64, i64
  }
  return %v#0, %v#1 : i64, i64
}
func.func @in_a_loop(%c: i1, %n: index) {
  scf.for %i = %n to %n step %n {
    scf.execute_region {
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      \"u.run\"() : () -> ()
      scf.yield
    ^bb2:
      scf.yield
    }
    \"u.use\"(%i) : (index) -> ()
  }
  return
}
func.func @once(%n: index) {
  %c1 = arith.constant 1 : index
  %m = arith.addi %n, %c1 overflow<nsw> : index
  scf.for %i = %n to %m step %c1 {
    \"u.use\"(%i) : (index) -> ()
  }
  %k = arith.addi %n, %c1 overflow<nuw> : index
  scf.for %i = %n to %k step %c1 {
    \"u.perhaps\"(%i) : (index) -> ()
  }
  return
}";
    same(PIPELINE, source, &[]);
}

#[test]
fn loops_that_test_first() {
    let source = "
func.func @test(%x: i32) {
  %0 = scf.while () : () -> i1 {
    %c = \"u.test\"() : () -> i1
    scf.condition(%c) %c : i1
  } do {
  ^bb0(%c: i1):
    \"u.use\"(%c) : (i1) -> ()
    scf.yield
  }
  %1 = scf.while () : () -> i32 {
    %v = \"u.value\"() : () -> i32
    %c = arith.cmpi slt, %x, %v : i32
    scf.condition(%c) %v : i32
  } do {
  ^bb0(%v: i32):
    %a = arith.cmpi slt, %x, %v : i32
    %b = arith.cmpi sge, %x, %v : i32
    %d = arith.cmpi sgt, %x, %v : i32
    %e = arith.cmpi sge, %v, %x : i32
    \"u.use\"(%a, %b, %d, %e, %v) : (i1, i1, i1, i1, i32) -> ()
    scf.yield
  }
  return
}
func.func @twins(%n: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %0:2 = scf.while (%a = %zero, %b = %zero) : (i32, i32) -> (i32, i32) {
    %s = arith.addi %a, %b : i32
    %c = arith.cmpi slt, %s, %n : i32
    scf.condition(%c) %a, %b : i32, i32
  } do {
  ^bb0(%a: i32, %b: i32):
    %s = \"u.next\"(%a, %b) : (i32, i32) -> i32
    scf.yield %s, %s : i32, i32
  }
  return %0#0, %0#1 : i32, i32
}";
    same(PIPELINE, source, &[]);
}

/// Blocks that only branch to each other have no end; passing them by has one.
#[test]
fn branches_in_cycles() {
    let source = "
func.func @two() {
  cf.br ^bb1
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb1
}
func.func @later() {
  cf.br ^bb1
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb3
^bb3:
  cf.br ^bb4
^bb4:
  cf.br ^bb5
^bb5:
  cf.br ^bb3
}
func.func @aside(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb3
^bb3:
  cf.br ^bb4
^bb4:
  cf.br ^bb3
}
func.func @marked(%c: i1) {
  cf.cond_br %c, ^bb6, ^bb7
^bb6:
  cf.br ^bb5 {f}
^bb5:
  cf.br ^bb1 {a}
^bb1:
  cf.br ^bb2 {b}
^bb2:
  cf.br ^bb3 {c}
^bb3:
  cf.br ^bb1 {d}
^bb7:
  cf.br ^bb6
}
func.func @never(%c: i1) {
  cf.cond_br %c weights([3, 7]), ^bb1, ^bb2
^bb1:
  \"u.run\"() : () -> ()
  return
^bb2:
  ub.unreachable
}
func.func @weighed(%c: i1) {
  cf.cond_br %c weights([3, 7]), ^bb1, ^bb2
^bb1:
  \"u.run\"() : () -> ()
  return
^bb2:
  \"u.walk\"() : () -> ()
  return
}";
    same(PIPELINE, source, &[]);
    // A chain without an end, and one with an end that is far away.
    let mut cycle = String::from("func.func @f() {\n  cf.br ^bb0\n");
    let mut chain = String::from("func.func @f(%c: i1) {\n  cf.cond_br %c, ^bb0, ^bb7\n");
    for i in 0..500 {
        cycle += &format!("^bb{i}:\n  cf.br ^bb{}\n", (i + 1) % 500);
        chain += &format!("^bb{i}:\n  cf.br ^bb{}\n", i + 1);
    }
    same(PIPELINE, &(cycle + "}"), &[]);
    same(PIPELINE, &(chain + "^bb500:\n  return\n}"), &["cf.cond_br"]);
}

#[test]
fn extremes_of_several_numbers() {
    let source = "
func.func @f(%a: index, %b: index, %c: index, %d: index) -> (index, index, index, index) {
  %0 = affine.min affine_map<(d0)[s0] -> (16, d0 - s0)> (%a)[%b]
  %1 = affine.min affine_map<(d0)[s0] -> (3 * s0, d0)> (%0)[%c]
  %2 = affine.min affine_map<(d0)[s0] -> (s0, 5 - d0)> (%d)[%0]
  %3 = affine.max affine_map<()[s0, s1] -> (s0 + s1, 32, s1 + 16)> ()[%a, %b]
  %4 = affine.max affine_map<()[s0, s1] -> (s0 mod 7, 32, s1 + 16)> ()[%a, %b]
  return %1, %2, %3, %4 : index, index, index, index
}
func.func @g(%n: index) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %c2 = arith.constant 2 : index
      %0 = affine.min affine_map<(d0, d1, d2) -> (d0, d1 - d2)> (%i, %j, %c2)
      \"u.use\"(%0) : (index) -> ()
    }
  }
  return
}";
    same(PIPELINE, source, &[]);
}

#[test]
fn whole_tensors() {
    let source = "
func.func @copies(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %fill = linalg.fill ins(%zero : f32) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  %0 = linalg.copy ins(%fill : tensor<?x?xf32>) outs(%b : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.copy ins(%b : tensor<?x?xf32>) outs(%fill : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.copy ins(%b : tensor<?x?xf32>) outs(%a : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0, %1, %2 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
func.func @ordered(%a: tensor<?x3x?xf32>, %b: tensor<4x?x3x?xf32>, %c: tensor<3x?x4x?xf32>) -> tensor<3x?x4x?xf32> {
  %0 = linalg.broadcast ins(%a : tensor<?x3x?xf32>) outs(%b : tensor<4x?x3x?xf32>) dimensions = [0]
  %1 = linalg.transpose ins(%0 : tensor<4x?x3x?xf32>) outs(%c : tensor<3x?x4x?xf32>) permutation = [2, 1, 0, 3]
  return %1 : tensor<3x?x4x?xf32>
}
func.func @tiles(%a: tensor<?x?x?xf32>, %b: tensor<20x5x?x8xf32>, %c: tensor<?x5x6x8xf32>, %d: tensor<?x5x?xf32>) -> (tensor<20x5x?x8xf32>, tensor<?x5x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.pack %a padding_value(%zero : f32) outer_dims_perm = [2, 1, 0] inner_dims_pos = [0] inner_tiles = [8] into %b : tensor<?x?x?xf32> -> tensor<20x5x?x8xf32>
  %1 = linalg.unpack %c outer_dims_perm = [0, 1, 2] inner_dims_pos = [2] inner_tiles = [8] into %d : tensor<?x5x6x8xf32> -> tensor<?x5x?xf32>
  return %0, %1 : tensor<20x5x?x8xf32>, tensor<?x5x?xf32>
}
func.func @cut(%a: tensor<28x2x1x16x16xf32>, %b: tensor<28x28x15xf32>) -> (tensor<28x17x10xf32>, tensor<28x16x15xf32>) {
  %0 = linalg.unpack %a inner_dims_pos = [1, 2] inner_tiles = [16, 16] into %b : tensor<28x2x1x16x16xf32> -> tensor<28x28x15xf32>
  %1 = tensor.extract_slice %0[0, 0, 0] [28, 17, 10] [1, 1, 1] : tensor<28x28x15xf32> to tensor<28x17x10xf32>
  %2 = linalg.unpack %a inner_dims_pos = [1, 2] inner_tiles = [16, 16] into %b : tensor<28x2x1x16x16xf32> -> tensor<28x28x15xf32>
  %3 = tensor.extract_slice %2[0, 0, 0] [28, 16, 15] [1, 1, 1] : tensor<28x28x15xf32> to tensor<28x16x15xf32>
  return %1, %3 : tensor<28x17x10xf32>, tensor<28x16x15xf32>
}
func.func @buffers(%a: memref<16x8xf32>, %b: memref<8x4xf32>, %c: memref<16x4xf32>) {
  %0 = memref.cast %a : memref<16x8xf32> to memref<?x?xf32>
  %1 = memref.cast %b : memref<8x4xf32> to memref<?x?xf32>
  %2 = memref.cast %c : memref<16x4xf32> to memref<?x?xf32>
  linalg.matmul ins(%0, %1 : memref<?x?xf32>, memref<?x?xf32>) outs(%2 : memref<?x?xf32>)
  return
}";
    same(PIPELINE, source, &[]);
}

#[test]
fn memory_on_the_stack_and_copies_of_buffers() {
    let source = "
func.func @last() {
  memref.alloca_scope {
    %n = \"u.count\"() : () -> index
    %a = memref.alloca(%n) : memref<?xi64>
    \"u.use\"(%a) : (memref<?xi64>) -> ()
  }
  return
}
func.func @not_last() {
  memref.alloca_scope {
    %n = \"u.count\"() : () -> index
    %a = memref.alloca(%n) : memref<?xi64>
    \"u.use\"(%a) : (memref<?xi64>) -> ()
  }
  \"u.after\"() : () -> ()
  return
}
func.func @before(%n: index) {
  \"u.region\"() ({
    memref.alloca_scope {
      %a = memref.alloca(%n) : memref<?xi64>
      \"u.use\"(%a) : (memref<?xi64>) -> ()
    }
    \"u.end\"() : () -> ()
  }) : () -> ()
  return
}
func.func @copied() -> memref<5xf32> {
  %a = memref.alloc() : memref<5xf32>
  \"u.write\"(%a) : (memref<5xf32>) -> ()
  %b = bufferization.clone %a : memref<5xf32> to memref<5xf32>
  memref.dealloc %a : memref<5xf32>
  return %b : memref<5xf32>
}
func.func @freed_between(%c: memref<5xf32>) -> memref<5xf32> {
  %a = memref.alloc() : memref<5xf32>
  \"u.write\"(%a) : (memref<5xf32>) -> ()
  %b = bufferization.clone %a : memref<5xf32> to memref<5xf32>
  memref.dealloc %c : memref<5xf32>
  memref.dealloc %a : memref<5xf32>
  return %b : memref<5xf32>
}
func.func @both_freed() {
  %a = memref.alloc() : memref<5xf32>
  \"u.write\"(%a) : (memref<5xf32>) -> ()
  %b = bufferization.clone %a : memref<5xf32> to memref<5xf32>
  \"u.read\"(%b) : (memref<5xf32>) -> ()
  memref.dealloc %a : memref<5xf32>
  memref.dealloc %b : memref<5xf32>
  return
}
func.func @asked_for() -> memref<?xi32, strided<[?], offset: ?>> {
  %c1 = arith.constant 1 : index
  %0 = memref.alloc(%c1)[%c1, %c1] : memref<?xi32, strided<[?], offset: ?>>
  return %0 : memref<?xi32, strided<[?], offset: ?>>
}";
    same(PIPELINE, source, &[]);
}

#[test]
fn numbers_and_poison() {
    let unary = [
        "absf",
        "acos",
        "atan",
        "ceil",
        "cosh",
        "erf",
        "exp2",
        "expm1",
        "floor",
        "log",
        "log1p",
        "round",
        "roundeven",
        "sin",
        "tan",
        "tanh",
        "trunc",
    ];
    let mut source = String::new();
    for name in unary {
        source += &format!(
            "func.func @{name}() -> f32 {{\n  %p = ub.poison : f32\n  %r = math.{name} %p : f32\n  \
             return %r : f32\n}}\n"
        );
    }
    source += "
func.func @powers(%x: f32, %i: i32) -> (f32, f32, i32, i32, f16) {
  %p = ub.poison : f32
  %q = ub.poison : i32
  %0 = math.powf %x, %p : f32
  %1 = math.copysign %p, %x : f32
  %2 = math.ctpop %q : i32
  %3 = arith.ceildivsi %i, %q : i32
  %4 = arith.truncf %p : f32 to f16
  return %0, %1, %2, %3, %4 : f32, f32, i32, i32, f16
}
func.func @bits(%c: i1, %x: f32) -> (i64, i64, i1, i1) {
  %nan = arith.constant 0x7FFFFFFF : f32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %0 = arith.select %c, %c0, %c1 : i64
  %1 = arith.select %c, %c1, %c0 : i64
  %2 = arith.cmpf olt, %nan, %x : f32
  %3 = arith.cmpf ugt, %nan, %x : f32
  return %0, %1, %2, %3 : i64, i64, i1, i1
}
func.func @indices(%x: index) -> (index, index, index, index, index) {
  %a = index.constant 5
  %b = arith.constant 7 : index
  %m = index.constant -1
  %0 = index.sub %a, %b
  %1 = index.mul %a, %b
  %2 = index.maxu %m, %b
  %3 = index.mins %m, %b
  %z = index.constant 0
  %4 = index.add %x, %z
  return %0, %1, %2, %3, %4 : index, index, index, index, index
}
func.func @extract(%a: tensor<4xi32>, %i: index) -> index {
  %0 = arith.index_cast %a : tensor<4xi32> to tensor<4xindex>
  %1 = tensor.extract %0[%i] : tensor<4xindex>
  return %1 : index
}";
    same(PIPELINE, &source, &[]);
    same("builtin.module(canonicalize{top-down=0})", &source, &[]);
}

#[test]
fn what_loops_carry() {
    let source = "
func.func private @step(tensor<?x?xf32>) -> tensor<?x?xf32>
func.func @cast(%t: tensor<32x8xf32>, %n: index, %s: index) -> tensor<?x?xf32> {
  %0 = tensor.cast %t : tensor<32x8xf32> to tensor<?x?xf32>
  %1 = scf.for %i = %n to %s step %n iter_args(%x = %0) -> (tensor<?x?xf32>) {
    %2 = func.call @step(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    scf.yield %2 : tensor<?x?xf32>
  } {u.note}
  return %1 : tensor<?x?xf32>
}
func.func @order() -> (i64, f32, i32) {
  %0 = \"u.a\"() : () -> f32
  %1 = \"u.b\"() : () -> i32
  %2 = \"u.c\"() : () -> i64
  %3:3 = scf.while (%x = %0, %y = %1, %z = %2) : (f32, i32, i64) -> (i64, f32, i32) {
    %c = \"u.test\"() : () -> i1
    scf.condition(%c) %z, %x, %y : i64, f32, i32
  } do {
  ^bb0(%z: i64, %x: f32, %y: i32):
    %4 = \"u.d\"(%z) : (i64) -> f32
    %5 = \"u.e\"(%x) : (f32) -> i32
    %6 = \"u.f\"(%y) : (i32) -> i64
    scf.yield %4, %5, %6 : f32, i32, i64
  }
  return %3#0, %3#1, %3#2 : i64, f32, i32
}";
    same(PIPELINE, source, &[]);
}

#[test]
fn reshapes_of_extents_that_are_not_known() {
    let source = "
func.func @tensors(%a: tensor<?xf16>, %m: index, %n: index) -> tensor<8x?x?xf16> {
  %0 = tensor.expand_shape %a [[0, 1, 2, 3, 4]] output_shape [4, 2, %m, %n, 32] : tensor<?xf16> into tensor<4x2x?x?x32xf16>
  %1 = tensor.collapse_shape %0 [[0, 1], [2], [3, 4]] : tensor<4x2x?x?x32xf16> into tensor<8x?x?xf16>
  return %1 : tensor<8x?x?xf16>
}
func.func @buffers(%a: memref<?xf16>, %m: index, %n: index) -> memref<8x?x?xf16> {
  %0 = memref.expand_shape %a [[0, 1, 2, 3, 4]] output_shape [4, 2, %m, 16, %n] : memref<?xf16> into memref<4x2x?x16x?xf16>
  %1 = memref.collapse_shape %0 [[0, 1], [2], [3, 4]] : memref<4x2x?x16x?xf16> into memref<8x?x?xf16>
  return %1 : memref<8x?x?xf16>
}
func.func @zero(%x: f32) -> (f32, f32, f32, f32) {
  %z = arith.constant 0.0 : f32
  %n = arith.constant -0.0 : f32
  %0 = arith.mulf %x, %z fastmath<nnan,nsz> : f32
  %1 = arith.mulf %x, %n fastmath<fast> : f32
  %2 = arith.mulf %x, %z fastmath<nnan> : f32
  %3 = arith.mulf %x, %n fastmath<nsz> : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}
func.func @poison(%i: index) -> (vector<4xf32>, vector<8xf32>, f32, vector<2x4xf32>) {
  %p = ub.poison : vector<2x4xf32>
  %0 = vector.extract %p[%i] : vector<4xf32> from vector<2x4xf32>
  %1 = vector.shape_cast %p : vector<2x4xf32> to vector<8xf32>
  %2 = vector.extract %p[0, 1] : f32 from vector<2x4xf32>
  %3 = vector.broadcast %0 : vector<4xf32> to vector<2x4xf32>
  return %0, %1, %2, %3 : vector<4xf32>, vector<8xf32>, f32, vector<2x4xf32>
}";
    same(PIPELINE, source, &[]);
}
