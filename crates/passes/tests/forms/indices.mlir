// Indices that are joined and split, and extremes of extremes.
func.func @extremes(%i: index, %j: index, %n: index) -> (index, index) {
  %0 = affine.min affine_map<(a)[s] -> (a + 4, s)>(%i)[%n]
  %1 = affine.min affine_map<(a, b) -> (a, b + 2)>(%0, %j)
  %2 = affine.max affine_map<(a) -> (a, 8)>(%i)
  %3 = affine.max affine_map<(a, b) -> (b, a, 4)>(%2, %j)
  return %1, %3 : index, index
}

// -----

func.func @cancel(%i: index, %j: index, %k: index, %n: index) -> (index, index, index, index) {
  %0 = affine.linearize_index disjoint [%i, %j, %k] by (%n, 4, 8) : index
  %1:3 = affine.delinearize_index %0 into (%n, 4, 8) : index, index, index
  %2:2 = affine.delinearize_index %k into (4, 8) : index, index
  %3 = affine.linearize_index disjoint [%2#0, %2#1] by (4, 8) : index
  return %1#0, %1#1, %1#2, %3 : index, index, index, index
}

// -----

func.func @single(%i: index) -> (index, index, index) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %0 = affine.linearize_index [%i] by (5) : index
  %1 = affine.linearize_index [%c2, %c3] by (4, 8) : index
  %2 = affine.delinearize_index %i into (9) : index
  return %0, %1, %2 : index, index, index
}

// -----

func.func @factors(%i: index, %j: index) -> (index, index, index) {
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %0 = affine.linearize_index [%i, %j] by (%c4, %c8) : index
  %1:2 = affine.delinearize_index %i into (%c4, %c8) : index, index
  return %0, %1#0, %1#1 : index, index, index
}
