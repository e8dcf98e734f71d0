//! Whether a compiler may round differently in other loops.
//!
//! Generated loops give every operation the operands of the source. But a compiler that may
//! contract `a * b + c` to one operation, rounded once, chooses anew in each loop.

use crate::Part;
use crate::c_tokens::words;
use crate::source::is_signed;

impl Part {
    /// Returns whether a value may be of a floating type: one that is not known may.
    pub fn has_floats(&self) -> bool {
        let integer = |element: &str| {
            let named = self.around.types.iter().find(|(name, _)| name == element);
            let own = named.map_or(element, |(_, own)| own);
            let plain: Vec<&str> = words(own)
                .filter(|word| !["unsigned", "const", "_Bool", "size_t"].contains(word))
                .filter(|word| !(word.starts_with("uint") && word.ends_with("_t")))
                .collect();
            is_signed(&plain.join(" "))
        };
        self.arrays.iter().any(|array| !integer(&array.element))
    }

    /// Returns whether the part both multiplies and adds, so that a compiler could fuse both.
    pub fn may_contract(&self) -> bool {
        let texts = self.bodies.iter().map(|body| without_subscripts(&body.text));
        let text: String = texts.collect();
        text.contains('*') && text.contains(['+', '-'])
    }
}

/// Leaves out what stands in brackets: that is computed with integers.
fn without_subscripts(text: &str) -> String {
    let mut depth = 0_usize;
    let outside = |c: &char| {
        depth = match c {
            '[' => depth + 1,
            ']' => depth.saturating_sub(1),
            _ => depth,
        };
        depth == 0
    };
    text.chars().filter(outside).collect()
}
