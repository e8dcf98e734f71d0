//! Powers and the transitive closure.
//!
//! A path of `k` steps moves a point by the sum of `k` differences. Of each disjunct the
//! differences are relaxed to one convex set without parameters, whose `k`-fold sum is
//! linear in `k`: `{ [i] -> [i + 2] : 0 <= i < 8 }` gives `y - x = 2 k`, with `x` an input
//! and `y` an output. That holds all paths; it is exact if what takes one step is the
//! relation, and what takes more is a step before what takes one less.
//!
//! Source: S. Verdoolaege, A. Cohen, A. Beletska, "Transitive closures of affine integer
//! tuple relations and their overapproximations", 2011. Divergence: disjuncts that form no
//! cycle are closed one by one, and unions space by space, as Kleene does with automata; so are
//! the disjuncts of a cycle whose sum is not exact.
//!
//! Components here are of a handful of disjuncts, all of whose pairs are compared: they come from the
//! matrix of what reaches what. `tangram-polyhedral` has Tarjan's algorithm (`schedule/components`).

mod count;
mod union;

use std::num::NonZeroU64;
use std::ops::Range;

use count::counted_tuple;

use crate::basic_map::BasicMap;
use crate::relation::difference;
use crate::{Budget, Error, Integer, Relation, Space, Tuple};

/// What an exact closure may take, and what the sum of differences may, before the result only
/// has the right ends.
const EXACT: u64 = 1_000_000;
const COUNTED: u64 = 300_000;
/// What walking paths to their ends may take where the sum of differences is not exact, and how
/// often they get twice as long.
const WALKED: u64 = 200_000;
const DOUBLINGS: usize = 5;
/// How many powers are listed.
const POWERS: i64 = 24;
/// What closing around one disjunct may take, and how many disjuncts are taken out one inside the
/// other.
const AROUND: u64 = 200_000;
const DEPTH: usize = 2;

impl Relation {
    /// Relates `x` to `y` where one or more steps lead from `x` to `y`.
    ///
    /// Returns a superset, and whether it is exact.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn transitive_closure(&self, budget: &Budget) -> Result<(Self, bool), Error> {
        self.endo()?;
        if let Some(closed) = budget.attempt(EXACT, |budget| self.closed_in_order(DEPTH, budget))? {
            return Ok(closed);
        }
        if let Some(closure) = budget.attempt(COUNTED, |budget| self.uncounted(budget))? {
            return Ok((closure.coalesce(budget)?, false));
        }
        Ok((self.any_ends(budget)?, false))
    }

    /// Closes groups of disjuncts one after the other.
    fn closed_in_order(&self, depth: usize, budget: &Budget) -> Result<(Self, bool), Error> {
        let (mut all, mut exact) = (Self::empty(self.space().clone()), true);
        for component in self.components(budget)? {
            let (closed, is_exact) = component.closed(depth, budget)?;
            exact &= is_exact;
            let through = all.apply_range(&closed, budget)?;
            all = all.union(&closed)?.union(&through)?;
        }
        Ok((all.coalesce(budget)?, exact))
    }

    /// Relates a number of steps `k >= 1` to the pairs that `k` steps connect.
    ///
    /// `{ [k] -> [x -> y] }`: a superset, and whether it is exact.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn power(&self, budget: &Budget) -> Result<(Self, bool), Error> {
        let mut counted = self.counted(budget)?;
        let mut exact = self.counts(&counted, budget)?;
        if !exact && let Some(all) = budget.attempt(WALKED, |budget| self.powers(budget))?.flatten()
        {
            (counted, exact) = (all, true);
        }
        let (p, n) = (self.space().params.len(), self.space().inputs());
        let pairs = Tuple::wrapping(self.endo()?.clone(), self.space().output.clone());
        let space = Space::map(self.space().params.clone(), Tuple::new("", ["k"]), pairs);
        let mut to: Vec<usize> = (0..p).collect();
        to.extend(p + 1..=p + 2 * n);
        to.push(p);
        Ok((counted.moved(space, &to), exact))
    }

    /// Composes the relation with itself: `count` steps, at least one.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn fixed_power(&self, count: NonZeroU64, budget: &Budget) -> Result<Self, Error> {
        self.endo()?;
        repeated(self.clone(), count, |first, then| first.apply_range(then, budget))
    }

    /// Lists the powers up to one that is empty, or the same as the next; nothing if that takes
    /// long.
    fn powers(&self, budget: &Budget) -> Result<Option<Self>, Error> {
        let dims = self.space().dims();
        let output = counted_tuple(&self.space().output);
        let space = Space { output, ..self.space().clone() };
        let mut parts: Vec<BasicMap> = Vec::new();
        let mut power = self.coalesce(budget)?;
        for count in 1..=POWERS {
            let next = power.apply_range(self, budget)?.coalesce(budget)?;
            let last = next.is_equal(&power, budget)?;
            let mut row = vec![Integer::ZERO; 2 + dims];
            (row[0], row[1 + dims]) = (Integer::from(-count), Integer::ONE);
            for part in power.parts.iter() {
                let mut part = part.place(1 + dims, &(0..dims).collect::<Vec<_>>());
                let system = &mut part.system;
                let rows = if last { &mut system.ineqs } else { &mut system.eqs };
                row.resize(rows.cols, Integer::ZERO);
                rows.push(&row);
                parts.push(part);
            }
            // Of the empty relation, all powers are empty.
            if last || next.parts.is_empty() {
                return Ok(Some(Self::new(space, parts)));
            }
            power = next;
        }
        Ok(None)
    }

    fn endo(&self) -> Result<&Tuple, Error> {
        let Some(input) = &self.space().input else { return Err(self.not_a_relation()) };
        if *input != self.space().output {
            let same = Space { output: input.clone(), ..self.space().clone() };
            return Err(same.mismatch(self.space()));
        }
        Ok(input)
    }

    /// Groups disjuncts that follow one another in cycles; a group comes after those before it.
    fn components(&self, budget: &Budget) -> Result<Vec<Self>, Error> {
        let one = |part: &BasicMap| Self::new(self.space().clone(), vec![part.clone()]);
        let parts: Vec<Self> = self.parts.iter().map(one).collect();
        let count = parts.len();
        let mut reaches = vec![vec![false; count]; count];
        for (i, from) in parts.iter().enumerate() {
            let range = from.range(budget)?;
            for (j, to) in parts.iter().enumerate() {
                reaches[i][j] = !range.is_disjoint(&to.domain(budget)?, budget)?;
            }
        }
        for middle in 0..count {
            for from in 0..count {
                if reaches[from][middle] {
                    let through = reaches[middle].clone();
                    reaches[from].iter_mut().zip(through).for_each(|(old, new)| *old |= new);
                }
            }
        }
        let mut order: Vec<usize> = (0..count).collect();
        // Whoever is reached by more comes later, itself counted: members of a cycle tie.
        let before = |part: usize| (0..count).filter(|i| *i == part || reaches[*i][part]).count();
        order.sort_by_key(|part| (before(*part), *part));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for part in order {
            let together =
                |group: &&mut Vec<usize>| reaches[group[0]][part] && reaches[part][group[0]];
            match groups.iter_mut().find(together) {
                Some(group) => group.push(part),
                None => groups.push(vec![part]),
            }
        }
        let parts = |group: Vec<usize>| group.iter().map(|i| self.parts[*i].clone()).collect();
        Ok(groups.into_iter().map(|g| Self::new(self.space().clone(), parts(g))).collect())
    }

    /// Closes disjuncts that form a cycle.
    ///
    /// Steps that go nowhere add no other paths; the sum of differences is exact more often
    /// without them.
    fn closed(&self, depth: usize, budget: &Budget) -> Result<(Self, bool), Error> {
        let (still, moving) = self.split_identity(budget)?;
        if still.parts.is_empty() {
            return self.closed_moving(depth, budget);
        }
        let (closed, exact) = match moving.parts.is_empty() {
            true => (moving, true),
            false => moving.closed_in_order(depth, budget)?,
        };
        Ok((closed.union(&still)?, exact))
    }

    /// Splits off the pairs of a point and itself where that leaves no more disjuncts.
    fn split_identity(&self, budget: &Budget) -> Result<(Self, Self), Error> {
        let (p, n) = (self.space().params.len(), self.space().inputs());
        let mut same = BasicMap::universe(self.space().dims());
        for i in 0..n {
            same.system.eqs.push(&difference(p + i, p + n + i, self.space().dims()));
        }
        let same = Self::new(self.space().clone(), vec![same]);
        let still = self.intersect(&same, budget)?;
        let none = Self::empty(self.space().clone());
        if still.parts.is_empty() {
            return Ok((none, self.clone()));
        }
        let moving = self.subtract(&same, budget)?.coalesce(budget)?;
        match moving.parts.len() <= self.parts.len() {
            true => Ok((still, moving)),
            false => Ok((none, self.clone())),
        }
    }

    fn closed_moving(&self, depth: usize, budget: &Budget) -> Result<(Self, bool), Error> {
        let counted = self.counted(budget)?;
        let closure = self.without_count(&counted, budget)?;
        if self.counts(&counted, budget)? {
            return Ok((closure, true));
        }
        if let Some(all) = budget.attempt(WALKED, |budget| self.walked(budget))?.flatten() {
            return Ok((all, true));
        }
        if depth > 0 && self.parts.len() > 1 {
            for index in 0..self.parts.len() {
                let found = budget.attempt(AROUND, |budget| self.around(index, depth, budget))?;
                if let Some(all) = found.flatten() {
                    return Ok((all, true));
                }
            }
        }
        Ok((closure, false))
    }

    /// Adds paths of twice the length until there are no new ones; nothing if that takes long.
    fn walked(&self, budget: &Budget) -> Result<Option<Self>, Error> {
        let mut all = self.clone();
        for _ in 0..DOUBLINGS {
            let next = all.union(&all.apply_range(&all, budget)?)?.coalesce(budget)?;
            if next.is_subset(&all, budget)? {
                return Ok(Some(all));
            }
            all = next;
        }
        Ok(None)
    }

    /// Closes one disjunct `A`, then what remains to be done around it, if both are exact.
    ///
    /// With `A*` for any number of steps in `A`, none included, a path over `A` and `S` is one over
    /// `A` alone, or over `A* S A*`: Kleene's way out of a choice.
    fn around(&self, index: usize, depth: usize, budget: &Budget) -> Result<Option<Self>, Error> {
        let (mut one, mut others) = (Vec::new(), self.parts.to_vec());
        one.push(others.remove(index));
        let of = |parts: Vec<BasicMap>| Self::new(self.space().clone(), parts);
        let (one, exact) = of(one).closed(0, budget)?;
        if !exact {
            return Ok(None);
        }
        let others = of(others);
        let before = others.union(&one.apply_range(&others, budget)?)?;
        let through = before.union(&before.apply_range(&one, budget)?)?.coalesce(budget)?;
        let (rest, exact) = through.closed_in_order(depth - 1, budget)?;
        if !exact {
            return Ok(None);
        }
        Ok(Some(one.union(&rest)?.coalesce(budget)?))
    }

    /// Relates what paths of any length connect, and maybe more.
    fn uncounted(&self, budget: &Budget) -> Result<Self, Error> {
        self.without_count(&self.counted(budget)?, budget)
    }

    fn without_count(&self, counted: &Self, budget: &Budget) -> Result<Self, Error> {
        let n = self.space().inputs();
        let uncounted = counted.project_out(n..n + 1, budget)?;
        uncounted.cast(self.space().input.clone(), self.space().output.clone())
    }

    /// Relates everything that single constraints allow as an input to what they allow as an
    /// output.
    fn any_ends(&self, budget: &Budget) -> Result<Self, Error> {
        let (p, n) = (self.space().params.len(), self.space().inputs());
        let allowed = |side: Range<usize>| -> Result<Self, Error> {
            let alone =
                |row: &[Integer]| (1 + p..row.len()).all(|c| row[c].is_zero() || side.contains(&c));
            let dims = self.space().dims();
            let mut parts = Vec::new();
            for part in self.parts.iter() {
                let mut rest = BasicMap::universe(dims);
                for row in part.half_spaces().iter().filter(|row| alone(row)) {
                    rest.system.ineqs.push(&row[..=dims]);
                }
                parts.extend(rest.tidied());
            }
            Self::new(self.space().clone(), parts).simple_hull(budget)
        };
        let (from, to) = (allowed(1 + p..1 + p + n)?, allowed(1 + p + n..1 + p + 2 * n)?);
        from.intersect(&to, budget)
    }
}

/// Composes a relation with itself, by squaring.
fn repeated<R>(
    mut square: R,
    count: NonZeroU64,
    then: impl Fn(&R, &R) -> Result<R, Error>,
) -> Result<R, Error>
where
    R: Clone,
{
    let (mut result, mut rest) = (None::<R>, count.get());
    loop {
        if rest % 2 == 1 {
            result = Some(match result {
                Some(done) => then(&done, &square)?,
                None => square.clone(),
            });
        }
        rest /= 2;
        match result {
            Some(result) if rest == 0 => return Ok(result),
            _ => square = then(&square, &square)?,
        }
    }
}
