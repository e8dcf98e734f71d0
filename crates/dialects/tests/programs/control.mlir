func.func @blocks(%c: i1, %x: i32, %y: i32) -> i32 {
  cf.cond_br %c, ^a(%x : i32), ^b(%y, %x : i32, i32)
^a(%0: i32):
  cf.br ^b(%0, %0 : i32, i32)
^b(%1: i32, %2: i32):
  cf.switch %1 : i32, [
    default: ^c(%2 : i32),
    42: ^a(%1 : i32),
    -1: ^c(%1 : i32)
  ]
^c(%3: i32):
  return %3 : i32
}
func.func @regions(%lb: index, %ub: index, %st: index, %c: i1, %f: f32) -> f32 {
  %r:2 = scf.for %i = %lb to %ub step %st iter_args(%a = %f, %b = %f) -> (f32, f32) {
    %0 = arith.addf %a, %b : f32
    scf.yield %0, %a : f32, f32
  }
  %s = scf.if %c -> f32 {
    scf.yield %r#0 : f32
  } else {
    scf.yield %r#1 : f32
  }
  scf.if %c {
    func.call @blocks2() : () -> ()
  }
  %w:2 = scf.while (%x = %s, %n = %lb) : (f32, index) -> (f32, index) {
    %lt = arith.cmpi slt, %n, %ub : index
    scf.condition(%lt) %x, %n : f32, index
  } do {
  ^bb0(%x: f32, %n: index):
    %m = arith.addi %n, %st : index
    scf.yield %x, %m : f32, index
  }
  %p = scf.parallel (%i, %j) = (%lb, %lb) to (%ub, %ub) step (%st, %st) init (%f) -> f32 {
    scf.reduce(%f : f32) {
    ^bb0(%u: f32, %v: f32):
      %q = arith.mulf %u, %v : f32
      scf.reduce.return %q : f32
    }
  }
  %e = scf.execute_region -> f32 {
    cf.cond_br %c, ^x, ^y
  ^x:
    scf.yield %p : f32
  ^y:
    scf.yield %w#0 : f32
  }
  %g = scf.index_switch %lb -> f32
  case 2 {
    scf.yield %e : f32
  }
  default {
    scf.yield %f : f32
  }
  return %g : f32
}
func.func private @blocks2()
func.func @forall(%t: tensor<16xf32>, %s: tensor<1xf32>) -> tensor<16xf32> {
  %r = scf.forall (%i) in (16) shared_outs(%o = %t) -> (tensor<16xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<16xf32>
    }
  }
  return %r : tensor<16xf32>
}
