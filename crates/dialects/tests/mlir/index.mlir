func.func @numbers(%a: index, %b: index, %i: i32) -> index {
  %c = index.constant 42
  %t = index.bool.constant true
  %u = index.bool.constant false
  %d = index.constant -1
  %0 = index.add %a, %b
  %1 = index.sub %0, %b
  %2 = index.mul %1, %c
  %3 = index.divs %2, %d
  %4 = index.divu %3, %b
  %5 = index.ceildivs %4, %b
  %6 = index.ceildivu %5, %b
  %7 = index.floordivs %6, %b
  %8 = index.rems %7, %b {note = "x"}
  %9 = index.remu %8, %b
  %10 = index.maxs %9, %b
  %11 = index.maxu %10, %b
  %12 = index.mins %11, %b
  %13 = index.minu %12, %b
  %14 = index.shl %13, %b
  %15 = index.shrs %14, %b
  %16 = index.shru %15, %b
  %17 = index.and %16, %b
  %18 = index.or %17, %b
  %19 = index.xor %18, %b
  %20 = index.casts %19 : index to i32
  %21 = index.castu %20 : i32 to index
  %22 = index.cmp slt(%21, %b)
  %23 = index.cmp uge(%21, %b) {note}
  %24 = index.sizeof
  %25 = arith.select %22, %24, %21 : index
  return %25 : index
}
// -----
func.func @parts(%r: f32, %i: f32, %n: i32) -> (f32, i1, complex<f64>) {
  %z = complex.create %r, %i : complex<f32>
  %c = complex.constant [1.0 : f64, -0.5 : f64] : complex<f64>
  %0 = complex.add %z, %z : complex<f32>
  %1 = complex.sub %0, %z fastmath<fast> : complex<f32>
  %2 = complex.mul %1, %z : complex<f32>
  %3 = complex.div %2, %z fastmath<nnan,contract> : complex<f32>
  %4 = complex.pow %3, %z : complex<f32>
  %5 = complex.atan2 %4, %z : complex<f32>
  %6 = complex.powi %5, %n : complex<f32>, i32
  %7 = complex.powi %6, %n fastmath<none> : complex<f32>, i32
  %8 = complex.cos %7 : complex<f32>
  %9 = complex.exp %8 fastmath<nnan> {note} : complex<f32>
  %10 = complex.expm1 %9 : complex<f32>
  %11 = complex.log %10 : complex<f32>
  %12 = complex.log1p %11 : complex<f32>
  %13 = complex.neg %12 : complex<f32>
  %14 = complex.rsqrt %13 : complex<f32>
  %15 = complex.sign %14 : complex<f32>
  %16 = complex.sin %15 : complex<f32>
  %17 = complex.sqrt %16 : complex<f32>
  %18 = complex.tan %17 : complex<f32>
  %19 = complex.tanh %18 : complex<f32>
  %20 = complex.conj %19 : complex<f32>
  %21 = complex.abs %20 : complex<f32>
  %22 = complex.angle %20 : complex<f32>
  %23 = complex.re %20 : complex<f32>
  %24 = complex.im %20 : complex<f32>
  %25 = complex.eq %20, %z : complex<f32>
  %26 = complex.neq %20, %z : complex<f32>
  %27 = complex.bitcast %20 : complex<f32> to i64
  %28 = arith.addf %21, %24 : f32
  return %28, %26, %c : f32, i1, complex<f64>
}
// -----
func.func @between(%n: index, %m: memref<?xf32>, %t: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %0 = bufferization.alloc_tensor(%n) : tensor<?xf32>
  %1 = bufferization.alloc_tensor() copy(%t) : tensor<?xf32>
  %2 = bufferization.alloc_tensor(%n) size_hint=%n {memory_space = 1 : i64} : tensor<?xf32>
  %3 = bufferization.clone %m : memref<?xf32> to memref<?xf32>
  %4 = bufferization.to_tensor %m : memref<?xf32> to tensor<?xf32>
  %5 = bufferization.to_tensor %m restrict writable : memref<?xf32> to tensor<?xf32>
  %6 = bufferization.to_buffer %t : tensor<?xf32> to memref<?xf32>
  %7 = bufferization.to_buffer %t read_only : tensor<?xf32> to memref<?xf32>
  %8 = bufferization.materialize_in_destination %0 in %1 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  bufferization.materialize_in_destination %4 in restrict writable %m : (tensor<?xf32>, memref<?xf32>) -> ()
  bufferization.dealloc_tensor %2 : tensor<?xf32>
  %9:2 = bufferization.dealloc (%3, %6 : memref<?xf32>, memref<?xf32>) if (%c, %c) retain (%m, %7 : memref<?xf32>, memref<?xf32>)
  bufferization.dealloc
  %10 = bufferization.dealloc retain (%m : memref<?xf32>) {note}
  return %8 : tensor<?xf32>
}
