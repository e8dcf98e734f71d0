func.func @f(%x: i32, %y: i32) -> i32 {
  %zero = "toy.zero"() : () -> i32
  %a = "toy.neg"(%x) : (i32) -> i32
  %b = "toy.neg"(%a) : (i32) -> i32
  %c = "toy.add"(%b, %zero) : (i32, i32) -> i32
  %d = "toy.neg"(%y) : (i32) -> i32
  %e = "toy.add"(%y, %d) : (i32, i32) -> i32
  %f = "toy.add"(%c, %e) : (i32, i32) -> i32
  %g = "toy.neg"(%f) : (i32) -> i32
  return %g : i32
}
