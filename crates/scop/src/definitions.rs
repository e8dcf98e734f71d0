//! Definitions that new code needs: macros and functions in front of it.

use std::fmt::Write;

use tangram_polyhedral::ast::{Ast, CStyle};

use crate::c_tokens::words;
use crate::guard::{AT_DEFINITION, ROWS_DEFINITION};
use crate::memory::THREAD_DEFINITIONS;
use crate::names::Root;

/// What stands in front of loops without dependences between their iterations.
pub(crate) const HINT: &str = "TANGRAM_SIMD";

/// What the hint stands for.
const HINT_DEFINITION: &str = "\
#if defined(_OPENMP)
#define TANGRAM_SIMD _Pragma(\"omp simd\")
#elif defined(__clang__)
#define TANGRAM_SIMD _Pragma(\"clang loop vectorize(assume_safety)\")
#elif defined(__GNUC__)
#define TANGRAM_SIMD _Pragma(\"GCC ivdep\")
#else
#define TANGRAM_SIMD
#endif
";

/// All that is shared, in the order in which it is written.
pub(crate) const SHARED: [&str; 4] =
    [AT_DEFINITION, ROWS_DEFINITION, HINT_DEFINITION, THREAD_DEFINITIONS];

/// Writes the definitions that a text uses.
pub(crate) fn definitions(text: &str, style: &CStyle, root: &Root) -> String {
    let mut needed = String::new();
    for line in Ast::macros().lines() {
        let name = line.trim_start_matches("#define ").split('(').next().unwrap_or_default();
        let full = format!("{}{name}", style.prefix);
        if words(text).any(|word| word == full) {
            let _ = writeln!(needed, "{}", line.replacen(name, &full, 1));
        }
    }
    for shared in SHARED.map(|shared| root.text(shared)) {
        if words(text).any(|word| defines(&shared, word, root)) {
            needed.push_str(&shared);
        }
    }
    needed
}

/// Whether a definition is one of a name.
fn defines(definition: &str, name: &str, root: &Root) -> bool {
    let ours = name.starts_with(root.upper()) || name.starts_with(root.lower());
    let call = format!(" {name}(");
    let head = |line: &str| match line.strip_prefix("#define ") {
        Some(rest) => words(rest).next() == Some(name),
        None => line.starts_with("static ") && line.contains(&call),
    };
    ours && definition.lines().any(head)
}

/// Returns what the compiler reads of a definition where its names are used, without conditions: these
/// ask for macros that must stay.
pub(crate) fn without_conditions(definition: &str) -> String {
    definition.lines().filter(|line| !line.starts_with("#if") && !line.starts_with("#el")).fold(
        String::new(),
        |mut all, line| {
            all.push_str(line);
            all.push('\n');
            all
        },
    )
}
