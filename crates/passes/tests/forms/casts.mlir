// Casts of tensors that say more.
func.func @made(%n: index, %t: tensor<?x?xf32>, %f: f32) -> (tensor<4x?xf32>, tensor<4x8xf32>) {
  %0 = tensor.empty(%n, %n) : tensor<?x?xf32>
  %1 = tensor.cast %0 : tensor<?x?xf32> to tensor<4x?xf32>
  %2 = tensor.extract_slice %t[%n, 1] [%n, 8] [1, 1] : tensor<?x?xf32> to tensor<?x8xf32>
  %3 = tensor.cast %2 : tensor<?x8xf32> to tensor<4x8xf32>
  return %1, %3 : tensor<4x?xf32>, tensor<4x8xf32>
}

// -----

func.func @joined(%t: tensor<2x3x4xf32>) -> tensor<?x4xf32> {
  %0 = tensor.cast %t : tensor<2x3x4xf32> to tensor<?x?x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<?x?x4xf32> into tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

func.func @padded(%t: tensor<4x4xf32>, %f: f32) -> tensor<?x?xf32> {
  %0 = tensor.cast %t : tensor<4x4xf32> to tensor<?x?xf32>
  %1 = tensor.pad %0 low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

func.func @padding_cast(%t: tensor<?x4xf32>, %f: f32, %n: index) -> tensor<8x4xf32> {
  %1 = tensor.pad %t low[%n, 0] high[%n, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<?x4xf32> to tensor<?x4xf32>
  %2 = tensor.cast %1 : tensor<?x4xf32> to tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

func.func @inserted(%t: tensor<2x2xf32>, %to: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %0 = tensor.cast %t : tensor<2x2xf32> to tensor<?x?xf32>
  %1 = tensor.insert_slice %0 into %to[0, 1] [%n, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

func.func @structured(%a: tensor<4x8xf32>, %b: tensor<8x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tensor.cast %a : tensor<4x8xf32> to tensor<?x?xf32>
  %1 = tensor.cast %b : tensor<8x?xf32> to tensor<?x?xf32>
  %2 = linalg.matmul ins(%0, %1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}
