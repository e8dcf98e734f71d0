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
//! cycle are closed one by one, and unions space by space, as Kleene does with automata.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::basic::Basic;
use crate::relation::intersect_parts;
use crate::union::{TupleKey, tuple_key};
use crate::{Budget, Error, Integer, Relation, Space, Tuple, Union};

/// What an exact closure may take, and what the sum of differences may, before the result only
/// has the right ends.
const EXACT: u64 = 1_000_000;
const COUNTED: u64 = 300_000;
/// How many single steps are tried where the sum of differences is not exact.
const STEPS: usize = 6;

impl Relation {
    /// Relates `x` to `y` where one or more steps lead from `x` to `y`.
    ///
    /// Returns a superset, and whether it is exact.
    ///
    /// # Errors
    /// [`Error::Space`] unless input and output are the same tuple.
    pub fn transitive_closure(&self, budget: &Budget) -> Result<(Self, bool), Error> {
        self.endo()?;
        if let Some(closed) = budget.attempt(EXACT, |budget| self.closed_in_order(budget))? {
            return Ok(closed);
        }
        if let Some(closure) = budget.attempt(COUNTED, |budget| self.uncounted(budget))? {
            return Ok((closure.coalesce(budget)?, false));
        }
        Ok((self.any_ends(budget)?, false))
    }

    /// Closes groups of disjuncts one after the other.
    fn closed_in_order(&self, budget: &Budget) -> Result<(Self, bool), Error> {
        let (mut all, mut exact) = (Self::empty(self.space().clone()), true);
        for component in self.components(budget)? {
            let (closed, is_exact) = component.closed(budget)?;
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
        let counted = self.counted(budget)?;
        let exact = self.counts(&counted, budget)?;
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
    pub fn fixed_power(&self, count: std::num::NonZeroU32, budget: &Budget) -> Result<Self, Error> {
        self.endo()?;
        let (mut result, mut square, mut rest) = (None::<Self>, self.clone(), count.get());
        loop {
            if rest % 2 == 1 {
                result = Some(match result {
                    Some(done) => done.apply_range(&square, budget)?,
                    None => square.clone(),
                });
            }
            rest /= 2;
            match result {
                Some(result) if rest == 0 => return Ok(result),
                _ => square = square.apply_range(&square, budget)?,
            }
        }
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
        let one = |part: &Basic| Self::new(self.space().clone(), vec![part.clone()]);
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
    fn closed(&self, budget: &Budget) -> Result<(Self, bool), Error> {
        let counted = self.counted(budget)?;
        let closure = self.without_count(&counted, budget)?;
        if self.counts(&counted, budget)? {
            return Ok((closure, true));
        }
        let mut all = self.clone();
        for _ in 0..STEPS {
            let next = all.union(&all.apply_range(self, budget)?)?.coalesce(budget)?;
            if next.is_subset(&all, budget)? {
                return Ok((all, true));
            }
            all = next;
        }
        Ok((closure, false))
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
                let mut rest = Basic::universe(dims);
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

    /// Relates `x` to `(y, k)` for at least all paths of `k` steps from `x` to `y`.
    fn counted(&self, budget: &Budget) -> Result<Self, Error> {
        let n = self.endo()?.dims.len();
        let p = self.space().params.len();
        let mut steps = Vec::new();
        for part in self.parts.iter() {
            let one = Self::new(self.space().clone(), vec![part.clone()]);
            let moves = one.deltas(budget)?;
            let hull = moves.simple_hull(budget)?.intersect(&moves.affine_hull(budget)?, budget)?;
            steps.extend(hull.parts.iter().cloned());
        }
        let first = p + 2 * n + 1;
        // Columns: x, y, k; then for each disjunct its share of the steps, and of the way.
        let all = first + steps.len() * (1 + n);
        let mut sum = Basic::universe(all);
        let mut ways = vec![vec![Integer::ZERO; 1 + all]; n];
        let mut total = vec![Integer::ZERO; 1 + all];
        total[first] = Integer::MINUS_ONE;
        for (i, way) in ways.iter_mut().enumerate() {
            (way[1 + p + i], way[1 + p + n + i]) = (Integer::ONE, Integer::MINUS_ONE);
        }
        for (index, step) in steps.iter().enumerate() {
            let count = first + index * (1 + n);
            total[1 + count] = Integer::ONE;
            let mut unit = vec![Integer::ZERO; 1 + all];
            unit[1 + count] = Integer::ONE;
            sum.system.ineqs.push(&unit);
            for (i, way) in ways.iter_mut().enumerate() {
                way[2 + count + i] = Integer::ONE;
            }
            for (rows, equation) in [(&step.system.eqs, true), (&step.system.ineqs, false)] {
                for row in rows.rows() {
                    let (given, divs) = (&row[1..=p], &row[1 + p + n..]);
                    if given.iter().chain(divs).any(|v| *v != 0) {
                        continue;
                    }
                    let mut scaled = vec![Integer::ZERO; 1 + all];
                    scaled[1 + count] = row[0].clone();
                    scaled[2 + count..2 + count + n].clone_from_slice(&row[1 + p..1 + p + n]);
                    let rows = match equation {
                        true => &mut sum.system.eqs,
                        false => &mut sum.system.ineqs,
                    };
                    rows.push(&scaled);
                }
            }
        }
        ways.iter().for_each(|way| sum.system.eqs.push(way));
        sum.system.eqs.push(&total);
        let mut positive = vec![Integer::ZERO; 1 + all];
        (positive[0], positive[first]) = (Integer::MINUS_ONE, Integer::ONE);
        sum.system.ineqs.push(&positive);
        let mut parts = Vec::new();
        if let Some(sum) = sum.tidied() {
            parts = sum.project(first..all, budget)?;
        }
        let ends = self.ends(budget)?;
        let space = Space { output: counted_tuple(&self.space().output), ..self.space().clone() };
        Ok(Self::new(space, intersect_parts(&parts, &ends, budget)?))
    }

    /// Returns all `x`, `y` and `k` where `x` is an input and `y` an output.
    fn ends(&self, budget: &Budget) -> Result<Vec<Basic>, Error> {
        let (p, n) = (self.space().params.len(), self.space().inputs());
        let dims = p + 2 * n + 1;
        let place = |set: &Self, shift: usize| -> Vec<Basic> {
            let to: Vec<usize> = (0..p).chain((0..n).map(|i| p + shift + i)).collect();
            set.parts.iter().map(|part| part.place(dims, &to)).collect()
        };
        let (domain, range) = (self.domain(budget)?, self.range(budget)?);
        intersect_parts(
            &place(&domain.coalesce(budget)?, 0),
            &place(&range.coalesce(budget)?, n),
            budget,
        )
    }

    /// Says whether `counted` holds no more than the paths.
    fn counts(&self, counted: &Self, budget: &Budget) -> Result<bool, Error> {
        let (p, n) = (self.space().params.len(), self.space().inputs());
        let dims = counted.space().dims();
        let slice = |row: Vec<Integer>, equation: bool| {
            let mut part = Basic::universe(dims);
            let rows = if equation { &mut part.system.eqs } else { &mut part.system.ineqs };
            rows.push(&row);
            intersect_parts(&counted.parts, &[part], budget)
        };
        let mut row = vec![Integer::ZERO; 1 + dims];
        (row[0], row[dims]) = (Integer::MINUS_ONE, Integer::ONE);
        let single = Self::new(counted.space().clone(), slice(row.clone(), true)?);
        let single = single.project_out(n..n + 1, budget)?;
        let single = single.cast(self.space().input.clone(), self.space().output.clone())?;
        if !single.is_subset(self, budget)? {
            return Ok(false);
        }
        row[0] = Integer::from(-2);
        let more = Self::new(counted.space().clone(), slice(row, false)?);
        let next = self.apply_range(counted, budget)?;
        let mut succ = Basic::universe(p + 2 * n + 2);
        for i in 0..=n {
            let mut row = vec![Integer::ZERO; 1 + succ.dims];
            (row[1 + p + i], row[1 + p + n + 1 + i]) = (Integer::ONE, Integer::MINUS_ONE);
            row[0] = Integer::from(i == n);
            succ.system.eqs.push(&row);
        }
        let output = counted.space().output.clone();
        let space = Space::map(self.space().params.clone(), output.clone(), output);
        let next = next.apply_range(&Self::new(space, vec![succ]), budget)?;
        more.is_subset(&next, budget)
    }
}

/// Appends the number of steps to a tuple.
fn counted_tuple(tuple: &Tuple) -> Tuple {
    Tuple::new("", tuple.dims.iter().cloned().chain(["k".to_owned()]))
}

impl Union {
    /// Relates `x` to `y` where one or more steps, in any spaces, lead from `x` to `y`.
    ///
    /// Returns a superset, and whether it is exact.
    ///
    /// # Errors
    /// [`Error::Space`] if there is a set.
    pub fn transitive_closure(&self, budget: &Budget) -> Result<(Self, bool), Error> {
        let mut tuples: BTreeMap<TupleKey, Tuple> = BTreeMap::new();
        for piece in self.relations() {
            let Some(input) = &piece.space().input else { return Err(piece.not_a_relation()) };
            for tuple in [input, &piece.space().output] {
                tuples.entry(tuple_key(tuple)).or_insert_with(|| tuple.clone());
            }
        }
        let (mut all, mut exact) = (self.clone(), true);
        for tuple in tuples.values() {
            let space = Space::map(Vec::new(), tuple.clone(), tuple.clone());
            let rest = match all.get(&space) {
                Some(loops) => {
                    let (closed, is_exact) = loops.transitive_closure(budget)?;
                    exact &= is_exact;
                    Self::from(closed)
                }
                None => Self::empty(),
            };
            // Paths through this tuple: into it, any number of loops, out of it.
            let here = Self::from(Relation::universe(Space::set(Vec::new(), tuple.clone())));
            let into = all.intersect_range(&here, budget)?;
            let out = all.intersect_domain(&here, budget)?;
            let into = into.union(&into.apply_range(&rest, budget)?)?;
            all = all.union(&rest)?.union(&into.apply_range(&out, budget)?)?.union(&into)?;
            all = all.union(&rest.apply_range(&out, budget)?)?.coalesce(budget)?;
        }
        Ok((all, exact))
    }
}
