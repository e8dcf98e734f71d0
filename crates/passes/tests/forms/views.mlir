// Views of buffers.
func.func @numbers(%m: memref<8x16xf32>, %n: index) -> (memref<?x?xf32, strided<[16, 1], offset: ?>>, memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %0 = memref.subview %m[%c1, %n] [%c4, %n] [1, 1] : memref<8x16xf32> to memref<?x?xf32, strided<[16, 1], offset: ?>>
  %1 = memref.subview %m[%c1, %c2] [%c4, %c2] [%c2, %n] : memref<8x16xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %0, %1 : memref<?x?xf32, strided<[16, 1], offset: ?>>, memref<?x?xf32, strided<[?, ?], offset: ?>>
}

// -----

func.func @fewer(%m: memref<8x16x4xf32>, %n: index) -> memref<?x4xf32, strided<[64, 1], offset: ?>> {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %0 = memref.subview %m[%n, %c3, 0] [%c5, 1, 4] [1, 1, 1] : memref<8x16x4xf32> to memref<?x4xf32, strided<[64, 1], offset: ?>>
  return %0 : memref<?x4xf32, strided<[64, 1], offset: ?>>
}

// -----

func.func @whole(%m: memref<8x16xf32>, %r: memref<2x3xf32>) -> (memref<8x16xf32>, memref<2x3xf32>) {
  %0 = memref.subview %m[0, 0] [8, 16] [1, 1] : memref<8x16xf32> to memref<8x16xf32>
  %1 = memref.reinterpret_cast %r to offset: [0], sizes: [2, 3], strides: [3, 1] : memref<2x3xf32> to memref<2x3xf32>
  return %0, %1 : memref<8x16xf32>, memref<2x3xf32>
}

// -----

func.func @reinterpreted(%m: memref<?xf32>, %n: index) -> (memref<?xf32, strided<[1], offset: ?>>, memref<4x?xf32, strided<[?, 2], offset: 1>>) {
  %c2 = arith.constant 2 : index
  %0 = memref.reinterpret_cast %m to offset: [0], sizes: [%n], strides: [%c2] : memref<?xf32> to memref<?xf32, strided<[?]>>
  %1 = memref.reinterpret_cast %0 to offset: [%n], sizes: [%n], strides: [1] : memref<?xf32, strided<[?]>> to memref<?xf32, strided<[1], offset: ?>>
  %2 = memref.cast %m : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  %3 = memref.reinterpret_cast %2 to offset: [1], sizes: [4, %n], strides: [%n, 2] : memref<?xf32, strided<[?], offset: ?>> to memref<4x?xf32, strided<[?, 2], offset: 1>>
  return %1, %3 : memref<?xf32, strided<[1], offset: ?>>, memref<4x?xf32, strided<[?, 2], offset: 1>>
}

// -----

func.func @turned(%m: memref<2x3x4xf32>) -> (memref<2x3x4xf32>, memref<4x2x3xf32, strided<[1, 12, 4]>>) {
  %0 = memref.transpose %m (i, j, k) -> (i, j, k) : memref<2x3x4xf32> to memref<2x3x4xf32>
  %1 = memref.transpose %m (i, j, k) -> (k, j, i) : memref<2x3x4xf32> to memref<4x3x2xf32, strided<[1, 4, 12]>>
  %2 = memref.transpose %1 (i, j, k) -> (i, k, j) : memref<4x3x2xf32, strided<[1, 4, 12]>> to memref<4x2x3xf32, strided<[1, 12, 4]>>
  return %0, %2 : memref<2x3x4xf32>, memref<4x2x3xf32, strided<[1, 12, 4]>>
}

// -----

func.func @spaces(%m: memref<4xf32, 1>) -> (memref<4xf32, 3>, memref<4xf32, 1>) {
  %0 = memref.memory_space_cast %m : memref<4xf32, 1> to memref<4xf32, 2>
  %1 = memref.memory_space_cast %0 : memref<4xf32, 2> to memref<4xf32, 3>
  %2 = memref.memory_space_cast %m : memref<4xf32, 1> to memref<4xf32, 1>
  return %1, %2 : memref<4xf32, 3>, memref<4xf32, 1>
}

// -----

func.func @copied(%a: memref<4xf32>, %b: memref<?xf32>, %e: memref<0xf32>, %d: memref<0xf32>) {
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
  memref.copy %0, %b : memref<?xf32> to memref<?xf32>
  memref.copy %e, %d : memref<0xf32> to memref<0xf32>
  return
}

// -----

// A part outside of the buffer stays as it is.
func.func @outside(%m: memref<10xf32>) -> memref<?xf32, strided<[1], offset: 2>> {
  %c11 = arith.constant 11 : index
  %0 = memref.subview %m[2] [%c11] [1] : memref<10xf32> to memref<?xf32, strided<[1], offset: 2>>
  return %0 : memref<?xf32, strided<[1], offset: 2>>
}

// -----

// A new buffer has no operands.
func.func @fresh(%n: index) -> (memref<4x8xf32, strided<[?, 1], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %0 = memref.alloc() : memref<32xf32>
  %1 = memref.reinterpret_cast %0 to offset: [%c0], sizes: [4, 8], strides: [%c8, 1] : memref<32xf32> to memref<4x8xf32, strided<[?, 1], offset: ?>>
  return %1 : memref<4x8xf32, strided<[?, 1], offset: ?>>
}
