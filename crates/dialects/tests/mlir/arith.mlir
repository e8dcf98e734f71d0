// Numbers: flags, predicates, casts, constants of every kind.
func.func @integers(%a: i32, %b: i32, %i: index) -> (i32, i1) {
  %0 = arith.addi %a, %b overflow<nsw, nuw> : i32
  %1 = arith.subi %0, %b overflow<nuw> {tag = "x"} : i32
  %2 = arith.divsi %1, %a exact : i32
  %3 = arith.shrui %2, %a exact : i32
  %4 = arith.remui %3, %b : i32
  %5, %6 = arith.addui_extended %4, %b : i32, i1
  %7:2 = arith.mulsi_extended %5, %b : i32
  %8 = arith.cmpi ule, %7#0, %7#1 : i32
  %9 = arith.select %8, %a, %b : i32
  %10 = arith.trunci %9 overflow<nsw> : i32 to i8
  %11 = arith.extui %10 : i8 to i64
  %12 = arith.index_cast %11 : i64 to index
  %13 = arith.index_castui %i : index to i64
  %14 = arith.bitcast %a : i32 to f32
  return %9, %6 : i32, i1
}
// -----
func.func @floats(%x: f32, %v: vector<4xf32>, %m: vector<4xi1>) {
  %0 = arith.addf %x, %x fastmath<fast> : f32
  %1 = arith.mulf %v, %v fastmath<nnan,ninf> : vector<4xf32>
  %2 = arith.negf %0 : f32
  %3 = arith.cmpf olt, %x, %2 fastmath<nnan> : f32
  %4 = arith.cmpf false, %x, %2 : f32
  %5 = arith.select %m, %v, %1 : vector<4xi1>, vector<4xf32>
  %6 = arith.truncf %x to_nearest_even : f32 to f16
  %7 = arith.extf %6 : f16 to f64
  %8 = arith.sitofp %3 : i1 to f32
  %9 = math.exp %x fastmath<afn> : f32
  %10 = math.fma %x, %x, %9 : f32
  %11 = math.ctpop %3 : i1
  %12 = math.powf %v, %v : vector<4xf32>
  %13 = math.isnan %v : vector<4xf32>
  %14 = math.clampf %x to [%9, %10] : f32
  %s, %c = math.sincos %x : f32
  return
}
// -----
#map = affine_map<(d0) -> (d0 + 1)>
module @constants attributes {foo.bar = 1 : i32, foo.map = #map} {
  func.func @f() attributes {foo.map = #map, llvm.emit_c_interface} {
    %a = arith.constant 7 : i32
    %b = arith.constant -7 : i32
    %c = arith.constant 7 : i32
    %d = arith.constant true
    %e = arith.constant false
    %f = arith.constant 1.5 : f32
    %g = arith.constant 3 : index
    %h = arith.constant dense<[1, 2]> : tensor<2xi32>
    %i = arith.constant dense<0.0> : vector<2xf32>
    %j = arith.constant {foo} 0x7FC00000 : f32
    %k = func.constant @f : () -> ()
    func.call_indirect %k() : () -> ()
    %l = builtin.unrealized_conversion_cast %a : i32 to !foo.bar
    %m:2 = "foo.unknown"(%a, %l) <{p = 1 : i64}> {q = #map} : (i32, !foo.bar) -> (i32, index)
    return
  }
  func.func private @decl(i32 {foo.a}, f32) -> (i32 {foo.b = 1 : i64})
  func.func nested @two(i32) -> (f32, i1)
  func.func private @fn(%arg0: i32 {foo.x = [1, "a"]}) -> ((i32) -> i32)
  module @inner {
  }
}
