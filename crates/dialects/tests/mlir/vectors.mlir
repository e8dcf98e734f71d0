// Vectors made, taken apart, and combined.
func.func @shapes(%a: vector<4xf32>, %b: vector<4xf32>, %m: vector<2x4xf32>, %s: f32, %i: index, %sc: vector<[8]xf32>, %buf: memref<2x4xf32>) {
  %0 = vector.broadcast %s : f32 to vector<2x4xf32>
  %1 = vector.broadcast %a {tag = 1 : i32} : vector<4xf32> to vector<2x4xf32>
  %2 = vector.shape_cast %m : vector<2x4xf32> to vector<8xf32>
  %3 = vector.bitcast %a : vector<4xf32> to vector<8xf16>
  %4 = vector.type_cast %buf : memref<2x4xf32> to memref<vector<2x4xf32>>
  %5 = vector.transpose %m, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %6 = vector.shuffle %a, %b [0, -1, 6] : vector<4xf32>, vector<4xf32>
  %7 = vector.shuffle %m, %m [3, 0, 1] : vector<2x4xf32>, vector<2x4xf32>
  %8 = vector.interleave %a, %b : vector<4xf32> -> vector<8xf32>
  %9, %10 = vector.deinterleave %a : vector<4xf32> -> vector<2xf32>
  %11 = vector.extract %m[1] : vector<4xf32> from vector<2x4xf32>
  %12 = vector.extract %m[%i, 2] : f32 from vector<2x4xf32>
  %13 = vector.extract %m[] : vector<2x4xf32> from vector<2x4xf32>
  %14 = vector.insert %a, %m [%i] : vector<4xf32> into vector<2x4xf32>
  %15 = vector.insert %s, %m [0, 3] : f32 into vector<2x4xf32>
  %16 = vector.scalable.extract %sc[4] : vector<4xf32> from vector<[8]xf32>
  %17 = vector.scalable.insert %a, %sc[0] : vector<4xf32> into vector<[8]xf32>
  %18 = vector.extract_strided_slice %m {offsets = [0, 2], sizes = [1, 2], strides = [1, 1]} : vector<2x4xf32> to vector<1x2xf32>
  %19 = vector.insert_strided_slice %a, %m {offsets = [1, 0], strides = [1]} : vector<4xf32> into vector<2x4xf32>
  %20:4 = vector.to_elements %a : vector<4xf32>
  %21 = vector.from_elements %20#3, %20#0, %s, %20#1 : vector<2x2xf32>
  %22 = vector.step : vector<[4]xindex>
  %23 = vector.vscale
  %c16 = arith.constant 16 : index
  %24 = arith.muli %c16, %23 : index
  %25 = ub.poison : vector<4xf32>
  %26 = ub.poison {tag} : index
  vector.print %a : vector<4xf32>
  vector.print %s : f32 punctuation <comma>
  vector.print str "said"
  vector.print punctuation <open>
  return
}

// -----

#row = affine_map<(i, j, k) -> (i, k)>
#column = affine_map<(i, j, k) -> (k, j)>
#place = affine_map<(i, j, k) -> (i, j)>

func.func @combined(%a: vector<4xf32>, %b: vector<4xf32>, %m: vector<4x4xf32>, %n: vector<4xi32>, %s: f32, %z: vector<f32>) {
  %0 = vector.reduction <add>, %a : vector<4xf32> into f32
  %1 = vector.reduction <maximumf>, %a, %s fastmath<nnan,ninf> {tag} : vector<4xf32> into f32
  %2 = vector.reduction <xor>, %n : vector<4xi32> into i32
  %3 = vector.multi_reduction <mul>, %m, %a {tag} [1] : vector<4x4xf32> to vector<4xf32>
  %4 = vector.multi_reduction <minnumf>, %m, %s [0, 1] : vector<4x4xf32> to f32
  %5 = vector.outerproduct %a, %b : vector<4xf32>, vector<4xf32>
  %6 = vector.outerproduct %a, %b, %m : vector<4xf32>, vector<4xf32>
  %7 = vector.outerproduct %a, %s, %b {kind = #vector.kind<mul>, tag} : vector<4xf32>, f32
  %8 = vector.fma %a, %b, %a : vector<4xf32>
  %9 = vector.contract {indexing_maps = [#row, #column, #place], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %m, %m, %m : vector<4x4xf32>, vector<4x4xf32> into vector<4x4xf32>
  %10 = vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<maxnumf>} %a, %b, %s {tag} : vector<4xf32>, vector<4xf32> into f32
  %11:2 = vector.scan <add>, %m, %a {inclusive = true, reduction_dim = 0 : i64} : vector<4x4xf32>, vector<4xf32>
  ub.unreachable
}

// -----

// Vectors and memory.
func.func @moved(%t: tensor<?x?xf32>, %b: memref<?x?xf32>, %vb: memref<?xvector<4xf32>>, %zero: memref<f32>, %i: index, %s: f32, %v: vector<4xf32>, %m: vector<4x4xf32>, %k: vector<4xi1>, %kk: vector<4x4xi1>, %p: vector<4xindex>, %pi: vector<4xi32>) -> tensor<?x?xf32> {
  %0 = vector.transfer_read %b[%i, %i], %s : memref<?x?xf32>, vector<4xf32>
  %1 = vector.transfer_read %t[%i, %i], %s, %kk {in_bounds = [true, false]} : tensor<?x?xf32>, vector<4x4xf32>
  %2 = vector.transfer_read %b[%i, %i], %s, %k {in_bounds = [true, true], permutation_map = affine_map<(i, j) -> (0, i)>, tag} : memref<?x?xf32>, vector<4x4xf32>
  %3 = vector.transfer_read %b[%i, %i], %s {permutation_map = affine_map<(i, j) -> (j, i)>} : memref<?x?xf32>, vector<4x[4]xf32>
  %4 = vector.transfer_read %vb[%i], %v : memref<?xvector<4xf32>>, vector<2x4xf32>
  %5 = vector.transfer_read %zero[], %s : memref<f32>, vector<f32>
  %6 = vector.transfer_write %v, %t[%i, %i] {in_bounds = [true]} : vector<4xf32>, tensor<?x?xf32>
  vector.transfer_write %m, %b[%i, %i], %kk {permutation_map = affine_map<(i, j) -> (j, i)>} : vector<4x4xf32>, memref<?x?xf32>
  %7 = vector.load %b[%i, %i] : memref<?x?xf32>, vector<4xf32>
  %8 = vector.load %b[%i, %i] {alignment = 16 : i64, nontemporal = true} : memref<?x?xf32>, vector<4xf32>
  vector.store %v, %b[%i, %i] : memref<?x?xf32>, vector<4xf32>
  %9 = vector.maskedload %b[%i, %i], %k, %v : memref<?x?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %b[%i, %i], %k, %v {alignment = 8 : i64} : memref<?x?xf32>, vector<4xi1>, vector<4xf32>
  %10 = vector.expandload %b[%i, %i], %k, %v : memref<?x?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.compressstore %b[%i, %i], %k, %v : memref<?x?xf32>, vector<4xi1>, vector<4xf32>
  %11 = vector.gather %b[%i, %i] [%p], %k, %v : memref<?x?xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %12 = vector.gather %t[%i, %i] [%pi], %k, %v {alignment = 4 : i64} : tensor<?x?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.scatter %b[%i, %i] [%p], %k, %v : memref<?x?xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32>
  %13 = vector.scatter %t[%i, %i] [%p], %k, %v : tensor<?x?xf32>, vector<4xindex>, vector<4xi1>, vector<4xf32> -> tensor<?x?xf32>
  %14 = vector.create_mask %i, %i : vector<4x[4]xi1>
  %15 = vector.constant_mask [2, 1] : vector<4x4xi1>
  %16 = vector.mask %k { vector.reduction <add>, %v, %s : vector<4xf32> into f32 } : vector<4xi1> -> f32
  %17 = vector.mask %k, %v { vector.transfer_read %b[%i, %i], %s {in_bounds = [true]} : memref<?x?xf32>, vector<4xf32> } {tag} : vector<4xi1> -> vector<4xf32>
  vector.mask %k { vector.transfer_write %v, %b[%i, %i] : vector<4xf32>, memref<?x?xf32> } : vector<4xi1>
  vector.mask %k { } : vector<4xi1>
  return %13 : tensor<?x?xf32>
}
