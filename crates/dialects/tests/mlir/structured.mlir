// Structured operations whose body stands for itself, or that have forms of their own.
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#turned = affine_map<(i, j, k) -> (k, i)>
#result = affine_map<(i, j, k) -> (i, j)>

func.func @bodies(%a: tensor<4xf32>, %b: tensor<4xf32>, %r: tensor<f32>, %n: tensor<4xi32>, %rn: tensor<i32>, %m: memref<4xf32>) {
  %0 = linalg.map { arith.addf } ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>)
  %1 = linalg.map { arith.mulf {fastmath = #arith.fastmath<fast>} } ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>) {tag = 2 : i8}
  %2 = linalg.map ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>)
    (%x: f32, %y: f32, %z: f32) {
      %sum = arith.addf %x, %y : f32
      %twice = arith.addf %sum, %sum : f32
      linalg.yield %twice : f32
    }
  %3 = linalg.map { arith.addi } ins(%n, %n : tensor<4xi32>, tensor<4xi32>) outs(%n : tensor<4xi32>)
  linalg.map { math.exp } ins(%m : memref<4xf32>) outs(%m : memref<4xf32>)
  // The operands are not in the order of the short form.
  %4 = linalg.map ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%a : tensor<4xf32>)
    (%x: f32, %y: f32, %z: f32) {
      %less = arith.subf %y, %x : f32
      linalg.yield %less : f32
    }
  %5 = linalg.reduce { arith.addf } ins(%a : tensor<4xf32>) outs(%r : tensor<f32>) dimensions = [0]
  %6 = linalg.reduce { arith.addi {overflowFlags = #arith.overflow<nsw>} } ins(%n : tensor<4xi32>) outs(%rn : tensor<i32>) dimensions = [0] {tag}
  %7 = linalg.reduce ins(%a : tensor<4xf32>) outs(%r : tensor<f32>) dimensions = [0]
    (%x: f32, %y: f32) {
      %sum = arith.addf %x, %y : f32
      linalg.yield %sum : f32
    }
  %8:2 = linalg.reduce ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%r, %r : tensor<f32>, tensor<f32>) dimensions = [0]
    (%x: f32, %y: f32, %z: f32, %w: f32) {
      %sum = arith.addf %x, %z : f32
      %more = arith.addf %y, %w : f32
      linalg.yield %sum, %more : f32, f32
    }
  return
}

func.func @forms(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %p: tensor<2x2x2x2xf32>, %q: tensor<?x?x?x2xf32>, %f: f32, %d: index, %i: tensor<4x4xi8>, %o: tensor<4x4xi32>, %v: vector<2xf32>, %tv: tensor<4xvector<2xf32>>, %seed: i32, %low: f64, %p2: tensor<4x4x2xf32>) {
  %0 = linalg.contract indexing_maps = [#left, #right, #result] ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.contract indexing_maps = [#left, #right, #result] {cast = #linalg.type_fn<cast_unsigned>, tag} ins(%i, %i : tensor<4x4xi8>, tensor<4x4xi8>) outs(%o : tensor<4x4xi32>) -> tensor<4x4xi32>
  %2 = linalg.matmul indexing_maps = [#turned, #right, #result] ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%i, %i : tensor<4x4xi8>, tensor<4x4xi8>) outs(%o : tensor<4x4xi32>) -> tensor<4x4xi32>
  %4 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = linalg.elementwise kind=#linalg.elementwise_kind<max_unsigned> ins(%o, %o : tensor<4x4xi32>, tensor<4x4xi32>) outs(%o : tensor<4x4xi32>) -> tensor<4x4xi32>
  %6 = linalg.elementwise kind=#linalg.elementwise_kind<exp> indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>] ins(%a : tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %p : tensor<4x4xf32> -> tensor<2x2x2x2xf32>
  %8 = linalg.pack %a padding_value(%f : f32) inner_dims_pos = [0, 1] inner_tiles = [%d, 2] into %q {tag} : tensor<4x4xf32> -> tensor<?x?x?x2xf32>
  %9 = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %a : tensor<2x2x2x2xf32> -> tensor<4x4xf32>
  %10 = linalg.unpack %q outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [%d, 2] into %a : tensor<?x?x?x2xf32> -> tensor<4x4xf32>
  %11 = linalg.softmax dimension(1) ins(%a : tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) -> tensor<4x4xf32>
  %12 = linalg.fill ins(%v : vector<2xf32>) outs(%tv : tensor<4xvector<2xf32>>) -> tensor<4xvector<2xf32>>
  %13 = linalg.fill_rng_2d ins(%low, %low, %seed : f64, f64, i32) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %14 = linalg.transpose ins(%a : tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) permutation = [1, 0]
  %15 = linalg.broadcast ins(%a : tensor<4x4xf32>) outs(%p2 : tensor<4x4x2xf32>) dimensions = [2]
  return
}

func.func @winograd(%f: tensor<2x3x3x5xf32>, %fo: tensor<6x6x5x2xf32>, %x: tensor<2x10x10x5xf32>, %xo: tensor<6x6x2x2x2x5xf32>, %t: tensor<6x6x2x2x2x2xf32>, %to: tensor<2x8x8x2xf32>) {
  %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<2x3x3x5xf32>) outs(%fo : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
  %1 = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<2x10x10x5xf32>) outs(%xo : tensor<6x6x2x2x2x5xf32>) -> tensor<6x6x2x2x2x5xf32>
  %2 = linalg.winograd_output_transform {tag} fmr(F_4_3) ins(%t : tensor<6x6x2x2x2x2xf32>) outs(%to : tensor<2x8x8x2xf32>) -> tensor<2x8x8x2xf32>
  return
}

// -----

// Copies, layouts, and places that tensors hold.
func.func @memory(%a: memref<100xi32>, %b: memref<100xi32, 2>, %t: memref<1xi32>, %n: index, %x: tensor<4x4x4xf32>, %at: tensor<1x2x3xindex>, %src: tensor<1x2x1x1x1xf32>, %dyn: memref<?x?xf32, strided<[?, 1], offset: ?>>, %shape: tensor<1xindex>, %ms: memref<1xindex>, %fl: memref<4xf32>) {
  affine.for %j = 0 to 10 {
    affine.dma_start %a[%j + 7], %b[%j * 2 + symbol(%n)], %t[0], %n : memref<100xi32>, memref<100xi32, 2>, memref<1xi32>
    affine.dma_start %a[%j], %b[%j], %t[%n], %n, %n, %n : memref<100xi32>, memref<100xi32, 2>, memref<1xi32>
    affine.dma_wait %t[%n], %n : memref<1xi32>
  }
  memref.dma_start %a[%n], %b[%n], %n, %t[%n] : memref<100xi32>, memref<100xi32, 2>, memref<1xi32>
  memref.dma_wait %t[%n], %n : memref<1xi32>
  %0 = tensor.gather %x[%at] gather_dims([0, 1, 2]) unique : (tensor<4x4x4xf32>, tensor<1x2x3xindex>) -> tensor<1x2x1x1x1xf32>
  %1 = tensor.scatter %src into %x[%at] scatter_dims([0, 1, 2]) unique {tag} : (tensor<1x2x1x1x1xf32>, tensor<4x4x4xf32>, tensor<1x2x3xindex>) -> tensor<4x4x4xf32>
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %dyn : memref<?x?xf32, strided<[?, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
  %2 = memref.reinterpret_cast %base to offset: [%offset], sizes: [%sizes#0, %sizes#1], strides: [%strides#0, %strides#1] : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %3 = memref.extract_aligned_pointer_as_index %dyn : memref<?x?xf32, strided<[?, 1], offset: ?>> -> index
  %4 = memref.memory_space_cast %b : memref<100xi32, 2> to memref<100xi32>
  %5 = memref.reshape %fl(%ms) : (memref<4xf32>, memref<1xindex>) -> memref<?xf32>
  %6 = tensor.reshape %x(%shape) : (tensor<4x4x4xf32>, tensor<1xindex>) -> tensor<?xf32>
  %7 = tensor.bitcast %x : tensor<4x4x4xf32> to tensor<4x4x4xi32>
  %8 = scf.execute_region -> i32 no_inline {
    %one = arith.constant 1 : i32
    scf.yield %one : i32
  }
  return
}
