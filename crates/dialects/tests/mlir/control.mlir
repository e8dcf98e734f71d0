// Branches, loops and conditions.
func.func @blocks(%c: i1, %i: i32) -> i32 {
  cf.cond_br %c, ^bb1(%i : i32), ^bb2
^bb1(%x: i32):
  cf.assert %c, "a message"
  cf.br ^bb3(%x, %c : i32, i1)
^bb2:
  cf.switch %i : i32, [ default: ^bb1(%i : i32), 42: ^bb3(%i, %c : i32, i1), -1: ^bb4 ]
^bb3(%y: i32, %z: i1):
  return %y : i32
^bb4:
  %r = func.call @blocks(%c, %i) : (i1, i32) -> i32
  return %r : i32
}
// -----
func.func @loops(%n: index, %i: i32, %f: f32, %c: i1) -> (i32, f32) {
  %0:2 = scf.for %iv = %n to %n step %n iter_args(%x = %i, %y = %f) -> (i32, f32) {
    scf.for %jv = %iv to %n step %n {
      func.call @g() : () -> ()
    }
    scf.yield %x, %y : i32, f32
  }
  scf.for %jv = %i to %i step %i : i32 {
  }
  %r = scf.if %c -> (i32) { scf.yield %i : i32 } else { scf.yield %0#0 : i32 }
  scf.if %c {
    %d = arith.constant 1 : i32
  } else {
    %d = arith.constant 1 : i32
  }
  scf.if %c { }
  %w:2 = scf.while (%z = %i, %g = %f) : (i32, f32) -> (i32, f32) {
    scf.condition(%c) %z, %g : i32, f32
  } do {
  ^bb0(%q: i32, %s: f32):
    scf.yield %q, %s : i32, f32
  }
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  }
  %e = scf.execute_region -> i32 {
    cf.br ^bb1
  ^bb1:
    scf.yield %i : i32
  }
  return %w#0, %w#1 : i32, f32
}
func.func private @g()
// -----
func.func @affine(%a: memref<256xf32>, %b: memref<4x8xf32>, %n: index, %f: f32) {
  affine.for %i = 0 to 10 step 2 {
    affine.for %j = %n to 100 {
      %0 = affine.load %b[%i + 3, %j * 2 + symbol(%n)] : memref<4x8xf32>
      affine.store %0, %a[%i floordiv 2 + (%j mod 4) * 3] : memref<256xf32>
    }
  }
  affine.for %k = max affine_map<(d0)[s0] -> (d0, s0)>(%n)[%n] to min affine_map<(d0) -> (d0, 4)>(%n) {
    affine.if affine_set<(d0)[s0] : (d0 - s0 >= 0, d0 == 0)>(%k)[%n] {
      %1 = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%k)[%n]
    } else {
      %2 = affine.min affine_map<(d0)[s0] -> (d0 + s0, 4)>(%k)[%n]
    }
  }
  %r = affine.for %i = -5 to affine_map<()[s0] -> (s0 + 1)>()[%n] iter_args(%s = %f) -> f32 {
    %v = affine.vector_load %a[%i] : memref<256xf32>, vector<4xf32>
    affine.vector_store %v, %a[%i + 4] : memref<256xf32>, vector<4xf32>
    affine.yield %s : f32
  }
  %x = affine.max affine_map<() -> (1, 2)>()
  %d:2 = affine.delinearize_index %n into (4, %x) : index, index
  return
}
