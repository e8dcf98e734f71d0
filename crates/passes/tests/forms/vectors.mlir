// Vectors of one number, changes of shape that are one, bits read as other bits.
func.func @numbers(%x: f32) -> (vector<2x8xi32>, vector<4x2xf32>, vector<3x2xf32>, f32) {
  %c = arith.constant 7 : i32
  %0 = vector.broadcast %c : i32 to vector<8xi32>
  %1 = vector.broadcast %0 : vector<8xi32> to vector<2x8xi32>
  %2 = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : vector<8xf32>
  %3 = vector.shape_cast %2 : vector<8xf32> to vector<4x2xf32>
  %4 = vector.broadcast %x : f32 to vector<6xf32>
  %5 = vector.shape_cast %4 : vector<6xf32> to vector<3x2xf32>
  %6 = vector.extract %5[2, 1] : f32 from vector<3x2xf32>
  return %1, %3, %5, %6 : vector<2x8xi32>, vector<4x2xf32>, vector<3x2xf32>, f32
}

// -----

func.func @shapes(%v: vector<2x3x4xi32>) -> (vector<24xi32>, vector<4x2x3xi32>, vector<2x3x4xi32>) {
  %0 = vector.shape_cast %v : vector<2x3x4xi32> to vector<6x4xi32>
  %1 = vector.shape_cast %0 : vector<6x4xi32> to vector<24xi32>
  %2 = vector.transpose %v, [1, 2, 0] : vector<2x3x4xi32> to vector<3x4x2xi32>
  %3 = vector.transpose %2, [1, 2, 0] : vector<3x4x2xi32> to vector<4x2x3xi32>
  %4 = vector.transpose %3, [1, 2, 0] : vector<4x2x3xi32> to vector<2x3x4xi32>
  return %1, %3, %4 : vector<24xi32>, vector<4x2x3xi32>, vector<2x3x4xi32>
}

// -----

func.func @undefined() -> (vector<2x2xi8>, i8) {
  %0 = ub.poison : vector<4xi8>
  %1 = vector.shape_cast %0 : vector<4xi8> to vector<2x2xi8>
  %2 = vector.extract %1[0, 1] : i8 from vector<2x2xi8>
  return %1, %2 : vector<2x2xi8>, i8
}

// -----

func.func @bits(%n: i32, %a: index, %b: index) -> (i32, f32, f16, index, index) {
  %0 = arith.bitcast %n : i32 to f32
  %1 = arith.bitcast %0 : f32 to i32
  %2 = arith.bitcast %1 : i32 to f32
  %c = arith.constant 1.5 : bf16
  %3 = arith.bitcast %c : bf16 to f16
  %4 = arith.muli %a, %b overflow<nuw> : index
  %5 = arith.divui %4, %b : index
  %6 = arith.muli %b, %a overflow<nsw> : index
  %7 = arith.divsi %6, %b : index
  return %1, %2, %3, %5, %7 : i32, f32, f16, index, index
}
