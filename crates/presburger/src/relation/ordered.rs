//! Inputs of relations by the order of their outputs.
//!
//! A schedule mostly says its outputs by equations, `S[i] -> [0, i]`. The order of two
//! instances is then that of these values, one row for each disjunct of the lexicographic order:
//! nothing is projected out, and what constants decide ends the comparison.

use crate::basic_map::{BasicMap, merge};
use crate::matrix::{combine, remap, zeros};
use crate::{Budget, Error, Integer, Order, Relation, Space};

/// A conjunction over the inputs of a relation, and its outputs as rows.
struct Explicit {
    domain: BasicMap,
    /// Over the columns of `domain`.
    values: Vec<Vec<Integer>>,
}

impl Relation {
    /// Relates inputs of `self` to inputs of `other` by the lexicographic order of their outputs.
    ///
    /// `x` is related to `y` if some output of `x` is, in this `order`, before or after one of `y`.
    ///
    /// # Errors
    /// [`Error::Space`] unless both are relations with the same output tuple.
    pub fn inputs_ordered(
        &self,
        other: &Self,
        order: Order,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let (Some(from), Some(to)) = (&self.space.input, &other.space.input) else {
            return Err(self.not_a_relation());
        };
        if self.space.output != other.space.output {
            return Err(self.space.mismatch(&other.space));
        }
        let params = self.space.joint_params(&other.space);
        let (a, b) = (self.aligned(&params), other.aligned(&params));
        let (Some(left), Some(right)) = (a.explicit(), b.explicit()) else {
            let output = a.space.output.clone();
            let all = Self::lexicographic(params, output, order);
            return a.apply_range(&all, budget)?.apply_range(&b.inverse()?, budget);
        };
        let space = Space::map(params, from.clone(), to.clone());
        let (p, ins, all) = (space.params.len(), from.dims.len(), space.dims());
        let first: Vec<usize> = (0..p + ins).collect();
        let second: Vec<usize> = (0..p).chain(p + ins..all).collect();
        let left: Vec<Explicit> = left.iter().map(|part| part.placed(all, &first)).collect();
        let right: Vec<Explicit> = right.iter().map(|part| part.placed(all, &second)).collect();
        let mut parts = Vec::new();
        for (x, y) in left.iter().flat_map(|x| right.iter().map(move |y| (x, y))) {
            budget.spend(x.domain.system.size() + y.domain.system.size())?;
            parts.extend(x.ordered(y, order));
        }
        Ok(Self::new(space, parts))
    }

    /// Puts further inputs, which may be anything, behind the first `shared` ones.
    pub(crate) fn with_inputs_of(&self, space: &Space, shared: usize) -> Self {
        let space = Space { params: self.space.params.clone(), ..space.clone() };
        let (p, all) = (space.params.len(), space.dims());
        let to: Vec<usize> = (0..p + shared).chain(p + space.inputs()..all).collect();
        self.moved(space, &to)
    }

    fn explicit(&self) -> Option<Vec<Explicit>> {
        let outs = self.space.output.dims.len();
        self.parts.iter().map(|part| Explicit::of(part, outs)).collect()
    }
}

impl Explicit {
    /// Reads the last `outs` dimensions off equations; nothing if one is not said by any.
    fn of(part: &BasicMap, outs: usize) -> Option<Self> {
        let range = 1 + part.dims - outs..1 + part.dims;
        if part.divs.iter().any(|div| div.num[range.clone()].iter().any(|v| !v.is_zero())) {
            return None;
        }
        let mut values = Vec::with_capacity(outs);
        let mut used = Vec::with_capacity(outs);
        for col in range.clone() {
            let says = |row: &[Integer]| {
                row[col].is_unit() && range.clone().all(|c| c == col || row[c].is_zero())
            };
            let index = part.system.eqs.rows().position(says)?;
            let row = part.system.eqs.row(index);
            let mut value = combine(&-&row[col], row, &Integer::ZERO, row);
            value[col] = Integer::ZERO;
            values.push(value);
            used.push(index);
        }
        let to: Vec<Option<usize>> = (0..part.cols())
            .map(|c| if c < range.start { Some(c) } else { c.checked_sub(outs) })
            .collect();
        let cols = part.cols() - outs;
        let substituted = |row: &[Integer]| {
            let mut row = row.to_vec();
            for (value, col) in values.iter().zip(range.clone()) {
                if !row[col].is_zero() {
                    let factor = std::mem::replace(&mut row[col], Integer::ZERO);
                    row = combine(&Integer::ONE, &row, &factor, value);
                }
            }
            remap(&row, cols, &to)
        };
        let divs = part.divs.iter().map(|div| {
            let length = div.num.len() - outs;
            crate::basic_map::Div {
                num: remap(&div.num, cols, &to)[..length].to_vec(),
                den: div.den.clone(),
            }
        });
        let mut domain = BasicMap::with_divs(part.dims - outs, divs.collect());
        for (index, row) in part.system.eqs.rows().enumerate() {
            if !used.contains(&index) {
                domain.system.eqs.push(&substituted(row));
            }
        }
        for row in part.system.ineqs.rows() {
            domain.system.ineqs.push(&substituted(row));
        }
        let values = values.iter().map(|row| remap(row, cols, &to)).collect();
        Some(Self { domain, values })
    }

    /// Moves dimension `i` to `to[i]` among `dims` dimensions.
    fn placed(&self, dims: usize, to: &[usize]) -> Self {
        let domain = self.domain.place(dims, to);
        let mut all = vec![Some(0)];
        all.extend(to.iter().map(|to| Some(1 + to)));
        all.extend((0..domain.divs.len()).map(|i| Some(1 + dims + i)));
        let values = self.values.iter().map(|row| remap(row, domain.cols(), &all)).collect();
        Self { domain, values }
    }

    /// Returns the pairs whose values are in an order, over the same dimensions.
    fn ordered(&self, other: &Self, order: Order) -> Vec<BasicMap> {
        let dims = self.domain.dims;
        let (divs, to) = merge(dims, &self.domain.divs, &other.domain.divs);
        let mut same = BasicMap::with_divs(dims, divs);
        let cols = same.cols();
        let own = &self.domain.system;
        own.eqs.rows().for_each(|row| same.system.eqs.push(row));
        own.ineqs.rows().for_each(|row| same.system.ineqs.push(row));
        same.system.extend(&other.domain.system.remap(cols, &to));
        let less = matches!(order, Order::Less | Order::LessOrEqual);
        let sign = if less { Integer::MINUS_ONE } else { Integer::ONE };
        let mut parts = Vec::new();
        for (x, y) in self.values.iter().zip(&other.values) {
            // How far the pair is in the order asked for.
            let mut distance = zeros(cols);
            distance[..x.len()].clone_from_slice(x);
            distance = combine(&sign, &distance, &-&sign, &remap(y, cols, &to));
            if distance[1..].iter().all(Integer::is_zero) {
                match distance[0].sign() {
                    0 => continue,
                    1 => parts.extend(same.tidied()),
                    _ => {}
                }
                return parts;
            }
            let mut apart = same.clone();
            same.system.eqs.push(&distance);
            distance[0] -= 1;
            apart.system.ineqs.push(&distance);
            parts.extend(apart.tidied());
        }
        if matches!(order, Order::LessOrEqual | Order::GreaterOrEqual) {
            parts.extend(same.tidied());
        }
        parts
    }
}
