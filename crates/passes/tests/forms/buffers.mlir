// What takes a buffer takes it as it was before a cast.
func.func @exchange(%x: i32, %m: memref<6xi32>, %i: index) -> i32 {
  %c = memref.cast %m : memref<6xi32> to memref<?xi32>
  %r = memref.atomic_rmw assign %x, %c[%i] : (i32, memref<?xi32>) -> i32
  return %r : i32
}

// -----

func.func @bytes(%m: memref<64xi8>, %i: index) -> memref<4xi32> {
  %c = memref.cast %m : memref<64xi8> to memref<?xi8>
  %v = memref.view %c[%i][] : memref<?xi8> to memref<4xi32>
  return %v : memref<4xi32>
}

// -----

// Extents that are split off say what the type did not.
func.func @expand(%m: memref<6x5xf32>) -> memref<3x2x5xf32> {
  %three = arith.constant 3 : index
  %c = memref.cast %m : memref<6x5xf32> to memref<?x5xf32>
  %e = memref.expand_shape %c [[0, 1], [2]] output_shape [%three, 2, 5] : memref<?x5xf32> into memref<?x2x5xf32>
  %r = memref.cast %e : memref<?x2x5xf32> to memref<3x2x5xf32>
  return %r : memref<3x2x5xf32>
}

// -----

// A buffer put together from its parts is that buffer.
func.func @apart(%m: memref<5x?xi32>) -> memref<?x?xi32, strided<[?, ?], offset: ?>> {
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %m : memref<5x?xi32> -> memref<i32>, index, index, index, index, index
  %r = memref.reinterpret_cast %b to offset: [%o], sizes: [%s#0, %s#1], strides: [%t#0, %t#1] : memref<i32> to memref<?x?xi32, strided<[?, ?], offset: ?>>
  return %r : memref<?x?xi32, strided<[?, ?], offset: ?>>
}

// -----

// A part of a part that has all of it, where only a run knows how much that is.
func.func @all(%m: memref<?xi32, strided<[?], offset: ?>>, %n: index) -> memref<?xi32, strided<[?], offset: ?>> {
  %p = memref.subview %m[2] [%n] [1] : memref<?xi32, strided<[?], offset: ?>> to memref<?xi32, strided<[?], offset: ?>>
  %q = memref.subview %p[0] [%n] [1] : memref<?xi32, strided<[?], offset: ?>> to memref<?xi32, strided<[?], offset: ?>>
  return %q : memref<?xi32, strided<[?], offset: ?>>
}

// -----

// A dimension is dropped where a size is a constant operand.
func.func @dropped(%m: memref<4x9xi32>, %i: index, %n: index) -> memref<?xi32, strided<[1], offset: ?>> {
  %one = arith.constant 1 : index
  %p = memref.subview %m[%i, 0] [%one, %n] [1, 1] : memref<4x9xi32> to memref<?x?xi32, strided<[9, 1], offset: ?>>
  %q = memref.subview %p[0, 0] [1, %n] [1, 1] : memref<?x?xi32, strided<[9, 1], offset: ?>> to memref<?xi32, strided<[1], offset: ?>>
  return %q : memref<?xi32, strided<[1], offset: ?>>
}

// -----

// An extent stands in the buffer that held the shape; that may change later.
func.func @shape(%m: memref<*xi32>, %s: memref<2xindex>) -> index {
  %one = arith.constant 1 : index
  %r = memref.reshape %m(%s) : (memref<*xi32>, memref<2xindex>) -> memref<?x?xi32>
  memref.store %one, %s[%one] : memref<2xindex>
  %d = memref.dim %r, %one : memref<?x?xi32>
  return %d : index
}

// -----

memref.global "private" constant @list : memref<2x2xi32> = dense<[[3, 4], [5, 6]]>
func.func @element() -> i32 {
  %m = memref.get_global @list : memref<2x2xi32>
  %r = affine.load %m[1, 0] : memref<2x2xi32>
  return %r : i32
}

// -----

func.func @aligned(%m: memref<6xf32>) -> memref<6xf32> {
  %a = memref.assume_alignment %m, 32 : memref<6xf32>
  %b = memref.assume_alignment %a, 32 : memref<6xf32>
  return %b : memref<6xf32>
}

// -----

func.func @resized(%m: memref<3xf32>, %x: f32, %i: index) -> memref<3xf32> {
  %r = memref.realloc %m : memref<3xf32> to memref<9xf32>
  memref.store %x, %r[%i] : memref<9xf32>
  return %m : memref<3xf32>
}

// -----

func.func @scope(%x: i32) -> i32 {
  %r = memref.alloca_scope -> (i32) {
    %y = arith.addi %x, %x : i32
    memref.alloca_scope.return %y : i32
  }
  return %r : i32
}
