module @outer {
  module @n attributes {sym_visibility = "nested"} {
    func.func nested @f() { return }
  }
  module @p attributes {u.a, sym_visibility = "private"} {
    func.func private @g() { return }
  }
}
// -----
func.func @cases(%i: index, %m: memref<1xi32>, %v: i32) {
  %c0 = arith.constant 0 : index
  scf.index_switch %i
  case 2 {
    memref.store %v, %m[%c0] : memref<1xi32>
    scf.yield
  }
  case -3 {
    scf.yield
  }
  default {
    memref.store %v, %m[%c0] : memref<1xi32>
    scf.yield
  }
  return
}
// -----
"u.a"() ({
^bb0:
}) : () -> ()
"u.a"() ({
}) : () -> ()
"u.a"() ({
^bb0:
  "u.a"() ({
  ^bb0:
  }, {
  }) : () -> ()
}) {x = dense<> : tensor<0xi0>, z = i0} : () -> ()
// -----
"u.module"() ({
^bb0(%clock: i1):
  %0 = "u.register"(%1, %clock) : (i8, i1) -> i8
  %1 = "u.add"(%0, %0) : (i8, i8) -> i8
  "u.output"(%1) : (i8) -> ()
}) {sym_name = "m"} : () -> ()
// -----
func.func @defaults(%a: f32, %b: i32, %v: vector<4xf32>, %m: memref<4xf32>, %i: index) -> (f32, f32, i32, i32) {
  %0 = arith.addf %a, %a : f32
  %1 = arith.addf %a, %a fastmath<none> : f32
  %2 = arith.addi %b, %b : i32
  %3 = arith.addi %b, %b overflow<none> : i32
  %4 = arith.extf %a : f32 to f64
  %5 = arith.extf %a fastmath<none> : f32 to f64
  %6 = "arith.muli"(%b, %b) : (i32, i32) -> i32
  %7 = "math.sin"(%a) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
  %8 = ub.poison : i32
  %9 = vector.outerproduct %v, %v : vector<4xf32>, vector<4xf32>
  vector.print %v : vector<4xf32> punctuation <newline>
  %10 = memref.load %m[%i] {nontemporal = true} : memref<4xf32>
  %11 = arith.constant dense<-1> : vector<2xi4>
  %13 = arith.constant dense<"0x0F0708"> : vector<3xi4>
  %12 = arith.constant dense<[-1, 7, -8]> : vector<3xi4>
  return %0, %1, %2, %3 : f32, f32, i32, i32
}
