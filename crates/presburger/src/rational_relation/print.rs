//! Printing in the notation that the parser reads.

use std::fmt;

use super::RationalRelation;
use crate::Budget;
use crate::basic_map::BasicMap;
use crate::print::rational;

/// What finding redundant constraints may take; else all are shown.
const STEPS: u64 = 20_000;

impl fmt::Display for RationalRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.cones.parts.is_empty() {
            return fmt::Display::fmt(&self.integers, f);
        }
        let space = self.space();
        if !space.params.is_empty() {
            write!(f, "[{}] -> ", space.params.join(", "))?;
        }
        let mut texts: Vec<String> = Vec::new();
        for part in self.cones.parts.iter() {
            let text = match shorter(part) {
                Some(part) => {
                    let (part, strict) = without_scale(&part);
                    rational(space, part, &strict)
                }
                None => format!("{space} : false"),
            };
            texts.push(format!("rat: {text}"));
        }
        if !self.integers.parts.is_empty() {
            texts.extend(self.integers.disjuncts());
        }
        write!(f, "{{ {} }}", texts.join("; "))
    }
}

fn shorter(part: &BasicMap) -> Option<BasicMap> {
    let part = part.clone().tidied()?;
    Some(part.clone().without_redundancy(&Budget::steps(STEPS)).unwrap_or(part))
}

/// Writes the scale as the constant; says which inequalities are strict.
fn without_scale(part: &BasicMap) -> (BasicMap, Vec<bool>) {
    let mut plain = BasicMap::universe(part.dims - 1);
    let mut strict = Vec::new();
    let trivial = |row: &[crate::Integer]| row[2..].iter().all(crate::Integer::is_zero);
    for row in part.system.eqs.rows() {
        plain.system.eqs.push(&row[1..]);
    }
    for row in part.system.ineqs.rows().filter(|row| !trivial(row)) {
        plain.system.ineqs.push(&row[1..]);
        strict.push(row[0].sign() < 0);
    }
    (plain, strict)
}
