//! Products of pairs of integers in C.
//!
//! ```text
//! (a0, a1) * (b0, b1) = a0 * b0 + a1 * b1        four numbers of 16 bits, a sum of 32 bits
//! ```
//!
//! x86 has an instruction for a vector of them, `pmaddwd`, which is exact but where all four numbers
//! are the least there is; sums wrap around there as they do here. Elsewhere it is written out. As
//! integers add up to the same in every order, all forms have the same bits.
//!
//! Bytes are widened to pairs when they are loaded: half of the memory passes by, which is what a
//! product of one row waits for.

use std::fmt::Write;

use crate::Helper;

/// For a vector of so many bytes, what has to be defined for the instruction, and its builtin with
/// what it takes besides the operands; GCC and Clang differ where vectors are longest.
fn builtins(bytes: usize) -> &'static [[&'static str; 3]] {
    match bytes {
        16 => &[["__SSE2__", "__builtin_ia32_pmaddwd128", ""]],
        32 => &[["__AVX2__", "__builtin_ia32_pmaddwd256", ""]],
        64 => &[
            ["__AVX512BW__", "__builtin_ia32_pmaddwd512", ""],
            ["__AVX512BW__", "__builtin_ia32_pmaddwd512_mask", ", (words){0}, -1"],
        ],
        _ => &[],
    }
}

/// The same for the instruction that widens bytes into a vector of so many bytes.
fn widening_builtin(bytes: usize) -> Option<[&'static str; 3]> {
    match bytes {
        32 => Some(["__AVX2__", "__builtin_ia32_pmovsxbw256", ""]),
        64 => Some(["__AVX512BW__", "__builtin_ia32_pmovsxbw512_mask", ", (halves){0}, -1"]),
        _ => None,
    }
}

/// What the function needs; compilers without the test have no such builtin either.
const DEFINITIONS: &str = "#ifndef __has_builtin\n#define __has_builtin(name) 0\n#endif\n";

/// The function that loads pairs of bytes as pairs, a vector of them or one.
pub(crate) fn widening(&Helper { name, ty, width, bytes }: &Helper<'_>) -> String {
    let head = format!("static inline {ty} {name}(const tg_pair_of_bytes *from)\n{{\n");
    if width == 1 {
        return format!(
            "{head}    return ({ty})(uint16_t)(int8_t)*from\n        \
             | ({ty})(uint16_t)(int8_t)(*from >> 8) << 16;\n}}\n\n"
        );
    }
    let mut text = format!(
        "{head}    typedef int8_t bytes __attribute__((vector_size({}), aligned(2), may_alias));\n    \
         typedef int16_t halves __attribute__((vector_size({bytes})));\n",
        bytes / 2
    );
    let plain =
        format!("    return ({ty})__builtin_convertvector(*(const bytes *)from, halves);\n");
    // GCC converts in two steps, and puts both halves together.
    match widening_builtin(bytes) {
        None => text.push_str(&plain),
        Some([feature, builtin, more]) => {
            let _ = write!(
                text,
                "#if defined({feature}) && __has_builtin({builtin})\n    \
                 typedef char plain __attribute__((vector_size({})));\n    \
                 return ({ty}){builtin}((plain)*(const bytes *)from{more});\n\
                 #else\n{plain}#endif\n",
                bytes / 2
            );
        }
    }
    text.push_str("}\n\n");
    text
}

/// The function that multiplies pairs, in a vector or alone.
pub(crate) fn product_of_pairs(&Helper { name, ty, width, bytes }: &Helper<'_>) -> String {
    let head = format!("static inline {ty} {name}({ty} a, {ty} b)\n{{\n");
    if width == 1 {
        return format!(
            "{DEFINITIONS}{head}    return ({ty})((int16_t)a * (int16_t)b)\n        \
             + ({ty})((int16_t)(a >> 16) * (int16_t)(b >> 16));\n}}\n\n"
        );
    }
    let signed = format!("{name}_signed");
    // Shifted up and down again, the low half has its sign; the high half is shifted down alone.
    let low = |x: &str| format!("(({signed})({x} << 16) >> 16)");
    let high = |x: &str| format!("(({signed}){x} >> 16)");
    let plain = format!(
        "    return ({ty})({} * {}) + ({ty})({} * {});\n",
        low("a"),
        low("b"),
        high("a"),
        high("b")
    );
    let mut value = String::new();
    for [feature, builtin, more] in builtins(bytes) {
        let test = if value.is_empty() { "if" } else { "elif" };
        let _ = write!(
            value,
            "#{test} defined({feature}) && __has_builtin({builtin})\n    \
             typedef int16_t halves __attribute__((vector_size({bytes})));\n    \
             typedef int32_t words __attribute__((vector_size({bytes})));\n    \
             return ({ty})(words){builtin}((halves)a, (halves)b{more});\n"
        );
    }
    let value = match value.is_empty() {
        true => plain,
        false => format!("{value}#else\n{plain}#endif\n"),
    };
    format!(
        "{DEFINITIONS}typedef int32_t {signed} __attribute__((vector_size({bytes}), aligned(4)));\n{head}{value}}}\n\n"
    )
}
