//! Conjunctions while they are written, by the columns of their dimensions.
//!
//! For programs that know positions: tiles, iterators of a nest, coordinates of a tensor. What
//! knows names, quantifiers or disjunctions writes a [`Formula`](crate::formula::Formula).

use crate::{Conjunction, Division, Error, Relation, Space};

/// The rows of one conjunction over `[constant, parameters.., inputs.., outputs.., divisions..]`,
/// in 128 bits. A row that ends early has zeros in the columns left.
///
/// ```
/// use tangram_presburger::{Rows, Space, Tuple};
///
/// // { [i] -> [o] : o = 4 * floor(i / 4) and i >= 0 }
/// let mut rows = Rows::new(0, 1, 1);
/// let i = rows.input(0);
/// let tile = rows.floor(vec![0, 1], 4);
/// rows.output_is(0, &[], &[(tile, 4)]);
/// rows.at_least_zero(vec![0, 1]);
/// assert_eq!((i, tile), (1, 3));
/// let tiles = rows.relation(Space::map(vec![], Tuple::anonymous(1), Tuple::anonymous(1)))?;
/// assert!(tiles.contains(&[7, 4])? && !tiles.contains(&[7, 7])?);
/// # Ok::<(), tangram_presburger::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Rows {
    params: usize,
    inputs: usize,
    outputs: usize,
    part: Conjunction<i128>,
}

impl Rows {
    /// Makes a conjunction without conditions; a set has no inputs.
    pub fn new(params: usize, inputs: usize, outputs: usize) -> Self {
        Self { params, inputs, outputs, part: Conjunction::default() }
    }

    /// Returns how many columns there are by now.
    pub fn columns(&self) -> usize {
        1 + self.params + self.inputs + self.outputs + self.part.divisions.len()
    }

    /// Returns the column of an input.
    pub fn input(&self, at: usize) -> usize {
        1 + self.params + at
    }

    /// Returns the column of an output.
    pub fn output(&self, at: usize) -> usize {
        1 + self.params + self.inputs + at
    }

    /// Adds `floor(numerator / denominator)`, for a positive denominator; returns its column.
    pub fn floor(&mut self, mut numerator: Vec<i128>, denominator: i128) -> usize {
        let column = self.columns();
        numerator.resize(column, 0);
        self.part.divisions.push(Division { numerator, denominator });
        column
    }

    /// Says that a row is 0.
    pub fn zero(&mut self, row: Vec<i128>) {
        self.part.equalities.push(row);
    }

    /// Says that a row is at least 0.
    pub fn at_least_zero(&mut self, row: Vec<i128>) {
        self.part.inequalities.push(row);
    }

    /// Says that an output is the value of a row plus columns with factors.
    pub fn output_is(&mut self, output: usize, row: &[i128], terms: &[(usize, i128)]) {
        let mut row = row.to_vec();
        row.resize(self.columns(), 0);
        terms.iter().for_each(|(column, factor)| row[*column] += factor);
        row[self.output(output)] -= 1;
        self.zero(row);
    }

    /// Returns the elements of a space for which the rows hold.
    ///
    /// # Errors
    /// [`Error::Row`] if the space has fewer dimensions than a row, or a denominator is not
    /// positive.
    pub fn relation(mut self, space: Space) -> Result<Relation, Error> {
        let columns = self.columns();
        let Conjunction { equalities, inequalities, .. } = &mut self.part;
        let rows = equalities.iter_mut().chain(inequalities);
        rows.filter(|row| row.len() < columns).for_each(|row| row.resize(columns, 0));
        Relation::from_conjunctions(space, &[self.part])
    }
}
