memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @buffers(%n: index, %i: index, %v: f32, %shape: memref<2xindex>) -> index {
  %a = memref.alloc(%n) {alignment = 64 : i64} : memref<?x8xf32>
  %b = memref.alloca() : memref<8x8xf32>
  memref.store %v, %a[%i, %i] : memref<?x8xf32>
  %x = memref.load %a[%i, %i] : memref<?x8xf32>
  %y = memref.atomic_rmw addf %x, %a[%i, %i] : (f32, memref<?x8xf32>) -> f32
  %z = memref.generic_atomic_rmw %a[%i, %i] : memref<?x8xf32> {
  ^bb0(%old: f32):
    %new = arith.addf %old, %y : f32
    memref.atomic_yield %new : f32
  }
  %c = memref.cast %b : memref<8x8xf32> to memref<?x8xf32>
  memref.copy %a, %c : memref<?x8xf32> to memref<?x8xf32>
  %d = memref.subview %b[%i, 0] [4, 4] [1, 2] : memref<8x8xf32> to memref<4x4xf32, strided<[8, 2], offset: ?>>
  %e = memref.collapse_shape %b [[0, 1]] : memref<8x8xf32> into memref<64xf32>
  %f = memref.expand_shape %e [[0, 1]] output_shape [8, 8] : memref<64xf32> into memref<8x8xf32>
  %g = memref.transpose %b (i, j) -> (j, i) : memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
  %h = memref.reshape %e(%shape) : (memref<64xf32>, memref<2xindex>) -> memref<?x?xf32>
  %k = memref.reinterpret_cast %b to offset: [0], sizes: [%n, 8], strides: [8, 1] : memref<8x8xf32> to memref<?x8xf32>
  %l = memref.get_global @table : memref<4xf32>
  %m, %o, %s:2, %t:2 = memref.extract_strided_metadata %b : memref<8x8xf32> -> memref<f32>, index, index, index, index, index
  %p = memref.dim %a, %i : memref<?x8xf32>
  %q = memref.extract_aligned_pointer_as_index %a : memref<?x8xf32> -> index
  memref.alloca_scope {
    memref.prefetch %a[%i, %i], read, locality<3>, data : memref<?x8xf32>
  }
  affine.for %u = 0 to min affine_map<()[s0] -> (s0, 100)>()[%n] step 2 {
    %0 = affine.load %b[%u mod 8, 3] : memref<8x8xf32>
    affine.store %0, %b[%u floordiv 16, %u mod 8] : memref<8x8xf32>
    affine.if affine_set<(d0)[s0] : (d0 - 5 >= 0, s0 - d0 - 1 == 0)>(%u)[%n] {
      %1 = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%u)[%n]
      %2 = affine.min affine_map<(d0) -> (d0, 7)>(%u)
      %3 = affine.max affine_map<(d0) -> (d0, 7)>(%u)
    }
  }
  %sum = affine.for %w = 0 to 8 iter_args(%acc = %v) -> f32 {
    %0 = arith.addf %acc, %acc : f32
    affine.yield %0 : f32
  }
  affine.parallel (%w, %r) = (0, 0) to (8, 8) step (2, 4) {
    %0 = affine.vector_load %b[%w, %r] : memref<8x8xf32>, vector<4xf32>
    affine.vector_store %0, %b[%w, %r] : memref<8x8xf32>, vector<4xf32>
  }
  %lin = affine.linearize_index [%i, %n] by (8, 8) : index
  %del:2 = affine.delinearize_index %lin into (8, 8) : index, index
  memref.dealloc %a : memref<?x8xf32>
  return %p : index
}
