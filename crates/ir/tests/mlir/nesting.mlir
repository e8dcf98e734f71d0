  "t.m"() ({
   ^bb0(%a: i32, %b: f32):
     %c = "t.c"() ({ ^bb0(%q: i1): %r = "t.d"() : () -> i32 }) : () -> i32
  }, { ^bb0(%x: i1): %c = "t.c"() : () -> i32 }) {x} : () -> ()
  "t.m"() ({
   ^bb0(%a: i32, %b: f32):
     %c = "t.c"() : () -> i32
  }) {x} : () -> ()
  func.func @f(%a: i32) -> i32 { %b = arith.addi %a, %a : i32 
   "t.if"() ({ ^bb0(%x: i32) : %c = "t.c"() : () -> i32 }, { ^bb0(%x: i32): %c = "t.c"() : () -> i32 }) : () -> ()
   "t.if"() ({ ^bb0(%x: i32) : %c = "t.c"() : () -> i32 }) : () -> ()
   return %b : i32 }
  func.func @g(%a: i32) -> i32 { %b = arith.addi %a, %a : i32 
   return %b : i32 }
  "t.m"() ({
   ^bb0(%a: i32, %b: f32):
     %c = "t.c"() : () -> i32
  }) {x} : () -> ()
