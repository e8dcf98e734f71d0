//! C with the vector extensions that GCC and Clang share.

use crate::pairs::{product_of_pairs, widening};
use crate::{Spelling, Strength, Target};
use Spelling::{Advance, Form, Infix, Prefix, Read, Statement, Touch, Value};
use Strength::{Atom, Product, Sum};

/// C with vectors of any length, for GCC and Clang.
///
/// The text around defines `TANGRAM_PREFETCH` and `TANGRAM_KEEP`, and includes `stdint.h`.
pub static GNU_C: Target = Target {
    function: "static void",
    // clang cuts these in two on processors where it prefers shorter ones: half of the rate.
    long_vectors: (
        64,
        "#ifdef __clang__\n__attribute__((min_vector_width(512)))\n#endif\nstatic void",
    ),
    elements: &[
        ("f32", "float", 4),
        ("f64", "double", 8),
        ("index", "long", 8),
        // Integers without a sign wrap around.
        ("i32", "tg_pair", 4),
        ("i16", "tg_pair_of_bytes", 2),
    ],
    definitions: &[(
        "tg_pair",
        "typedef uint32_t tg_pair __attribute__((may_alias));\n\
         typedef uint16_t tg_pair_of_bytes __attribute__((may_alias));\n\n",
    )],
    // Vectors start anywhere in memory, which has elements of the plain type.
    vector: "typedef %E %V __attribute__((vector_size(%B), aligned(%A), may_alias));\n\n",
    operations: &[
        ("arith.addf", Infix('+', Sum)),
        ("arith.subf", Infix('-', Sum)),
        ("arith.mulf", Infix('*', Product)),
        ("arith.divf", Infix('/', Product)),
        ("arith.negf", Prefix('-')),
        ("arith.addi", Infix('+', Sum)),
        ("arith.subi", Infix('-', Sum)),
        ("arith.muli", Infix('*', Product)),
        // Less zero is every number itself, also a negative zero.
        ("vector.broadcast", Form("%0 - (%T){0}", Sum)),
        ("vector.load", Read("*(const %T *)&%0[%1]", Atom)),
        ("vector.store", Statement("*(%t *)(%1 + %+2) = %0;")),
        ("memref.load", Read("%0[%1]", Atom)),
        ("memref.store", Statement("%1[%2] = %0;")),
        ("memref.prefetch", Statement("TANGRAM_PREFETCH(%@0);")),
        ("tg.advance", Advance),
        ("tg.keep", Touch("TANGRAM_KEEP(%0)")),
        ("tg.dot", Value("%0 + %F(%1, %2)", Sum)),
        ("tg.widen_load", Read("%F(&%0[%1])", Atom)),
    ],
    helpers: &[("tg.dot", "_pairs", product_of_pairs), ("tg.widen_load", "_widened", widening)],
};
