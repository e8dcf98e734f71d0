//! The same constraints and expressions over other spaces: coordinates renamed, moved, added.

use crate::function::affine::Affine;
use crate::function::pieces::{Piece, Pieces};
use crate::relation::divisions as checked;
use crate::{Aff, Division, Error, Integer, PwAff, PwMultiAff, Relation, Space};

impl Relation {
    /// Rewrites the relation over `space`: coordinate `i` becomes coordinate `to[i]`.
    ///
    /// Coordinates are counted from the parameters on, through inputs and outputs. Those of
    /// `space` that none becomes are free: `{ [i] : i > 0 }` placed at 1 in `[a, b]` is
    /// `{ [a, b] : b > 0 }`.
    ///
    /// # Errors
    /// [`Error::Row`] unless `to` names another coordinate of `space` for each that there is.
    pub fn placed(&self, space: Space, to: &[usize]) -> Result<Self, Error> {
        check(self.space.dims(), space.dims(), to)?;
        let parts = self.parts.iter().map(|part| part.place(space.dims(), to)).collect();
        let inhabited = self.inhabited;
        Ok(Self { inhabited, ..Self::new(space, parts) })
    }
}

impl Pieces {
    /// Rewrites the function over the parameters and inputs of `space`, which has as many outputs.
    fn placed(&self, space: Space, to: &[usize]) -> Result<Self, Error> {
        let (expected, found) = (self.space.output.dims.len(), space.output.dims.len());
        if expected != found {
            return Err(Error::Row { expected, found });
        }
        let dims = space.dims() - found;
        check(self.dims(), dims, to)?;
        let place = |piece: &Piece| Piece {
            domain: piece.domain.place(dims, to),
            forms: piece.forms.iter().map(|form| form.place(dims, to)).collect(),
        };
        Ok(Self::new(space, self.all.iter().map(place).collect()))
    }
}

impl PwAff {
    /// Rewrites the function over the parameters and inputs of `space`, as [`Relation::placed`].
    ///
    /// # Errors
    /// [`Error::Row`] unless `space` has one output and `to` names another coordinate for each.
    pub fn placed(&self, space: Space, to: &[usize]) -> Result<Self, Error> {
        self.0.placed(space, to).map(Self)
    }
}

impl PwMultiAff {
    /// Rewrites the function over the parameters and inputs of `space`, as [`Relation::placed`].
    ///
    /// # Errors
    /// [`Error::Row`] unless `space` has as many outputs and `to` names another coordinate for
    /// each.
    pub fn placed(&self, space: Space, to: &[usize]) -> Result<Self, Error> {
        self.0.placed(space, to).map(Self)
    }
}

impl Aff {
    /// Makes an expression from what [`Self::coefficients`] returns, on the points of the set
    /// space `domain`.
    ///
    /// # Errors
    /// [`Error::Row`] if a row does not have a number per column, or a divisor is not positive.
    pub fn from_coefficients(
        domain: &Space,
        row: &[Integer],
        divisor: &Integer,
        divisions: &[Division],
    ) -> Result<Self, Error> {
        let zero = Self::constant(domain, 0, 1)?;
        let dims = zero.form.dims;
        let divs = checked(dims, divisions)?;
        let expected = 1 + dims + divs.len();
        if row.len() != expected {
            return Err(Error::Row { expected, found: row.len() });
        }
        if divisor.sign() <= 0 {
            return Err(Error::Row { expected: 1, found: 0 });
        }
        let form = Affine::of_row(dims, &divs, row, divisor.clone());
        Ok(Self { form, ..zero })
    }
}

/// Says that `to` sends `from` coordinates to different ones among `dims`.
pub(crate) fn check(from: usize, dims: usize, to: &[usize]) -> Result<(), Error> {
    if to.len() != from {
        return Err(Error::Row { expected: from, found: to.len() });
    }
    let mut taken = vec![false; dims];
    for &target in to {
        match taken.get_mut(target) {
            Some(taken) if !*taken => *taken = true,
            _ => return Err(Error::Row { expected: dims, found: target }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Aff, Budget, PwAff, Relation, Space, Tuple, Union};

    fn relation(text: &str) -> Relation {
        let budget = Budget::unlimited();
        Union::parse(text, &budget).unwrap().single().unwrap().clone()
    }

    #[test]
    fn coordinates_move_and_new_ones_are_free() {
        let set = relation("[n] -> { S[i, j] : 0 <= i < n and j = 2i }");
        let space =
            Space::map(vec!["j".into()], Tuple::new("", ["a", "i"]), Tuple::new("T", ["n"]));
        let moved = set.placed(space.clone(), &[3, 2, 0]).unwrap();
        let expected = relation("[j] -> { [a, i] -> T[n] : 0 <= i < n and j = 2i }");
        assert!(moved.is_equal(&expected, &Budget::unlimited()).unwrap());
        for wrong in [vec![3, 2], vec![3, 2, 2], vec![3, 2, 4]] {
            assert!(set.placed(space.clone(), &wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn functions_move_and_come_back_from_their_coefficients() {
        let budget = Budget::unlimited();
        let f = PwAff::parse("[n] -> { [i] -> [((i + n)/2 + floor(i/3))] : i >= 0 }", &budget);
        let f = f.unwrap();
        let space = Space::map(vec![], Tuple::new("", ["i", "n"]), Tuple::anonymous(1));
        let moved = f.placed(space, &[1, 0]).unwrap();
        assert_eq!(moved.eval(&[7, 5]).unwrap(), f.eval(&[5, 7]).unwrap());
        assert_eq!(moved.eval(&[-1, 5]).unwrap(), None);
        assert!(f.placed(Space::set(vec![], Tuple::anonymous(1)), &[0, 0]).is_err());

        let (domain, aff) = f.pieces().swap_remove(0);
        let (row, divisor, divisions) = aff.coefficients();
        let again = Aff::from_coefficients(domain.space(), &row, &divisor, &divisions).unwrap();
        assert!(again.is_plainly_equal(&aff));
        let short = &row[1..];
        assert!(Aff::from_coefficients(domain.space(), short, &divisor, &divisions).is_err());
        assert!(Aff::from_coefficients(domain.space(), &row, &(-divisor), &divisions).is_err());
    }
}
