// Elements that are known, shapes that tensors hold, and parts put back.
func.func @listed(%i: index, %t: tensor<?xf32>) -> (tensor<2x2xi32>, tensor<3xf32>, index, f32) {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  %f = arith.constant 0.5 : f32
  %0 = tensor.from_elements %a, %b, %b, %a : tensor<2x2xi32>
  %1 = tensor.splat %f : tensor<3xf32>
  %n = arith.constant 9 : index
  %2 = tensor.generate %n {
  ^bb0(%at: index):
    %twice = arith.addi %at, %at : index
    tensor.yield %twice : index
  } : tensor<?xindex>
  %3 = tensor.extract %2[%i] : tensor<?xindex>
  %4 = tensor.extract %1[%i] : tensor<3xf32>
  return %0, %1, %3, %4 : tensor<2x2xi32>, tensor<3xf32>, index, f32
}

// -----

func.func @reshaped(%t: tensor<?x3xf32>, %s: tensor<2xindex>, %i: index) -> (tensor<?x3xf32>, index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %d = tensor.dim %t, %c0 : tensor<?x3xf32>
  %shape = tensor.from_elements %d, %c3 : tensor<2xindex>
  %0 = tensor.reshape %t(%shape) : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x3xf32>
  %1 = tensor.reshape %t(%s) : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %2 = tensor.dim %1, %i : tensor<?x?xf32>
  return %0, %2 : tensor<?x3xf32>, index
}

// -----

func.func @padded_twice(%t: tensor<?x4xf32>, %n: index, %v: f32) -> tensor<?x9xf32> {
  %0 = tensor.pad %t low[%n, 1] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x4xf32> to tensor<?x5xf32>
  %1 = tensor.pad %0 low[0, 3] high[%n, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<?x5xf32> to tensor<?x9xf32>
  return %1 : tensor<?x9xf32>
}

// -----

func.func @put_back(%t: tensor<?x8xf32>, %p: tensor<1x?xf32>, %i: index, %n: index) -> (tensor<?x8xf32>, tensor<1x?xf32>, tensor<?x8xf32>) {
  %0 = tensor.extract_slice %t[%i, 0] [1, %n] [1, 2] : tensor<?x8xf32> to tensor<?xf32>
  %1 = tensor.insert_slice %0 into %t[%i, 0] [1, %n] [1, 2] : tensor<?xf32> into tensor<?x8xf32>
  %2 = tensor.insert_slice %p into %t[0, %i] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<?x8xf32>
  %3 = tensor.extract_slice %2[0, %i] [1, %n] [1, 1] : tensor<?x8xf32> to tensor<1x?xf32>
  %4 = tensor.insert_slice %3 into %2[0, %i] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<?x8xf32>
  return %1, %3, %4 : tensor<?x8xf32>, tensor<1x?xf32>, tensor<?x8xf32>
}

// -----

func.func @joined_and_split(%t: tensor<?x6x2xf32>, %n: index) -> (tensor<?x3x2x2xf32>, tensor<?x6x2xf32>) {
  %0 = tensor.collapse_shape %t [[0, 1], [2]] : tensor<?x6x2xf32> into tensor<?x2xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2], [3]] output_shape [%n, 3, 2, 2] : tensor<?x2xf32> into tensor<?x3x2x2xf32>
  %2 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%n, 6, 2] : tensor<?x2xf32> into tensor<?x6x2xf32>
  return %1, %2 : tensor<?x3x2x2xf32>, tensor<?x6x2xf32>
}

// -----

func.func @filled(%v: f32, %t: tensor<2x2xf32>) -> (tensor<6x6xf32>, tensor<9x9xf32>, tensor<4x3xf32>) {
  %0 = tensor.empty() : tensor<4x5xf32>
  %1 = linalg.fill ins(%v : f32) outs(%0 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = tensor.pad %1 low[1, 0] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<4x5xf32> to tensor<6x6xf32>
  %3 = tensor.pad %t low[1, 1] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<2x2xf32> to tensor<5x3xf32>
  %4 = tensor.empty() : tensor<9x9xf32>
  %5 = linalg.fill ins(%v : f32) outs(%4 : tensor<9x9xf32>) -> tensor<9x9xf32>
  %6 = tensor.insert_slice %3 into %5[4, 2] [5, 3] [1, 1] : tensor<5x3xf32> into tensor<9x9xf32>
  %7 = tensor.empty() : tensor<3x4xf32>
  %8 = tensor.empty() : tensor<4x3xf32>
  %r = tensor.extract_slice %1[0, 0] [1, 3] [1, 1] : tensor<4x5xf32> to tensor<3xf32>
  %9 = linalg.broadcast ins(%r : tensor<3xf32>) outs(%7 : tensor<3x4xf32>) dimensions = [1]
  %10 = linalg.transpose ins(%9 : tensor<3x4xf32>) outs(%8 : tensor<4x3xf32>) permutation = [1, 0]
  return %2, %6, %10 : tensor<6x6xf32>, tensor<9x9xf32>, tensor<4x3xf32>
}
