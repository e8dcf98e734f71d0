//! Nesting that the parser has no stack or no time for, found before anything is parsed.

use crate::Problem;
use crate::c_tokens::{Token, tokens};
use crate::source::Source;

/// Brackets in brackets. Deeper nesting would need more stack than there is.
const DEEPEST: usize = 200;
/// In a row of operators, the parser tries each as one or as half of one like `++`.
const OPERATORS: usize = 16;
/// Statements that are the body of one another without braces: `for (..) for (..)`, `else if`.
const BODIES: usize = 2_000;

/// Refuses the first place that is nested too deep.
pub(crate) fn check(text: &str) -> Result<(), Problem> {
    let mut nesting = Nesting::default();
    for (at, token) in tokens(text) {
        let (Token::Name(word) | Token::Other(word)) = token;
        if word.starts_with(char::is_whitespace) {
            continue;
        }
        if let Some(what) = nesting.after(word) {
            return Err(Source::new(text).problem(at, format!("expected fewer {what}")));
        }
    }
    Ok(())
}

#[derive(Default)]
struct Nesting<'a> {
    brackets: usize,
    parentheses: usize,
    subscripts: usize,
    operators: usize,
    bodies: usize,
    last: &'a str,
}

impl<'a> Nesting<'a> {
    /// Takes the next word in; returns what there are too many of.
    fn after(&mut self, word: &'a str) -> Option<&'static str> {
        let ended = match self.last {
            ";" => self.parentheses == 0,
            last => last == "{" || last == "}",
        };
        if ended && word != "else" {
            self.bodies = 0;
        }
        match word {
            "(" => (self.brackets, self.parentheses) = (self.brackets + 1, self.parentheses + 1),
            ")" => self.parentheses = self.parentheses.saturating_sub(1),
            // Where a macro hides a parenthesis, the count begins anew.
            "{" | "}" => self.parentheses = 0,
            "[" => self.subscripts = if self.last == "]" { self.subscripts + 1 } else { 1 },
            "for" | "while" | "do" | "if" | "switch" => self.bodies += 1,
            _ => {}
        }
        match word {
            "{" | "[" => self.brackets += 1,
            ")" | "}" | "]" => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        let is_operator = matches!(word, "+" | "-" | "*" | "&" | "!" | "~");
        self.operators = if is_operator { self.operators + 1 } else { 0 };
        self.last = word;
        if self.brackets > DEEPEST || self.subscripts > DEEPEST {
            Some("nested brackets")
        } else if self.operators > OPERATORS {
            Some("operators in a row")
        } else if self.bodies > BODIES {
            Some("loops and conditions in one another")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn what_is_long_and_not_deep_is_read() {
        let text = "if (a) b = (1); else if (c) for (;;) d(x[1][2]); ".repeat(3_000);
        assert!(check(&format!("void f() {{ {} }}", text.replace("else", ""))).is_ok());
        assert!(check(&format!("void f() {{ {text} }}")).is_ok());
    }

    #[test]
    fn what_is_deep_is_refused_at_its_place() {
        let deep = [
            ("for (;;) ".repeat(2_001), "loops and conditions"),
            (format!("if (a) b; {}", "else if (a) b; ".repeat(2_000)), "loops and conditions"),
            ("while (a(b;c)) ".repeat(2_001), "loops and conditions"),
            (format!("a{}", "[0]".repeat(201)), "brackets"),
            ("(".repeat(201), "brackets"),
            (format!("a = {}1;", "- ".repeat(17)), "operators"),
        ];
        for (text, what) in deep {
            let problem = check(&text).expect_err("deep").to_string();
            assert!(problem.contains(what), "{problem}");
        }
    }
}
