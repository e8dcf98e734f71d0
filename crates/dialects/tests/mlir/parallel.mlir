// Parallel loops, switches, and what announces accesses.
func.func @p(%n: index, %f: f32, %c: i1, %t: tensor<2xf32>, %m: memref<256xf32>, %m2: memref<16x16xf32>, %tt: tensor<16x16xf32>, %i: i32, %tt2: tensor<2x16xf32>, %t16: tensor<16xf32>) -> i32 {
  scf.parallel (%p, %q) = (%n, %n) to (%n, %n) step (%n, %n) { "foo.x"() : () -> () }
  %pr:2 = scf.parallel (%p) = (%n) to (%n) step (%n) init (%f, %f) -> (f32, f32) { scf.reduce(%f, %f : f32, f32) { ^bb0(%x: f32, %y: f32): scf.reduce.return %x : f32 }, { ^bb0(%x: f32, %y: f32): scf.reduce.return %x : f32 } }
  %sw = scf.index_switch %n -> i32 case 1 { scf.yield %i : i32 } case 3 { scf.yield %i : i32 } default { scf.yield %i : i32 }
  scf.index_switch %n default { }
  scf.forall (%x, %y) in (%n, 4) { }
  scf.forall (%x, %y) = (0, 1) to (%n, 4) step (1, %n) { "foo.x"() : () -> () } {mapping = [#gpu.thread<x>, #gpu.thread<y>]}
  %fa = scf.forall (%x) = (0) to (%n) step (2) shared_outs(%o = %t) -> tensor<2xf32> { scf.forall.in_parallel { tensor.parallel_insert_slice %t into %o[%x][2][1] : tensor<2xf32> into tensor<2xf32> } }
  affine.parallel (%p, %q) = (0, 0) to (10, symbol(%n)) step (1, 2) { }
  affine.parallel (%p) = (max(0, %n)) to (min(10, %n + 1)) { }
  %ap:2 = affine.parallel (%k) = (0) to (10) reduce ("addf", "mulf") -> (f32, f32) { affine.yield %f, %f : f32, f32 }
  affine.prefetch %m[%n + 1], read, locality<3>, data : memref<256xf32>
  %ll = affine.linearize_index disjoint [%n, %n] by (4, %n) : index
  %l2 = affine.linearize_index [%n, %n] by (5) : index
  memref.prefetch %m[%n], write, locality<1>, instr : memref<256xf32>
  memref.alloca_scope { memref.alloca_scope.return }
  %as = memref.alloca_scope -> i32 { memref.alloca_scope.return %i : i32 }
  %re = memref.realloc %m : memref<256xf32> to memref<300xf32>
  %re2 = memref.realloc %m(%n) : memref<256xf32> to memref<?xf32>
  %d:2 = memref.distinct_objects %m, %m : memref<256xf32>, memref<256xf32>
  return %i : i32
}
