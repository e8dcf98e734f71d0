//! Whether a union is a function, and of what kind.

use super::Union;
use crate::{Budget, Error, Relation};

impl Union {
    /// Returns whether no input has two outputs, in one space or in two.
    pub fn is_single_valued(&self, budget: &Budget) -> Result<bool, Error> {
        // Relations from one tuple stand side by side.
        let mut seen: Vec<Relation> = Vec::new();
        let mut tuple = None;
        for (key, piece) in self.pieces.iter() {
            let Some(input) = key.input() else { continue };
            if tuple != Some(input) {
                seen.clear();
                tuple = Some(input);
            }
            let domain = piece.domain(budget)?;
            for other in &seen {
                if !other.is_disjoint(&domain, budget)? {
                    return Ok(false);
                }
            }
            if !piece.is_single_valued(budget)? {
                return Ok(false);
            }
            seen.push(domain);
        }
        Ok(true)
    }

    /// Returns whether no output has two inputs, in one space or in two.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn is_injective(&self, budget: &Budget) -> Result<bool, Error> {
        self.inverse()?.is_single_valued(budget)
    }

    /// Returns whether the union is single-valued and injective.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn is_bijective(&self, budget: &Budget) -> Result<bool, Error> {
        Ok(self.is_single_valued(budget)? && self.is_injective(budget)?)
    }

    /// Returns whether every point of `codomain` is an output.
    pub fn is_surjective_onto(&self, codomain: &Self, budget: &Budget) -> Result<bool, Error> {
        codomain.is_subset(&self.range(budget)?, budget)
    }
}
