// Constant bounds become numbers, and counters with one value go.
func.func @counters(%t: tensor<6x6xi32>, %x: tensor<2x2xi32>) -> tensor<6x6xi32> {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %six = arith.constant 6 : index
  %r = scf.forall (%i, %j) = (%zero, 1) to (%six, 3) step (%two, %two) shared_outs(%o = %t) -> (tensor<6x6xi32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i, %j] [2, 2] [1, 1] : tensor<2x2xi32> into tensor<6x6xi32>
    }
  }
  return %r : tensor<6x6xi32>
}

// -----

func.func @once(%t: tensor<6xi32>, %x: tensor<2xi32>) -> tensor<6xi32> {
  %r = scf.forall (%i) = (3) to (4) step (5) shared_outs(%o = %t) -> (tensor<6xi32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [2] [1] : tensor<2xi32> into tensor<6xi32>
    }
  }
  return %r : tensor<6xi32>
}

// -----

func.func @never(%t: tensor<6xi32>, %x: tensor<2xi32>, %n: index) -> tensor<6xi32> {
  %r = scf.forall (%i, %j) = (0, %n) to (4, %n) step (1, 1) shared_outs(%o = %t) -> (tensor<6xi32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [2] [1] : tensor<2xi32> into tensor<6xi32>
    }
  }
  return %r : tensor<6xi32>
}

// -----

// Outputs that nobody uses or writes, those whose types say less, and their extents.
func.func @outputs(%a: tensor<6xi32>, %b: tensor<6xi32>, %c: tensor<6xi32>, %x: tensor<2xi32>, %n: index) -> (tensor<6xi32>, tensor<6xi32>, index) {
  %zero = arith.constant 0 : index
  %d = tensor.cast %c : tensor<6xi32> to tensor<?xi32>
  %r:3 = scf.forall (%i) in (%n) shared_outs(%o = %a, %p = %b, %q = %d) -> (tensor<6xi32>, tensor<6xi32>, tensor<?xi32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %x into %o[%i] [2] [1] : tensor<2xi32> into tensor<6xi32>
      tensor.parallel_insert_slice %x into %q[%i] [2] [1] : tensor<2xi32> into tensor<?xi32>
    }
  }
  %e = tensor.dim %r#2, %zero : tensor<?xi32>
  %s = tensor.cast %r#2 : tensor<?xi32> to tensor<6xi32>
  return %r#1, %s, %e : tensor<6xi32>, tensor<6xi32>, index
}

// -----

// Two values that start alike and change places stay what they were.
func.func @exchanged(%m: memref<4xi32>, %x: i32, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %zero to %n step %one iter_args(%a = %x, %b = %x) -> (i32, i32) {
    scf.yield %b, %a : i32, i32
  }
  memref.store %r#0, %m[%zero] : memref<4xi32>
  return
}

// -----

func.func @choices(%i: index, %x: i32, %y: i32) -> i32 {
  %r:3 = scf.index_switch %i -> i32, i32, i32
  case 3 {
    %s = arith.addi %x, %y : i32
    scf.yield %s, %y, %x : i32, i32, i32
  }
  default {
    scf.yield %x, %x, %x : i32, i32, i32
  }
  return %r#2 : i32
}

// -----

func.func @only_default(%i: index, %x: i32) -> i32 {
  %r = scf.index_switch %i -> i32
  default {
    %s = arith.addi %x, %x : i32
    scf.yield %s : i32
  }
  return %r : i32
}

// -----

// What stands between two choices of one condition does not keep them apart.
func.func @apart(%p: i1, %m: memref<4xi32>, %x: i32, %y: i32, %i: index) -> i32 {
  scf.if %p {
    memref.store %x, %m[%i] : memref<4xi32>
  }
  %r = scf.if %p -> (i32) {
    memref.store %y, %m[%i] : memref<4xi32>
    scf.yield %x : i32
  } else {
    scf.yield %y : i32
  }
  return %r : i32
}

// -----

func.func @bounds(%m: memref<9xi32>, %x: i32) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  affine.parallel (%i) = (%zero) to (%zero + %four) {
    %j = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    affine.parallel (%k) = (%i) to (%j) {
      affine.store %x, %m[%k] : memref<9xi32>
    }
  }
  return
}

// -----

func.func @announced(%m: memref<64xi32>) {
  affine.for %i = 0 to 8 {
    %j = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
    affine.prefetch %m[%j], read, locality<2>, data : memref<64xi32>
  }
  return
}
