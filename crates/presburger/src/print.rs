//! Printing in the notation that the parser reads.

use std::fmt;

use crate::Relation;
use crate::basic::Basic;

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = self.space();
        if !space.params.is_empty() {
            write!(f, "[{}] -> ", space.params.join(", "))?;
        }
        write!(f, "{{ {} }}", self.disjuncts().join("; "))
    }
}

impl Relation {
    /// Prints each disjunct without braces and parameters.
    pub(crate) fn disjuncts(&self) -> Vec<String> {
        let names = self.space().distinct_names();
        let mut tuples = String::new();
        // Writing into a string cannot fail.
        let _ = self.space().write(&mut tuples, &names);
        if self.parts.is_empty() {
            return vec![format!("{tuples} : false")];
        }
        let one = |part: &Basic| {
            let text = conjunction(part, names.clone());
            if text.is_empty() { tuples.clone() } else { format!("{tuples} : {text}") }
        };
        self.parts.iter().map(one).collect()
    }
}

/// Writes the constraints of a conjunction over named dimensions.
pub(crate) fn conjunction(part: &Basic, mut names: Vec<String>) -> String {
    for div in part.divs.iter() {
        names.push(format!("floor(({})/{})", sum(&div.num, &names), div.den));
    }
    let eqs = part.system.eqs.rows().map(|row| format!("{} = 0", sum(row, &names)));
    let ineqs = part.system.ineqs.rows().map(|row| format!("{} >= 0", sum(row, &names)));
    eqs.chain(ineqs).collect::<Vec<_>>().join(" and ")
}

/// Writes a row as a sum of its terms.
pub(crate) fn sum(row: &[i128], names: &[String]) -> String {
    let mut text = String::new();
    for (value, name) in row[1..].iter().zip(names).filter(|(value, _)| **value != 0) {
        term(&mut text, *value, name);
    }
    if row[0] != 0 || text.is_empty() {
        term(&mut text, row[0], "");
    }
    text
}

fn term(text: &mut String, value: i128, name: &str) {
    text.push_str(match (text.is_empty(), value < 0) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    });
    let size = value.unsigned_abs();
    if name.is_empty() || size != 1 {
        text.push_str(&size.to_string());
        text.push_str(if name.is_empty() { "" } else { "*" });
    }
    text.push_str(name);
}
