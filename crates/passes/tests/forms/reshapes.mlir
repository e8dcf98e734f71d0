// Reshapes that change nothing, pairs that are one, and known elements.
func.func @nothing(%t: tensor<2x3xf32>, %u: tensor<f32>, %m: memref<2x3xf32>) -> (tensor<2x3xf32>, tensor<f32>, memref<2x3xf32>) {
  %0 = tensor.expand_shape %t [[0], [1]] output_shape [2, 3] : tensor<2x3xf32> into tensor<2x3xf32>
  %1 = tensor.collapse_shape %u [] : tensor<f32> into tensor<f32>
  %2 = memref.collapse_shape %m [[0], [1]] : memref<2x3xf32> into memref<2x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<f32>, memref<2x3xf32>
}

// -----

func.func @splits(%t: tensor<24xf32>, %m: memref<24xf32>) -> (tensor<2x3x4xf32>, memref<2x3x4xf32>) {
  %0 = tensor.expand_shape %t [[0, 1]] output_shape [6, 4] : tensor<24xf32> into tensor<6x4xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %2 = memref.expand_shape %m [[0, 1]] output_shape [6, 4] : memref<24xf32> into memref<6x4xf32>
  %3 = memref.expand_shape %2 [[0, 1], [2]] output_shape [2, 3, 4] : memref<6x4xf32> into memref<2x3x4xf32>
  return %1, %3 : tensor<2x3x4xf32>, memref<2x3x4xf32>
}

// -----

func.func @joined(%t: tensor<6x4xf32>) -> (tensor<24xf32>, tensor<2x12xf32>, tensor<2x3x4xf32>) {
  %0 = tensor.expand_shape %t [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1, 2]] : tensor<2x3x4xf32> into tensor<24xf32>
  %2 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<2x3x4xf32> into tensor<2x12xf32>
  %3 = tensor.collapse_shape %t [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  %4 = tensor.expand_shape %3 [[0, 1, 2]] output_shape [2, 3, 4] : tensor<24xf32> into tensor<2x3x4xf32>
  return %1, %2, %4 : tensor<24xf32>, tensor<2x12xf32>, tensor<2x3x4xf32>
}

// -----

func.func @known(%a: f32, %b: f32) -> (tensor<2x2xi32>, tensor<4xf32>, tensor<1x2xf32>, tensor<2xi32>) {
  %c = arith.constant dense<7> : tensor<4xi32>
  %d = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %e = tensor.from_elements %a, %b : tensor<2xf32>
  %0 = tensor.expand_shape %c [[0, 1]] output_shape [2, 2] : tensor<4xi32> into tensor<2x2xi32>
  %1 = tensor.collapse_shape %d [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  %2 = tensor.expand_shape %e [[0, 1]] output_shape [1, 2] : tensor<2xf32> into tensor<1x2xf32>
  %3 = tensor.extract_slice %c[1] [2] [1] : tensor<4xi32> to tensor<2xi32>
  return %0, %1, %2, %3 : tensor<2x2xi32>, tensor<4xf32>, tensor<1x2xf32>, tensor<2xi32>
}

// -----

func.func @bits(%t: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xui32>) {
  %0 = tensor.bitcast %t : tensor<4xf32> to tensor<4xi32>
  %1 = tensor.bitcast %0 : tensor<4xi32> to tensor<4xf32>
  %2 = tensor.bitcast %0 : tensor<4xi32> to tensor<4xui32>
  return %1, %2 : tensor<4xf32>, tensor<4xui32>
}
