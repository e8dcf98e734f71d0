//! What an editor asks while a program is typed.

use crate::help;
use crate::reader::{Token, tokens};
use crate::session::Session;

/// Words within the braces of a set.
const NOTATION: [&str; 11] =
    ["and", "exists", "false", "floor", "forall", "implies", "max", "min", "mod", "not", "or"];

/// Returns whether `program` can run as it is: its last statement has its `;`, and each brace and
/// quote its other half. What is wrong in another way is complete, so that it is reported.
pub fn is_complete(program: &str) -> bool {
    match tokens(program) {
        Ok(tokens) => match &tokens[..] {
            [.., (last, _), _] => *last == Token::Sign(";"),
            _ => true,
        },
        Err(fault) => !fault.open,
    }
}

/// Completes the word that ends at the byte `at` of `text`: where it starts, and the words that
/// can stand there instead, in order. Within braces they are those of the notation of sets;
/// elsewhere names that `session` knows, operators and verbs.
pub fn complete(session: &Session, text: &str, at: usize) -> (usize, Vec<String>) {
    let before = text.get(..at).unwrap_or(text);
    let stem = before.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$'));
    let start = stem.len();
    let word = &before[start..];
    let mut words: Vec<&str> = match tokens(stem) {
        Err(fault) if fault.open && stem[fault.at..].starts_with('"') => Vec::new(),
        Err(fault) if fault.open => NOTATION.to_vec(),
        _ => {
            let known: Vec<&str> = help::words().chain(["True", "False"]).collect();
            session.names().chain(known).collect()
        }
    };
    words.retain(|known| known.starts_with(word));
    words.sort_unstable();
    words.dedup();
    (start, words.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::{complete, is_complete};
    use crate::Session;

    /// Completes at the end of `text`.
    fn words(text: &str) -> (usize, String) {
        let mut session = Session::default();
        session.run("crab := { [1] }; D := { [2] };").expect("runs");
        let (start, words) = complete(&session, text, text.len());
        (start, words.join(" "))
    }

    #[test]
    fn names_operators_and_verbs_complete() {
        assert_eq!(words("A := cr"), (5, "crab cross cross_domain cross_range".into()));
        assert_eq!(words("ass"), (0, "assert".into()));
        assert_eq!(words("{ [0] } + D; is_emp"), (13, "is_empty".into()));
        assert_eq!(words("\"ü\" + cra"), (7, "crab".into()));
        assert_eq!(words("1; nothing_like_it"), (3, String::new()));
    }

    #[test]
    fn braces_complete_to_the_notation_and_quotes_to_nothing() {
        assert_eq!(words("[n] -> { [i] : ex"), (15, "exists".into()));
        assert_eq!(words("{ [0] } + { [i] : i m"), (20, "max min mod".into()));
        assert_eq!(words("fm({ [i] }, \"cr"), (13, String::new()));
    }

    #[test]
    fn a_place_outside_of_the_text_is_its_end() {
        let session = Session::default();
        assert_eq!(complete(&session, "ass", 99), (0, vec!["assert".to_owned()]));
    }

    #[test]
    fn a_program_is_complete_at_its_semicolon() {
        for text in ["", "  # remark", "card D;", "A := 1; A; # why", "$", "1; $"] {
            assert!(is_complete(text), "{text}");
        }
        for text in ["card D", "{ [0];", "\"a;", "A := 1; A", "1; 2 # ;"] {
            assert!(!is_complete(text), "{text}");
        }
    }
}
