// Structured operations that undo each other, or have nothing to do.
func.func @tiles(%t: tensor<8x8xf32>, %p: tensor<4x4x2x2xf32>) -> (tensor<8x8xf32>, tensor<4x4x2x2xf32>) {
  %e = tensor.empty() : tensor<4x4x2x2xf32>
  %f = tensor.empty() : tensor<8x8xf32>
  %0 = linalg.pack %t inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<8x8xf32> -> tensor<4x4x2x2xf32>
  %1 = linalg.unpack %0 inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %f : tensor<4x4x2x2xf32> -> tensor<8x8xf32>
  %2 = linalg.unpack %p outer_dims_perm = [0, 1] inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %f : tensor<4x4x2x2xf32> -> tensor<8x8xf32>
  %3 = linalg.pack %2 inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<8x8xf32> -> tensor<4x4x2x2xf32>
  return %1, %3 : tensor<8x8xf32>, tensor<4x4x2x2xf32>
}

// -----

func.func @filled(%v: f32, %t: tensor<8x8xf32>, %p: tensor<4x4x2x2xf32>) -> (tensor<4x4x2x2xf32>, tensor<4x4x2x2xf32>) {
  %c = arith.constant dense<3.0> : tensor<8x8xf32>
  %0 = linalg.fill ins(%v : f32) outs(%t : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.pack %0 inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %p : tensor<8x8xf32> -> tensor<4x4x2x2xf32>
  %2 = linalg.pack %c inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %p : tensor<8x8xf32> -> tensor<4x4x2x2xf32>
  return %1, %2 : tensor<4x4x2x2xf32>, tensor<4x4x2x2xf32>
}

// -----

func.func @nothing(%a: memref<0x4xf32>, %b: memref<0x4xf32>, %c: memref<4xf32>, %v: f32) {
  linalg.fill ins(%v : f32) outs(%a : memref<0x4xf32>)
  linalg.copy ins(%a : memref<0x4xf32>) outs(%b : memref<0x4xf32>)
  linalg.copy ins(%c : memref<4xf32>) outs(%c : memref<4xf32>)
  return
}

// -----

func.func @coordinate(%t: tensor<1x4xindex>) -> tensor<1x4xindex> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%t : tensor<1x4xindex>) {
  ^bb0(%x: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    linalg.yield %s : index
  } -> tensor<1x4xindex>
  return %0 : tensor<1x4xindex>
}

// -----

func.func @repeated(%t: tensor<2xf32>, %a: tensor<2x3xf32>, %b: tensor<4x2x3xf32>) -> tensor<4x2x3xf32> {
  %0 = linalg.broadcast ins(%t : tensor<2xf32>) outs(%a : tensor<2x3xf32>) dimensions = [1]
  %1 = linalg.broadcast ins(%0 : tensor<2x3xf32>) outs(%b : tensor<4x2x3xf32>) dimensions = [0]
  return %1 : tensor<4x2x3xf32>
}

// -----

func.func @unused(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.softmax dimension(1) ins(%a : tensor<4x4xf32>) outs(%b : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a : tensor<4x4xf32>
}
