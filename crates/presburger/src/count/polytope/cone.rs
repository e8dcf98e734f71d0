//! Polyhedral cones: from constraints to generators, by the double description method.
//!
//! A polyhedron is seen as the cone over it: the last coordinate is the factor of
//! homogenisation, and `last >= 0` is one of the constraints that the caller gives.
//! Each ray knows which constraints it satisfies with equality.
//!
//! Source: T. Motzkin et al., "The double description method", 1953; adjacency of
//! rays is decided by their incidence, as in H. Le Verge's note on Chernikova's algorithm.

use smallvec::SmallVec;

use crate::{Budget, Error, Integer};

pub(crate) type Row = Vec<Integer>;

/// A set of small numbers: constraints, rays or vertices.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Bits(SmallVec<[u64; 2]>);

impl Bits {
    pub fn insert(&mut self, index: usize) {
        if self.0.len() <= index / 64 {
            self.0.resize(index / 64 + 1, 0);
        }
        self.0[index / 64] |= 1 << (index % 64);
    }

    pub fn contains(&self, index: usize) -> bool {
        self.0.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// The words stay trimmed, so that equal sets compare equal.
    pub fn and(&self, other: &Self) -> Self {
        let mut words: SmallVec<[u64; 2]> =
            self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect();
        while words.last() == Some(&0) {
            words.pop();
        }
        Self(words)
    }

    pub fn contains_all(&self, other: &Self) -> bool {
        other.0.iter().enumerate().all(|(i, word)| word & !self.0.get(i).copied().unwrap_or(0) == 0)
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(i, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| i * 64 + bit)
        })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Ray {
    pub row: Row,
    /// The constraints that hold with equality.
    pub tight: Bits,
}

/// The generators of a cone.
#[derive(Debug, Clone)]
pub(crate) struct Cone {
    pub lines: Vec<Row>,
    pub rays: Vec<Ray>,
}

impl Cone {
    /// Finds the generators of `{ x : row . x >= 0 for each row }` in `cols` dimensions.
    pub fn new<'a>(
        cols: usize,
        rows: impl Iterator<Item = &'a [Integer]>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let unit = |i| (0..cols).map(|j| Integer::from(i64::from(i == j))).collect();
        let mut cone = Self { lines: (0..cols).map(unit).collect(), rays: Vec::new() };
        for (index, row) in rows.enumerate() {
            cone.cut(index, row, budget)?;
        }
        Ok(cone)
    }

    fn cut(&mut self, index: usize, row: &[Integer], budget: &Budget) -> Result<(), Error> {
        budget.spend(self.lines.len() + self.rays.len())?;
        if let Some(at) = self.lines.iter().position(|line| !dot(row, line).is_zero()) {
            self.cut_line(at, index, row);
            return Ok(());
        }
        let values: Vec<Integer> = self.rays.iter().map(|ray| dot(row, &ray.row)).collect();
        let mut fresh = Vec::new();
        if values.iter().any(|value| value.sign() < 0) {
            for (above, below) in self.adjacent_pairs(&values, budget)? {
                let (up, down) = (&self.rays[above], &self.rays[below]);
                let mut tight = up.tight.and(&down.tight);
                tight.insert(index);
                let row = reduced(crossed(&values[above], &down.row, &values[below], &up.row));
                fresh.push(Ray { row, tight });
            }
        }
        let old = std::mem::take(&mut self.rays);
        for (mut ray, value) in old.into_iter().zip(values) {
            if value.is_zero() {
                ray.tight.insert(index);
            }
            if value.sign() >= 0 {
                self.rays.push(ray);
            }
        }
        self.rays.append(&mut fresh);
        Ok(())
    }

    /// Turns the line at `at`, which leaves the half-space, into a ray; the rest stays inside.
    fn cut_line(&mut self, at: usize, index: usize, row: &[Integer]) {
        let mut line = self.lines.swap_remove(at);
        let mut value = dot(row, &line);
        if value.sign() < 0 {
            line.iter_mut().for_each(|v| *v = v.neg());
            value = value.neg();
        }
        for other in &mut self.lines {
            let share = dot(row, other);
            if !share.is_zero() {
                *other = reduced(crossed(&value, other, &share, &line));
            }
        }
        for ray in &mut self.rays {
            let share = dot(row, &ray.row);
            if !share.is_zero() {
                ray.row = reduced(crossed(&value, &ray.row, &share, &line));
            }
            ray.tight.insert(index);
        }
        let mut tight = Bits::default();
        (0..index).for_each(|earlier| tight.insert(earlier));
        self.rays.push(Ray { row: line, tight });
    }

    /// Lists the edges that the new constraint cuts: pairs of a ray above and one below.
    fn adjacent_pairs(
        &self,
        values: &[Integer],
        budget: &Budget,
    ) -> Result<Vec<(usize, usize)>, Error> {
        let of_sign = |sign| (0..values.len()).filter(move |i| values[*i].sign() == sign);
        let dims = self.lines.first().or(self.rays.first().map(|ray| &ray.row)).map_or(0, Vec::len);
        let least = dims.saturating_sub(self.lines.len() + 2);
        let mut pairs = Vec::new();
        for above in of_sign(1) {
            for below in of_sign(-1) {
                let common = self.rays[above].tight.and(&self.rays[below].tight);
                let between = |(i, ray): (usize, &Ray)| {
                    i != above && i != below && ray.tight.contains_all(&common)
                };
                if common.len() < least {
                    budget.spend(0)?;
                    continue;
                }
                let found = self.rays.iter().enumerate().position(between);
                budget.spend(found.unwrap_or(self.rays.len()) / 16)?;
                if found.is_none() {
                    pairs.push((above, below));
                }
            }
        }
        Ok(pairs)
    }
}

pub(crate) fn dot(a: &[Integer], b: &[Integer]) -> Integer {
    let mut sum = Integer::ZERO;
    for (x, y) in a.iter().zip(b) {
        if !x.is_zero() && !y.is_zero() {
            sum = sum.add_mul(x, y);
        }
    }
    sum
}

/// Returns `a * x - b * y`.
pub(crate) fn crossed(a: &Integer, x: &[Integer], b: &Integer, y: &[Integer]) -> Row {
    x.iter().zip(y).map(|(x, y)| Integer::cross(a, x, b, y)).collect()
}

pub(crate) fn content(row: &[Integer]) -> Integer {
    let mut g = Integer::ZERO;
    for value in row {
        g = g.gcd(value);
        if g == Integer::ONE {
            break;
        }
    }
    g
}

/// Divides by the greatest common divisor of the entries.
pub(crate) fn reduced(mut row: Row) -> Row {
    let g = content(&row);
    if g > Integer::ONE {
        row.iter_mut().for_each(|v| *v = v.div_exact(&g));
    }
    row
}
