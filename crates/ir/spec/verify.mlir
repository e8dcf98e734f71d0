// Right.
"test.func"() <{sym_name = "f"}> ({
^bb0(%x: tensor<?x3xf32, ["N", ""]>):
  %y = "test.unary"(%x) <{axes = array<i64: 1, 2>, scale = 2.0 : f32}> {extra} : (tensor<?x3xf32, ["N", ""]>) -> tensor<?x3xf32>
  "test.return"(%y) : (tensor<?x3xf32>) -> ()
}) : () -> ()
// -----
"test.unary"() : () -> tensor<2xf32> // error: `test.unary`: expected 1 to 2 operands, found 0
// -----
%0 = "x.y"() : () -> tensor<2xf32>
"test.unary"(%0) : (tensor<2xf32>) -> () // error: `test.unary`: expected 1 result, found 0
// -----
%0 = "x.y"() : () -> tensor<2xf32>
"test.same"(%0) : (tensor<2xf32>) -> tensor<2xf32> // error: expected 2 operands, found 1
// -----
"test.segments"() : () -> () // error: expected at least 1 operand, found 0
// -----
%0 = "x.y"() : () -> i32
"test.segments"(%0, %0, %0) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i32, i32, i32) -> ()
"test.segments"(%0, %0, %0) <{operandSegmentSizes = array<i32: 1, 2, 0>}> : (i32, i32, i32) -> ()
"test.segments"(%0, %0, %0) <{operandSegmentSizes = array<i32: 0, 2, 1>}> : (i32, i32, i32) -> () // error: expected `operandSegmentSizes` with 3 entries that add up to 3, found [0, 2, 1]
"test.segments"(%0, %0, %0) <{operandSegmentSizes = array<i32: 1, 2, 1>}> : (i32, i32, i32) -> () // error: add up to 3
"test.segments"(%0, %0, %0) <{operandSegmentSizes = array<i32: 1, 2>}> : (i32, i32, i32) -> () // error: with 3 entries
"test.segments"(%0, %0, %0) <{operandSegmentSizes = array<i32: 1, 0, 2>}> : (i32, i32, i32) -> () // error: with 3 entries
// -----
"test.func"() ({}) : () -> () // error: expected a text as attribute `sym_name`, found none
// -----
"test.func"() <{sym_name = 1 : i32}> ({}) : () -> () // error: expected a text as attribute `sym_name`, found 1 : i32
// -----
"test.func"() <{kind = "b", sym_name = "f"}> ({}) : () -> ()
"test.func"() <{kind = "c", sym_name = "g"}> ({}) : () -> () // error: expected one of ["a", "b"] as attribute `kind`, found "c"
// -----
%0 = "x.y"() : () -> tensor<2xf32>
%1 = "test.unary"(%0) <{axes = [1, 2]}> : (tensor<2xf32>) -> tensor<2xf32>
%2 = "test.unary"(%0) <{axes = [1, "a"]}> : (tensor<2xf32>) -> tensor<2xf32> // error: expected a list of integers as attribute `axes`, found [1, "a"]
%3 = "test.unary"(%0) <{scale = "a"}> : (tensor<2xf32>) -> tensor<2xf32> // error: expected a number as attribute `scale`, found "a"
// -----
%0 = "x.y"() : () -> tensor<2xf32>
%1 = "test.unary"(%0) {bad} : (tensor<2xf32>) -> tensor<2xf32> // error: expected no `bad`, found it
// -----
%0 = "x.y"() : () -> i32
%1 = "test.unary"(%0) : (i32) -> i32 // error: `test.unary`: expected a tensor
// -----
%0 = "x.y"() : () -> tensor<2x?xf32>
%1 = "test.unary"(%0) : (tensor<2x?xf32>) -> tensor<?x5xf32>
%2 = "test.unary"(%0) : (tensor<2x?xf32>) -> tensor<*xf32>
%3 = "test.unary"(%0) : (tensor<2x?xf32>) -> tensor<3x5xf32> // error: expected result 0 of type tensor<2x?xf32>, found tensor<3x5xf32>
%4 = "test.unary"(%0) : (tensor<2x?xf32>) -> tensor<2xf32> // error: expected result 0 of type tensor<2x?xf32>, found tensor<2xf32>
%5 = "test.unary"(%0) : (tensor<2x?xf32>) -> tensor<2x?xf64> // error: found tensor<2x?xf64>
// -----
%0 = "x.y"() : () -> tensor<2xf32>
%1 = "x.y"() : () -> tensor<?xf32>
%2 = "x.y"() : () -> i32
%3 = "test.same"(%0, %1) : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
%4 = "test.same"(%0, %2) : (tensor<2xf32>, i32) -> tensor<2xf32> // error: expected one type, found tensor<2xf32> and i32
// -----
"test.func"() <{sym_name = "f"}> : () -> () // error: expected 1 region, found 0
// -----
"test.blocks"() ({"test.return"() : () -> ()}) : () -> () // error: expected 2 regions, found 1
// -----
"test.blocks"() ({ // error: expected one block, found 2
  "x.br"()[^a] : () -> ()
^a:
  "test.return"() : () -> ()
}, {}) : () -> ()
// -----
"test.func"() <{sym_name = "f"}> ({ // error: expected a terminator at the end of each block, found an empty block
^bb0:
}) : () -> ()
// -----
"test.func"() <{sym_name = "f"}> ({ // error: expected a terminator at the end of each block, found `test.blocks`
  "test.blocks"() ({}, {}) : () -> ()
}) : () -> ()
// -----
// An operation that is not registered may end a block.
"test.func"() <{sym_name = "f"}> ({
  "x.y"() : () -> ()
}) : () -> ()
// -----
"test.func"() <{sym_name = "f"}> ({
  "test.return"() : () -> () // error: `test.return`: expected a terminator at the end of its block only
  "test.return"() : () -> ()
}) : () -> ()
// -----
"test.func"() <{sym_name = "f"}> ({
  "x.br"()[^a] : () -> () // error: expected an operation with successors at the end of its block
  "test.return"() : () -> ()
^a:
  "test.return"() : () -> ()
}) : () -> ()
// -----
"test.func"() <{sym_name = "f"}> ({
  "test.blocks"()[^a] ({}, {}) : () -> () // error: expected no successors of an operation that does not end a block
  "test.return"() : () -> ()
^a:
  "test.return"() : () -> ()
}) : () -> ()
// -----
"test.func"() <{sym_name = "f"}> ({
^bb0:
  "x.br"()[^bb0] : () -> () // error: expected no branch to the entry block of a region, found one
}) : () -> ()
// -----
// Order does not matter in a graph region.
%0 = "x.a"(%1) : (i32) -> i32
%1 = "x.b"(%0) : (i32) -> i32
// -----
"test.func"() <{sym_name = "f"}> ({
  %0 = "x.a"(%1) : (i32) -> i32 // error: `x.a`: expected operand 0 to be defined on every path to the operation, found one defined later
  %1 = "x.b"(%0) : (i32) -> i32
  "test.return"() : () -> ()
}) : () -> ()
// -----
"test.func"() <{sym_name = "f"}> ({
  %0 = "x.a"(%0) : (i32) -> i32 // error: found one defined later
  "test.return"() : () -> ()
}) : () -> ()
// -----
// A region may not use the results of its own operation.
"test.func"() <{sym_name = "f"}> ({
  %0 = "x.a"() ({
    "x.b"(%0) : (i32) -> () // error: found one defined later
  }) : () -> i32
  "test.return"() : () -> ()
}) : () -> ()
// -----
// Dominance: the entry dominates all, neither branch the join, the header the loop.
"test.func"() <{sym_name = "f"}> ({
^bb0(%c: i1):
  %0 = "x.a"() : () -> i32
  "x.cond_br"(%c)[^then, ^else] : (i1) -> ()
^then:
  %1 = "x.a"(%0) : (i32) -> i32
  "x.br"()[^join] : () -> ()
^else:
  %2 = "x.a"(%0) : (i32) -> i32
  "x.br"()[^join] : () -> ()
^join:
  "x.use"(%0) : (i32) -> ()
  "x.use"(%1) : (i32) -> () // error: `x.use`: expected operand 0 to be defined on every path to the operation, found one defined later
  "x.use"(%2) : (i32) -> () // error: found one defined later
  %3 = "x.a"() : () -> i32
  "x.br"()[^loop] : () -> ()
^loop:
  "x.use"(%3) : (i32) -> ()
  "x.nest"() ({ "x.use"(%3) : (i32) -> () }) : () -> ()
  "x.cond_br"(%c)[^loop, ^end] : (i1) -> ()
^end:
  "test.return"(%3) : (i32) -> ()
}) : () -> ()
// -----
// Code that is never reached may use what it likes.
"test.func"() <{sym_name = "f"}> ({
  %0 = "x.a"() : () -> i32
  "test.return"() : () -> ()
^dead:
  "x.use"(%1) : (i32) -> ()
  %1 = "x.a"(%0) : (i32) -> i32
  "x.br"()[^dead2] : () -> ()
^dead2:
  "x.use"(%1) : (i32) -> ()
  "test.return"() : () -> ()
}) : () -> ()
// -----
// Irreducible: two entries into a loop.
"test.func"() <{sym_name = "f"}> ({
^bb0(%c: i1):
  "x.cond_br"(%c)[^a, ^b] : (i1) -> ()
^a:
  %0 = "x.a"() : () -> i32
  "x.br"()[^b] : () -> ()
^b:
  "x.use"(%0) : (i32) -> () // error: found one defined later
  "x.cond_br"(%c)[^a, ^end] : (i1) -> ()
^end:
  "test.return"() : () -> ()
}) : () -> ()
// -----
"test.func"() <{sym_name = "f"}> ({
  "x.nest"() ({
    %0 = "x.a"() : () -> i32
  }) : () -> ()
  "test.return"() : () -> ()
}) : () -> ()
"test.func"() <{sym_name = "f"}> ({ // error: expected each symbol once, found `@f` again
  "test.return"() : () -> ()
}) : () -> ()
// -----
%0 = "x.y"() : () -> i32
"test.two_lists"(%0) <{operandSegmentSizes = array<i32: 1, 0>}> : (i32) -> ()
"test.two_lists"(%0) : (i32) -> () // error: expected attribute `operandSegmentSizes`, found none
