//! Names that new code brings into a file, none of which the file has.
//!
//! What all of the code shares begins with one root, which is another where a word of the file begins
//! with it:
//!
//! ```c
//! int TANGRAM_SIMD;                       // of the source
//! #define TANGRAM2_SIMD _Pragma("omp simd")
//! ```
//!
//! Definitions that an earlier run wrote stand there word for word: they mean what those of this run do,
//! so their names are no reason for another root.

use std::collections::HashSet;

use crate::c_tokens::words;

/// The start of names, in capitals for macros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Root {
    upper: String,
    lower: String,
}

impl Default for Root {
    fn default() -> Self {
        Self::numbered(1)
    }
}

impl Root {
    /// Finds the first root with which no word begins, but for those that `known` names.
    ///
    /// `known`: names whose definitions stand in the file as they would be written.
    pub fn of(words: &HashSet<&str>, known: &HashSet<&str>) -> Self {
        let mut number = 1;
        loop {
            let root = Self::numbered(number);
            let begins =
                |word: &&&str| word.starts_with(&root.upper) || word.starts_with(&root.lower);
            if words.iter().filter(begins).all(|word| number == 1 && known.contains(word)) {
                return root;
            }
            number += 1;
        }
    }

    fn numbered(number: usize) -> Self {
        let number = if number == 1 { String::new() } else { number.to_string() };
        Self { upper: format!("TANGRAM{number}_"), lower: format!("tangram{number}_") }
    }

    /// The start of macros: `TANGRAM_`.
    pub fn upper(&self) -> &str {
        &self.upper
    }

    /// The start of names that are no macros: `tangram_`.
    pub fn lower(&self) -> &str {
        &self.lower
    }

    /// Returns a text of ours with this root in all names: `TANGRAM_SIMD`, `tangram_rows`.
    pub fn text(&self, ours: &str) -> String {
        ours.replace("TANGRAM_", &self.upper).replace("tangram_", &self.lower)
    }
}

/// Finds a start of names that no name of the text has, followed by digits; `last`: one that is known to
/// be such a start.
pub(crate) fn free(words: &HashSet<&str>, starts: &[&str], last: &str) -> String {
    let taken = |start: &str| {
        words.iter().any(|word| {
            word.strip_prefix(start)
                .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()))
        })
    };
    starts.iter().copied().find(|start| !taken(start)).unwrap_or(last).to_owned()
}

/// Finds a name that none of these is, nor with `_at` behind it.
pub(crate) fn unused(words: &HashSet<&str>, start: &str) -> String {
    let mut name = start.to_owned();
    while words.contains(name.as_str()) || words.contains(format!("{name}_at").as_str()) {
        name.push('_');
    }
    name
}

/// Lists the names that begin as ours do in those of `definitions` that stand in a text.
pub(crate) fn of_earlier_run<'a>(text: &str, definitions: &[&'a str]) -> HashSet<&'a str> {
    let text = text.replace("\r\n", "\n");
    let there = definitions.iter().filter(|definition| text.contains(**definition));
    let ours = |word: &&str| word.starts_with("TANGRAM_") || word.starts_with("tangram_");
    there.flat_map(|definition| words(definition)).filter(ours).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_one_that_no_word_begins_with() {
        let root = |words: &[&str]| {
            let words = words.iter().copied().collect();
            Root::of(&words, &HashSet::from(["TANGRAM_SIMD"])).text("TANGRAM_AT tangram_rows")
        };
        assert_eq!(root(&["TANGRAM", "tangrams", "TANGRAM_SIMD"]), "TANGRAM_AT tangram_rows");
        assert_eq!(root(&["TANGRAM_AT"]), "TANGRAM2_AT tangram2_rows");
        assert_eq!(root(&["tangram_x", "TANGRAM2_SIMD"]), "TANGRAM3_AT tangram3_rows");
    }

    #[test]
    fn definitions_of_an_earlier_run_are_known_word_for_word() {
        let ours = "#define TANGRAM_AT(p) (p)\n";
        let known = |text: &str| of_earlier_run(text, &[ours]).len();
        assert_eq!(known("int x;\r\n#define TANGRAM_AT(p) (p)\r\n"), 1);
        assert_eq!(known("#define TANGRAM_AT(q) (q)\n"), 0);
    }
}
