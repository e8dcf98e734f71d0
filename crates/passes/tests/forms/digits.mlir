// Zeros in front, and digits that stay below 1, add nothing.
func.func @zeros(%a: index, %b: index, %n: index) -> index {
  %zero = arith.constant 0 : index
  %r = affine.linearize_index [%zero, %a, %zero, %b] by (7, 3, 1, %n) : index
  return %r : index
}

// -----

func.func @ones(%a: index) -> (index, index, index) {
  %r:3 = affine.delinearize_index %a into (6, 1, 4) : index, index, index
  return %r#0, %r#1, %r#2 : index, index, index
}

// -----

// All digits of an index, between others, are that index.
func.func @middle(%a: index, %b: index, %c: index) -> index {
  %s:3 = affine.delinearize_index %a into (3, 4, 5) : index, index, index
  %r = affine.linearize_index [%b, %s#0, %s#1, %s#2, %c] by (9, 3, 4, 5, 2) : index
  return %r : index
}

// -----

// Some of them are one digit of another split.
func.func @some(%a: index, %b: index) -> index {
  %s:4 = affine.delinearize_index %a into (3, 4, 5, 6) : index, index, index, index
  %r = affine.linearize_index [%s#0, %b, %s#2, %s#3] by (3, 8, 5, 6) : index
  return %r : index
}

// -----

func.func @twice(%a: index, %b: index) -> index {
  %s:5 = affine.delinearize_index %a into (2, 3, 4, 5, 6) : index, index, index, index, index
  %r = affine.linearize_index [%s#1, %s#2, %b, %s#3, %s#4] by (3, 4, 7, 5, 6) : index
  return %r : index
}

// -----

// A factor is split into those that are asked for.
func.func @factor(%a: index, %b: index) -> (index, index, index) {
  %j = affine.linearize_index disjoint [%a, %b] by (3, 24) : index
  %s:3 = affine.delinearize_index %j into (3, 4, 6) : index, index, index
  return %s#0, %s#1, %s#2 : index, index, index
}

// -----

func.func @bound_on_one_side(%a: index, %n: index) -> index {
  %s:3 = affine.delinearize_index %a into (%n, 5, 2) : index, index, index
  %r = affine.linearize_index [%s#0, %s#1, %s#2] by (5, 2) : index
  return %r : index
}

// -----

func.func @quotient(%a: index) -> (index, index) {
  %s:2 = affine.delinearize_index %a into (8) : index, index
  %t:2 = affine.delinearize_index %s#0 into (3) : index, index
  return %t#1, %s#1 : index, index
}

// -----

// The sum of all digits by their weights is the index.
func.func @sum(%a: index, %b: index) -> index {
  %s:3 = affine.delinearize_index %a into (3, 4, 5) : index, index, index
  %r = affine.apply affine_map<()[s0, s1, s2, s3] -> ((s0 * 20 + s1 * 5 + s2) floordiv 2 + s3)>()[%s#0, %s#1, %s#2, %b]
  return %r : index
}

// -----

func.func @constants() -> (index, index) {
  %c = arith.constant 23 : index
  %s:2 = affine.delinearize_index %c into (4, 7) : index, index
  return %s#0, %s#1 : index, index
}

// -----

// What lost its remainder has none, whatever the divisor.
func.func @remainders(%a: index, %b: index, %by: index) -> (index, index) {
  %r = affine.apply affine_map<()[s0, s1] -> ((s0 - s0 mod s1) mod s1)>()[%a, %by]
  %s = affine.apply affine_map<()[s0, s1, s2] -> ((s0 - (s0 - s1) mod s2 - s1) mod s2)>()[%a, %b, %by]
  return %r, %s : index, index
}
