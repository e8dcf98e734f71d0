#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @tensors(%t: tensor<?x8xf32>, %i: index, %v: f32, %shape: tensor<2xindex>, %idx: tensor<3x1xindex>) -> tensor<?x8xf32> {
  %a = tensor.empty(%i) : tensor<?x8xf32>
  %b = tensor.extract %t[%i, %i] : tensor<?x8xf32>
  %c = tensor.insert %b into %a[%i, %i] : tensor<?x8xf32>
  %d = tensor.extract_slice %c[0, %i] [4, 2] [1, 1] : tensor<?x8xf32> to tensor<4x2xf32>
  %e = tensor.insert_slice %d into %c[0, %i] [4, 2] [1, 1] : tensor<4x2xf32> into tensor<?x8xf32>
  %f = tensor.from_elements %v, %b : tensor<2xf32>
  %g = tensor.splat %v : tensor<4x2xf32>
  %h = tensor.generate %i {
  ^bb0(%x: index, %y: index):
    tensor.yield %v : f32
  } : tensor<?x8xf32>
  %j = tensor.pad %d low[1, 0] high[%i, 2] {
  ^bb0(%x: index, %y: index):
    tensor.yield %v : f32
  } : tensor<4x2xf32> to tensor<?x4xf32>
  %k = tensor.concat dim(0) %d, %g : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %l = tensor.cast %e : tensor<?x8xf32> to tensor<4x8xf32>
  %m = tensor.collapse_shape %l [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %n = tensor.expand_shape %m [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
  %o = tensor.reshape %m(%shape) : (tensor<32xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %p = tensor.dim %o, %i : tensor<?x?xf32>
  %q = tensor.rank %o : tensor<?x?xf32>
  %r = tensor.gather %l[%idx] gather_dims([0]) unique : (tensor<4x8xf32>, tensor<3x1xindex>) -> tensor<3x1x8xf32>
  %s = tensor.bitcast %l : tensor<4x8xf32> to tensor<4x8xi32>
  return %e : tensor<?x8xf32>
}
func.func @linalg(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>, %c: tensor<4x5xf32>, %v: f32, %img: tensor<1x6x6x3xf32>, %flt: tensor<3x3x3x2xf32>, %out: tensor<1x4x4x2xf32>) -> tensor<4x5xf32> {
  %0 = linalg.fill ins(%v : f32) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x5xf32>) outs(%0 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<4x5xf32>) outs(%c : tensor<4x5xf32>) {
  ^bb0(%x: f32, %y: f32):
    %k = linalg.index 0 : index
    %z = arith.mulf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<4x5xf32>
  %3 = linalg.add ins(%1, %2 : tensor<4x5xf32>, tensor<4x5xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = linalg.exp ins(%3 : tensor<4x5xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  %e = tensor.empty() : tensor<5x4xf32>
  %5 = linalg.transpose ins(%4 : tensor<4x5xf32>) outs(%e : tensor<5x4xf32>) permutation = [1, 0]
  %s = tensor.empty() : tensor<5xf32>
  %6 = linalg.reduce ins(%5 : tensor<5x4xf32>) outs(%s : tensor<5xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %z = arith.addf %in, %acc : f32
      linalg.yield %z : f32
    }
  %7 = linalg.broadcast ins(%6 : tensor<5xf32>) outs(%c : tensor<4x5xf32>) dimensions = [0]
  %8 = linalg.map ins(%7, %4 : tensor<4x5xf32>, tensor<4x5xf32>) outs(%c : tensor<4x5xf32>)
    (%in: f32, %in2: f32, %o: f32) {
      %z = arith.addf %in, %in2 : f32
      linalg.yield %z : f32
    }
  %9 = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%img, %flt : tensor<1x6x6x3xf32>, tensor<3x3x3x2xf32>) outs(%out : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %10 = linalg.softmax dimension(1) ins(%8 : tensor<4x5xf32>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %10 : tensor<4x5xf32>
}
func.func @on_buffers(%a: memref<4x8xf32>, %b: memref<8x5xf32>, %c: memref<4x5xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x5xf32>) outs(%c : memref<4x5xf32>)
  linalg.copy ins(%c : memref<4x5xf32>) outs(%c : memref<4x5xf32>)
  return
}
