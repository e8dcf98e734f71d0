//! Names that the preprocessor must leave alone in new code.
//!
//! New code is written behind the preprocessor: its macros are in their place already. Most of them are
//! gone with that, but a macro does not expand in its own text, so that its name may be left:
//!
//! ```c
//! #define A all.A                 // A[i] is all.A[i], and would become all.all.A[i]
//! #pragma push_macro("A")         // of gcc, clang and others
//! #undef A
//! all.A[i] = 0;
//! #pragma pop_macro("A")
//! ```

use std::collections::HashSet;
use std::fmt::Write;

use crate::c_tokens::words;

/// Lines that hide macros from a piece of code.
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// In front of it.
    pub before: String,
    /// Behind it.
    pub behind: String,
}

impl Hidden {
    /// Hides those of `macros` whose names stand in `code`.
    pub fn of<'a>(macros: &HashSet<&'a str>, code: impl IntoIterator<Item = &'a str>) -> Self {
        let named = code.into_iter().flat_map(words).filter(|word| macros.contains(word));
        let mut named: Vec<&str> = named.collect();
        named.sort_unstable();
        named.dedup();
        let mut hidden = Self::default();
        // Writing into a string cannot fail.
        for name in named {
            let _ = writeln!(hidden.before, "#pragma push_macro(\"{name}\")\n#undef {name}");
            let _ = writeln!(hidden.behind, "#pragma pop_macro(\"{name}\")");
        }
        hidden
    }
}
