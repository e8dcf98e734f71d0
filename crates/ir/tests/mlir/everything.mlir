#m = affine_map<(d0) -> (d0 * 2)>
#s = affine_set<(d0) : (d0 >= 0)>
!t = tensor<2x2xf32>
module @top attributes {foo.bar = 1 : i8} {
  "t.a"() {a = 1 : i64, b = 1.0 : f32, c = 0x7FC00000 : f32, d = 0x7F800000 : f32, e = -1.5e-300 : f64, f = true, g, h = unit, i = [1, "s\0A\"\\\t\22é"], j = {x = 1, "y z" = 2}, k = dense<[[1,2],[3,4]]> : tensor<2x2xi32>, l = dense<1.0> : !t, m = dense<"0x00000001FFFFFFFF"> : tensor<2xi32>, n = array<i64: 1, -2>, o = array<i1: true,false>, p = array<f32: 1.0, 2.5>, q = #m, r = #s, s = @f::@g::@"h i", t = i32, u = () -> (), v = (i32) -> (i32, f32), w = tensor<?x2xf32, "enc">, x = 5 : index, y = -1 : si8, z = 255: ui8, aa = dense<> : tensor<0xf32>, bb = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>, cc = dense<[true,false]> : tensor<2xi1>, dd = sparse<[[0,0]],[1.0]> : tensor<2x2xf32>, ee = dense<"a"> : tensor<2x!unk.str>, ff = #unk.thing<a, [b, {c}], "x>">, gg = !unk.ty<a -> b>, hh = strided<[1,?], offset: ?>, ii = loc("a":1:2), jj = 1.0e10 : f32, kk = 3.14159265358979 : f64, ll = 0.1 : f16, mm = 1.0 : bf16, nn = 1.0 : f128, oo = 1.0 : f80, pp = 340282366920938463463374607431768211455 : i256, qq = array<i32>, rr = distinct[0]<unit>, ss = #unk<"foo">, tt = !unk<"foo">, uu= "x": i32} : () -> ()
  "t.t"() : () -> (tuple<>, tuple<i32, f32>, memref<2x?xf32>, memref<2xf32, #m, 1>, memref<2x2xf32, strided<[1,?], offset: 3>, "sp">, memref<*xf32, 2>, memref<f32>, vector<4x[8]xf32>, vector<f32>, tensor<*xi1>, tensor<f32>, complex<f32>, none, si4, ui1, tensor<0x2xf32>, f8E4M3FN, (i32) -> (), () -> i32, tensor<3x!unk.x>, memref<2x2xf32, affine_map<(d0, d1) -> (d1, d0)>>, tensor<2xf32, {a=1}>, vector<2xindex>, i1, i0)
  %0:2 = "t.m"() ({
   ^bb0(%a: i32, %b: f32):
     "cf.br"(%a)[^bb1] : (i32) -> ()
   ^bb1(%d: i32):
     %c = "t.c"(%d) : (i32) -> i32
     "cf.cond_br"(%f, %c)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1,1,0>}> : (i1, i32) -> ()
   ^bb2:
     "t.end"() : () -> ()
  }, {}) {x} : () -> (i32, i1)
  %f = "t.f"(%0#0, %0#1) : (i32, i1) -> i1
  "t.loc"() : () -> () loc(fused<"m">["a", callsite("b" at "c":1:2), unknown])
  func.func private @e(%a: i32 {x.y = 1}) -> i32
  func.func @f(%a: i32) -> i32 { %b = arith.addi %a, %a : i32 return %b : i32 }
}
