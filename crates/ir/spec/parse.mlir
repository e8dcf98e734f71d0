"x.y"( : () -> () // error: expected a value, found `:`
// -----
"x.y"() : () -> i32, // error: expected the name of an operation in quotes, found `,`
// -----
func.func @f() // error: expected the name of an operation in quotes, found `func.func`
// -----
%0:2 = "x.y"() : () -> i32 // error: expected 2 result types, found 1
// -----
%0 = "x.y"() : () -> () // error: expected 1 result types, found 0
// -----
%0:0 = "x.y"() : () -> () // error: expected at least one result, found none
// -----
%0 = "x.y"() : () -> i32
%0 = "x.y"() : () -> i32 // error: expected a new name, found `%0`, which is defined already
// -----
"x.y"(%0) : (i32) -> () // error: expected a value that is defined, found `%0`
// -----
%0 = "x.y"() : () -> i32
"x.y"(%0) : (f32) -> () // error: expected `%0` to have type f32, found i32
// -----
"x.y"(%0) : (f32) -> ()
%0 = "x.y"() : () -> i32 // error: expected `%0` to have type f32, found i32
// -----
%0:2 = "x.y"() : () -> (i32, i32)
"x.y"(%0#2) : (i32) -> () // error: expected a result number below 2 for `%0`, found 2
// -----
%0 = "x.y"() : () -> i32
"x.y"(%0) : (i32, i32) -> () // error: expected 1 operand types, found 2
// -----
// Two errors at once; the second line is read although the first is wrong.
"x.y"() {a = } : () -> () // error: expected an attribute, found `}`
"x.y"() {a = 300 : i8} : () -> () // error: expected a number of type i8, found `300`
// -----
"x.y"() {a = -129 : i8, b = 255 : i8} : () -> () // error: expected a number of type i8, found `-129`
// -----
"x.y"() {a = -1 : ui8} : () -> () // error: expected a number of type ui8, found `-1`
// -----
"x.y"() {a = 128 : si8} : () -> () // error: expected a number of type si8, found `128`
// -----
"x.y"() {a = 1 : f32} : () -> () // error: expected a decimal point or 32 bits in hexadecimal, found `1`
// -----
"x.y"() {a = 0x1FFFFFFFF : f32} : () -> () // error: expected a decimal point or 32 bits in hexadecimal
// -----
"x.y"() {a = 1.0 : i32} : () -> () // error: expected a number of type i32, found `1.0`
// -----
"x.y"() {a = 1 : tensor<2xi32>} : () -> () // error: expected a number type, found tensor<2xi32>
// -----
"x.y"() {a = 1, a = 2} : () -> () // error: expected each name once, found `a` again
// -----
"x.y"() {a = "x\q"} : () -> () // error: two hexadecimal digits after `\`
// -----
"x.y"() {a = "x} : () -> () // error: expected an attribute, found a string without end
// -----
"x.y"() {a = #m} : () -> () // error: expected an alias that is defined, found `#m`
// -----
"x.y"() {a = !m} : () -> () // error: expected an alias that is defined, found `!m`
// -----
"x.y"() : () -> () loc(#loc7) // error: expected an alias that is defined, found `#loc7`
// -----
"x.y"() {a = dense<[1, 2, 3]> : tensor<2xi32>} : () -> () // error: expected elements of shape [2], found [3]
// -----
"x.y"() {a = dense<[[1], [2, 3]]> : tensor<2x2xi32>} : () -> () // error: expected 1 elements in this list, found 2
// -----
"x.y"() {a = dense<[1, [2]]> : tensor<2xi32>} : () -> () // error: expected an element, found `2`
// -----
"x.y"() {a = dense<1> : tensor<2xf32>} : () -> () // error: expected a decimal point
// -----
"x.y"() {a = dense<1.0> : tensor<2xi32>} : () -> () // error: expected an element of type i32, found `1.0`
// -----
"x.y"() {a = dense<1> : tensor<?xi32>} : () -> () // error: expected a tensor or vector with static extents, found tensor<?xi32>
// -----
"x.y"() {a = dense<"0x12"> : tensor<2xi32>} : () -> () // error: expected 8 bytes, found 1
// -----
"x.y"() {a = dense<"0x1"> : tensor<2xi32>} : () -> () // error: expected a string "0x..." of whole bytes
// -----
"x.y"() {a = tensor<2y3xf32>} : () -> () // error: expected `x` after an extent, found `y3xf32`
// -----
"x.y"() {a = tensor<99999999999999999999xf32>} : () -> () // error: expected an extent of at most 64 bits
// -----
"x.y"() {a = vector<?xf32>} : () -> () // error: expected static extents in a vector type
// -----
"x.y"() {a = i99999999} : () -> () // error: expected at most 16777215 bits, found `i99999999`
// -----
"x.y"() {a = #x<[}>} : () -> () // error: expected a closing bracket for `<`, found none
// -----
"x.y"() ({
  "x.br"()[^a] : () -> () // error: expected a block of this region, found `^a`
}) : () -> ()
// -----
"x.y"() ({
^a:
  "x.br"() : () -> ()
^a: // error: expected a new block, found `^a`, which is defined already
}) : () -> ()
// -----
"x.y"() ({
  "x.z"() : () -> ()
// error: expected `}` at the end of a region, found the end of the text
// -----
// An isolated operation does not see the values around it.
%0 = "x.y"() : () -> i32
"test.func"() <{sym_name = "f"}> ({
  "test.return"(%0) : (i32) -> () // error: expected a value that is defined, found `%0`
}) : () -> ()
// -----
} // error: expected the name of an operation in quotes, found `}`
// -----
é // error: expected the name of an operation in quotes, found `é`
// -----
{-#
  dialect_resources: {
    builtin: {
      a: "0x12" // error: expected "0x..." with at least four bytes
    }
  }
#-}
// -----
// Names may be used again in regions that end, and forward across regions.
"x.y"() ({
  %0 = "x.y"(%late) : (i32) -> i32
}, {
  %0 = "x.y"() : () -> i32
}) : () -> ()
%late = "x.y"() : () -> i32
// -----
"x.y"() {a = tensor<2xtensor<2xf32>>} : () -> () // error: expected a type that a tensor can hold, found tensor<2xf32>
// -----
"x.y"() {a = memref<2xtuple<>>} : () -> () // error: expected a type that a memref can hold, found tuple<>
// -----
"x.y"() {a = vector<2xvector<2xf32>>} : () -> () // error: expected a type that a vector can hold, found vector<2xf32>
// -----
"x.y"() {a = complex<index>} : () -> () // error: expected a type that a complex can hold, found index
// -----
"x.y"() {a = [tensor<2xcomplex<f32>>, memref<2xmemref<?xi1>>, tensor<3x!x.y>, vector<2xindex>]} : () -> ()
// -----
"x.y"() {a = array<i7: 1>} : () -> () // error: expected `i1` or numbers of whole bytes, found i7
// -----
"x.y"() {a = array<index: 1>} : () -> () // error: expected `i1` or numbers of whole bytes, found index
// -----
"x.y"() {a = affine_map<(i) -> (j)>} : () -> () // error: expected a dimension or symbol, found `j`
// -----
"x.y"() {a = affine_map<(i, i) -> (i)>} : () -> () // error: expected a new name, found `i` again
// -----
"x.y"() {a = affine_map<(i) (i)>} : () -> () // error: expected `->` before the results, found `(`
// -----
"x.y"() {a = affine_set<(i) : (i > 0)>} : () -> () // error: expected `>=`, `<=` or `==`, found `>`
// -----
"x.y"() {a = affine_map<(i) -> (i +)>} : () -> () // error: expected an affine expression, found `)`
// -----
"x.y"() {a = affine_map<(i) -> (i * 99999999999999999999)>} : () -> () // error: expected a decimal number of at most 63 bits
// -----
"x.y"() {a = 1, a = 2} : () -> () // error: expected each name once, found `a` again
// -----
"x.y"() {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s} : () -> ()
"x.y"() {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, q} : () -> () // error: found `q` again
"x.y"() {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, b} : () -> () // error: found `b` again
// -----
"x.y"() {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, c} : () -> () // error: found `c` again
// -----
"x.y"() {a = 9223372036854775807 : index, b = -9223372036854775808 : index} : () -> ()
// -----
"x.y"() {a = 9223372036854775808 : index} : () -> () // error: expected a number of type index, found `9223372036854775808`
// -----
// A name from around a region is taken inside as well.
%0 = "x.y"() ({
  "x.z"() : () -> ()
}) : () -> i32
"x.y"() ({
  %0 = "x.z"() : () -> i32 // error: expected a new name, found `%0`, which is defined already
}) : () -> ()
// -----
"x.y"() {a = 0x10000000000000000000000000000000000 : ui128} : () -> () // error: expected a number of type ui128, found `0x10000000000000000000000000000000000`
// -----
"x.y"() {a = dense<-1> : tensor<2xui256>} : () -> () // error: expected a number of type ui256, found `-1`
// -----
"x.y"() {a = 0x1FFFF8000000000000001 : f80} : () -> () // error: expected a decimal point or 80 bits in hexadecimal
