//! Debug output and checks of goals.

use super::EGraph;
use crate::{Analysis, AstSize, EClass, Extractor, Id, Language, Pattern, Searcher};
use std::fmt::{self, Debug, Display};

impl<L: Language, N: Analysis<L>> Debug for EGraph<L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EGraph")
            .field("nodes", &self.total_number_of_nodes())
            .field("classes", &self.classes().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

struct Dump<'a, L: Language, N: Analysis<L>>(&'a EGraph<L, N>);

impl<L: Language, N: Analysis<L>> Debug for Dump<'_, L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut classes: Vec<&EClass<L, N::Data>> = self.0.classes().collect();
        classes.sort_unstable_by_key(|class| class.id);
        for class in classes {
            writeln!(f, "{} ({:?}): {:?}", class.id, class.data, class.nodes)?;
        }
        Ok(())
    }
}

impl<L: Language, N: Analysis<L>> EGraph<L, N> {
    /// Returns something that prints one line per class.
    pub fn dump(&self) -> impl Debug + '_ {
        Dump(self)
    }
}

impl<L: Language + Display, N: Analysis<L>> EGraph<L, N> {
    /// Checks that a class matches all patterns.
    ///
    /// # Panics
    /// If it does not match one of them.
    pub fn check_goals(&self, id: Id, goals: &[Pattern<L>]) {
        for (number, goal) in goals.iter().enumerate() {
            if goal.search_eclass(self, id).is_none() {
                let best = Extractor::new(self, AstSize).find_best(id).1;
                panic!(
                    "Could not prove goal {number}:\n{}\nBest thing found:\n{}",
                    goal.pretty(40),
                    best.pretty(40),
                );
            }
        }
    }
}
