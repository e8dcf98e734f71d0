//! Expressions in C, and how strong their operations bind.

/// How strong an expression's last operation binds; what binds stronger is greater.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Strength {
    /// `a + b`.
    Sum,
    /// `a * b`, `-a`.
    Product,
    /// A name, a call.
    #[default]
    Atom,
}

/// An expression.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub text: String,
    pub strength: Strength,
}

impl Text {
    pub fn new(text: impl Into<String>, strength: Strength) -> Text {
        Text { text: text.into(), strength }
    }

    pub fn atom(text: impl Into<String>) -> Text {
        Text::new(text, Strength::Atom)
    }

    /// In brackets where it binds weaker than it has to.
    pub fn at_least(&self, least: Strength) -> String {
        match self.strength < least {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }

    /// `left sign right`.
    pub fn joined(left: &Text, sign: char, own: Strength, right: &Text) -> Text {
        // Of two operations of one strength, the left one is first.
        let next = if own == Strength::Sum { Strength::Product } else { Strength::Atom };
        Text::new(format!("{} {sign} {}", left.at_least(own), right.at_least(next)), own)
    }

    /// `sign operand`.
    pub fn prefixed(sign: char, operand: &Text) -> Text {
        Text::new(format!("{sign}{}", operand.at_least(Strength::Atom)), Strength::Product)
    }
}

/// What the places of a template stand for; each may not exist.
pub(crate) struct Places<'a> {
    pub operands: &'a [Text],
    /// The types of the result and of the first operand.
    pub types: [&'a str; 2],
    pub helper: &'a str,
}

impl Places<'_> {
    /// The text of a template.
    pub fn filled(&self, template: &str) -> String {
        let mut text = String::new();
        let mut chars = template.chars();
        while let Some(char) = chars.next() {
            if char != '%' {
                text.push(char);
                continue;
            }
            match chars.next() {
                Some('T') => text.push_str(self.types[0]),
                Some('t') => text.push_str(self.types[1]),
                Some('F') => text.push_str(self.helper),
                Some('+') => text.push_str(&self.operand(chars.next(), Strength::Product)),
                Some('@') => text.push_str(&self.place(chars.next())),
                Some('%') => text.push('%'),
                digit => text.push_str(&self.operand(digit, Strength::Sum)),
            }
        }
        text
    }

    fn at(&self, digit: Option<char>) -> Option<&Text> {
        self.operands.get(digit?.to_digit(10)? as usize)
    }

    fn operand(&self, digit: Option<char>, least: Strength) -> String {
        self.at(digit).map(|text| text.at_least(least)).unwrap_or_default()
    }

    /// `view + index`; the first place is the view itself.
    fn place(&self, digit: Option<char>) -> String {
        let Some(view) = self.at(digit) else { return String::new() };
        let index = digit.and_then(|digit| digit.to_digit(10)).map(|at| at as usize + 1);
        match index.and_then(|at| self.operands.get(at)) {
            Some(index) if index.text != "0" => Text::joined(view, '+', Strength::Sum, index).text,
            _ => view.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_keep_the_order_of_operations() {
        let [a, b, c] = ["a", "b", "c"].map(Text::atom);
        let sum = Text::joined(&a, '-', Strength::Sum, &b);
        assert_eq!(Text::joined(&c, '-', Strength::Sum, &sum).text, "c - (a - b)");
        assert_eq!(Text::joined(&sum, '-', Strength::Sum, &c).text, "a - b - c");
        assert_eq!(Text::joined(&sum, '*', Strength::Product, &c).text, "(a - b) * c");
        let product = Text::joined(&a, '/', Strength::Product, &b);
        assert_eq!(Text::joined(&c, '/', Strength::Product, &product).text, "c / (a / b)");
        let negated = Text::prefixed('-', &a);
        assert_eq!(Text::prefixed('-', &negated).text, "-(-a)");
    }

    #[test]
    fn templates_take_operands_types_and_places() {
        let operands = [Text::atom("x"), Text::new("i + 1", Strength::Sum)];
        let places = Places { operands: &operands, types: ["V", "W"], helper: "f" };
        assert_eq!(places.filled("*(%T *)&%0[%1] %+1 %t %F %%"), "*(V *)&x[i + 1] (i + 1) W f %");
        assert_eq!(places.filled("p(%@0)"), "p(x + (i + 1))");
        let first = [Text::atom("x"), Text::atom("0")];
        assert_eq!(Places { operands: &first, ..places }.filled("p(%@0)"), "p(x)");
    }
}
