// Buffers and tensors.
memref.global "private" constant @glob : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 16 : i64}
memref.global @open : memref<2x3xf32>
memref.global "private" @unset : memref<4xi32> = uninitialized
func.func @buffers(%a: memref<256xf32>, %n: index, %m: memref<4x?xf32>, %by: memref<1024xi8>, %f: f32) {
  %0 = memref.alloc(%n) {alignment = 64 : i64} : memref<4x?xf32>
  %1 = memref.alloca() : memref<4xf32>
  %2 = memref.alloc()[%n] : memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
  %3 = memref.load %m[%n, %n] {nontemporal = true} : memref<4x?xf32>
  memref.store %3, %m[%n, %n] : memref<4x?xf32>
  %s = memref.alloc() : memref<f32>
  memref.store %f, %s[] : memref<f32>
  %4 = memref.cast %m : memref<4x?xf32> to memref<?x?xf32>
  memref.copy %m, %4 : memref<4x?xf32> to memref<?x?xf32>
  %5 = memref.dim %m, %n : memref<4x?xf32>
  %6 = memref.rank %m : memref<4x?xf32>
  %7 = memref.subview %m[0, %n] [2, 3] [1, 1] : memref<4x?xf32> to memref<2x3xf32, strided<[?, 1], offset: ?>>
  %8 = memref.reinterpret_cast %a to offset: [0], sizes: [%n, 4], strides: [4, 1] : memref<256xf32> to memref<?x4xf32, strided<[4, 1]>>
  %9 = memref.view %by[%n][%n] : memref<1024xi8> to memref<?x4xf32>
  %10 = memref.get_global @glob : memref<2xf32>
  %11 = memref.expand_shape %a [[0, 1]] output_shape [16, 16] : memref<256xf32> into memref<16x16xf32>
  %12 = memref.collapse_shape %11 [[0, 1]] : memref<16x16xf32> into memref<256xf32>
  %13 = memref.transpose %11 (i, j) -> (j, i) : memref<16x16xf32> to memref<16x16xf32, strided<[1, 16]>>
  %14 = memref.atomic_rmw addf %f, %a[%n] : (f32, memref<256xf32>) -> f32
  %15 = memref.assume_alignment %a, 16 : memref<256xf32>
  %16 = memref.generic_atomic_rmw %a[%n] : memref<256xf32> {
    ^bb0(%cur: f32):
      memref.atomic_yield %cur : f32
  }
  memref.dealloc %0 : memref<4x?xf32>
  return
}
// -----
func.func @tensors(%t: tensor<4x?xf32>, %n: index, %f: f32) -> tensor<?xf32> {
  %0 = tensor.cast %t : tensor<4x?xf32> to tensor<?x?xf32>
  %1 = tensor.dim %t, %n : tensor<4x?xf32>
  %2 = tensor.empty(%n) : tensor<?x4xf32>
  %3 = tensor.extract %t[%n, %n] : tensor<4x?xf32>
  %4 = tensor.insert %f into %t[%n, %n] : tensor<4x?xf32>
  %5 = tensor.extract_slice %t[0, %n] [2, 3] [1, 1] : tensor<4x?xf32> to tensor<2x3xf32>
  %6 = tensor.insert_slice %5 into %t[0, %n] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x?xf32>
  %7 = tensor.from_elements %f, %f : tensor<2xf32>
  %8 = tensor.generate %n { ^bb0(%k: index): tensor.yield %f : f32 } : tensor<?xf32>
  %9 = tensor.collapse_shape %t [[0, 1]] : tensor<4x?xf32> into tensor<?xf32>
  %10 = tensor.expand_shape %7 [[0, 1]] output_shape [2, 1] : tensor<2xf32> into tensor<2x1xf32>
  %11 = tensor.pad %t low[0, %n] high[1, 2] {
  ^bb0(%k: index, %l: index):
    tensor.yield %f : f32
  } : tensor<4x?xf32> to tensor<5x?xf32>
  %12 = tensor.splat %f : tensor<8xf32>
  %13 = tensor.rank %t : tensor<4x?xf32>
  %14 = tensor.concat dim(0) %t, %t : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<8x?xf32>
  %15:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%7 : tensor<2xf32>) outs(%7, %7 : tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %ix = linalg.index 0 : index
    linalg.yield %x, %y : f32, f32
  } -> (tensor<2xf32>, tensor<2xf32>)
  return %8 : tensor<?xf32>
}

// -----

#map = affine_map<(d0) -> (d0)>
#even = affine_set<(d0) : (d0 mod 2 == 0)>
func.func @attributes_beside(%a: memref<4xf32>, %b: memref<4xf32>) {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"], library_call = "copy"} ins(%a : memref<4xf32>) outs(%b : memref<4xf32>) attrs = {foo = 1 : i32, bar} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x {more = 2 : i32} : f32
  }
  affine.for %i = 0 to 10 {
    affine.if #even(%i) {
      %x = affine.load %a[3 + %i floordiv 4 - (%i floordiv 2) * 2 + %i] : memref<4xf32>
    } {kept = "yes"}
  } {kept}
  return {also}
}
