//! Relations and the sets of their pairs.

use std::ops::Range;

use crate::basic_map::BasicMap;
use crate::relation::difference;
use crate::relation::intersect_parts;
use crate::{Budget, Error, Integer, Relation, Space, Tuple};

impl Relation {
    /// Returns the differences `y - x` of related points.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn deltas(&self, budget: &Budget) -> Result<Self, Error> {
        self.deltas_map(budget)?.range(budget)
    }

    /// Relates each pair `[x -> y]` of `self` to `y - x`.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn deltas_map(&self, budget: &Budget) -> Result<Self, Error> {
        if *self.input()? != self.space.output {
            return Err(self.space.mismatch(&Space {
                input: Some(self.space.output.clone()),
                ..(*self.space).clone()
            }));
        }
        let (p, n) = (self.space.params.len(), self.space.inputs());
        let pairs = self.wrap()?;
        let space = Space::map(
            self.space.params.clone(),
            pairs.space.output.clone(),
            self.space.output.clone(),
        );
        let to: Vec<usize> = (0..pairs.space.dims()).collect();
        let mut law = BasicMap::universe(space.dims());
        for i in 0..n {
            let mut row = difference(p + i, p + n + i, space.dims());
            row[1 + p + 2 * n + i] = Integer::ONE;
            law.system.eqs.push(&row);
        }
        let moved = pairs.moved(space.clone(), &to);
        Ok(Self::new(space, intersect_parts(&moved.parts, &[law], budget)?))
    }

    /// Turns a relation into the set of its pairs `[x -> y]`.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn wrap(&self) -> Result<Self, Error> {
        let tuple = Tuple::wrapping(self.input()?.clone(), self.space.output.clone());
        Ok(self.respaced(Space::set(self.space.params.clone(), tuple)))
    }

    /// Turns a set of pairs `[x -> y]` into a relation.
    ///
    /// # Errors
    /// [`Error::Space`] unless this is a set of pairs.
    pub fn unwrap(&self) -> Result<Self, Error> {
        match self.space.output.sides() {
            Some((a, b)) if self.is_set() => {
                Ok(self.respaced(Space::map(self.space.params.clone(), a, b)))
            }
            _ => Err(self.lacks("[[..] -> [..]]")),
        }
    }

    /// Turns `[a -> b] -> [c -> d]` into `[a -> c] -> [b -> d]`.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are pairs.
    pub fn zip(&self) -> Result<Self, Error> {
        let sides = self.input()?.sides().zip(self.space.output.sides());
        let Some(((a, b), (c, d))) = sides else {
            return Err(self.lacks("[[..] -> [..]] -> [[..] -> [..]]"));
        };
        let starts = [a.dims.len(), c.dims.len(), b.dims.len(), d.dims.len()];
        let space =
            Space::map(self.space.params.clone(), Tuple::wrapping(a, c), Tuple::wrapping(b, d));
        let p = self.space.params.len();
        let [a, c, b, d] = starts;
        let mut to: Vec<usize> = (0..p + a).collect();
        to.extend((0..b).map(|i| p + a + c + i));
        to.extend((0..c).map(|i| p + a + i));
        to.extend((0..d).map(|i| p + a + c + b + i));
        Ok(self.moved(space, &to))
    }

    /// Turns `[a -> b] -> c` into `a -> [b -> c]`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the input is a pair.
    pub fn curry(&self) -> Result<Self, Error> {
        let Some((a, b)) = self.input()?.sides() else {
            return Err(self.lacks("[[..] -> [..]] -> [..]"));
        };
        let output = Tuple::wrapping(b, self.space.output.clone());
        Ok(self.respaced(Space::map(self.space.params.clone(), a, output)))
    }

    /// Turns `a -> [b -> c]` into `[a -> b] -> c`.
    ///
    /// # Errors
    /// [`Error::Space`] unless the output is a pair.
    pub fn uncurry(&self) -> Result<Self, Error> {
        let (a, sides) = (self.input()?.clone(), self.space.output.sides());
        let Some((b, c)) = sides else { return Err(self.lacks("[..] -> [[..] -> [..]]")) };
        Ok(self.respaced(Space::map(self.space.params.clone(), Tuple::wrapping(a, b), c)))
    }

    /// Relates each pair `[x -> y]` of `self` to `x`.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn domain_map(&self) -> Result<Self, Error> {
        self.side_map(self.input()?.clone(), 0..self.space.inputs())
    }

    /// Relates each pair `[x -> y]` of `self` to `y`.
    ///
    /// # Errors
    /// [`Error::Space`] for a set.
    pub fn range_map(&self) -> Result<Self, Error> {
        let (ins, outs) = (self.space.inputs(), self.space.output.dims.len());
        self.side_map(self.space.output.clone(), ins..ins + outs)
    }

    fn side_map(&self, output: Tuple, side: Range<usize>) -> Result<Self, Error> {
        let pairs = self.wrap()?;
        let (p, from) = (self.space.params.len(), pairs.space.dims());
        let input = pairs.space.output.clone();
        let space = Space::map(self.space.params.clone(), input, output);
        let to: Vec<usize> = (0..from).collect();
        let parts = self.parts.iter().map(|part| {
            let mut part = part.place(space.dims(), &to);
            for (i, dim) in side.clone().enumerate() {
                let mut row = difference(p + dim, from + i, space.dims());
                row.resize(part.system.cols(), Integer::ZERO);
                part.system.eqs.push(&row);
            }
            part
        });
        Ok(Self::new(space.clone(), parts.collect()))
    }
}
