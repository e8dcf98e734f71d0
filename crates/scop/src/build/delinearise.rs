//! Arrays in one dimension that are meant as several: `A[i * n + j]` as `A[i][j]`.
//!
//! The products of parameters by which loops are multiplied are the strides; each divides the
//! next one, and their quotients are the extents. A subscript is divided by the strides, the
//! largest one first. Two instances then use the same element where all the quotients are the
//! same, if each but the outermost is at least 0 and less than its extent. That is shown for all
//! instances, or it holds for some parameters only: then these are the only ones of which the
//! part is true, and code must test them (`Scop::context`).
//!
//! Products of parameters alone are multiples of these strides where they can be: `(m - 1) * n` is the
//! last row. A remainder that is negative by its signs is borrowed from: `i * n + n - 1` ends row `i`.
//!
//! After Grosser, Ramanujam, Pouchet, Sadayappan, Pop: Optimistic Delinearization of
//! Parametrically Sized Arrays, ICS 2015. Divergence: conditions are projected onto the
//! parameters exactly; strides may have constant factors, and sums of parameters in them.

use num_integer::gcd;
use tangram_presburger::formula::{Comparison, Expr, Formula};
use tangram_presburger::{Budget, Relation};

use super::Builder;
use super::relations::Relations;
use crate::Flat;
use crate::access::{Access, Accesses};
use crate::polynomial::{Monomial, Polynomial, divided};

/// More dimensions than this are not looked for.
const MOST_LEVELS: usize = 6;

/// Steps for the sizes that an array must have.
const MOST_STEPS: u64 = 300_000;

/// More pieces of a set of parameters than this are not tested.
const MOST_PIECES: usize = 12;

/// The strides of an array, the smallest first: products of parameters with a factor.
struct Strides {
    levels: Vec<(Monomial, i128)>,
}

impl Strides {
    /// Finds the strides that all subscripts of an array have in common.
    fn of(subscripts: &[&Polynomial], is_loop: impl Fn(&Expr) -> bool) -> Option<Self> {
        let mut parts: Vec<Monomial> = vec![Vec::new()];
        let mut constants: Vec<Monomial> = Vec::new();
        for monomial in subscripts.iter().flat_map(|subscript| subscript.terms.keys()) {
            let part: Monomial = monomial.iter().filter(|name| !is_loop(name)).cloned().collect();
            let all = if part.len() < monomial.len() { &mut parts } else { &mut constants };
            if !all.contains(&part) {
                all.push(part);
            }
        }
        // The last row, `(m - 1) * n`, is a multiple of the stride of loops over rows.
        let is_multiple = |whole: &Monomial| {
            let by = |part: &Monomial| divided(whole, part).is_some_and(|rest| rest.len() < 2);
            parts.iter().any(by)
        };
        constants.retain(|part| !is_multiple(part));
        parts.extend(constants);
        parts.sort_by_key(Vec::len);
        let chained = parts
            .windows(2)
            .all(|pair| divided(&pair[1], &pair[0]).is_some_and(|quotient| quotient.len() == 1));
        if parts.len() < 2 || parts.len() > MOST_LEVELS || !chained {
            return None;
        }
        let mut strides = Self { levels: parts.into_iter().map(|part| (part, 1)).collect() };
        let mut factors = vec![0; strides.levels.len()];
        for (monomial, factor) in subscripts.iter().flat_map(|subscript| &subscript.terms) {
            let level = strides.level(monomial);
            factors[level] = gcd(factors[level], *factor);
        }
        factors[0] = 1;
        let divisible = factors.windows(2).all(|pair| pair[0] != 0 && pair[1] % pair[0] == 0);
        if divisible && factors.last().is_some_and(|last| *last != 0) {
            for ((_, own), factor) in strides.levels.iter_mut().zip(factors) {
                *own = factor;
            }
        }
        Some(strides)
    }

    /// Returns the largest stride that divides a product.
    fn level(&self, monomial: &Monomial) -> usize {
        let divides = |(part, _): &(Monomial, i128)| divided(monomial, part).is_some();
        self.levels.iter().rposition(divides).unwrap_or_default()
    }

    /// Divides a subscript; the quotient of the largest stride comes first.
    fn quotients(&self, subscript: &Polynomial) -> Option<Vec<Expr>> {
        let mut quotients = vec![Polynomial::default(); self.levels.len()];
        for (monomial, factor) in &subscript.terms {
            let level = self.level(monomial);
            let (part, own) = &self.levels[level];
            if factor % own != 0 {
                return None;
            }
            let mut term = Polynomial::default();
            term.terms.insert(divided(monomial, part)?, factor / own);
            quotients[level] = std::mem::take(&mut quotients[level]).plus(&term, 1);
        }
        let is_below = quotients.iter().rev().map(is_negative).collect::<Vec<_>>();
        let all: Option<Vec<Expr>> = quotients.iter().rev().map(Polynomial::affine).collect();
        let mut all = all?;
        // The last element of row `i`, `i * n + n - 1`, is one before the first of row `i + 1`.
        for (at, extent) in
            self.extents().iter().enumerate().rev().filter(|(at, _)| is_below[at + 1])
        {
            all[at + 1] = all[at + 1].clone().plus_times(&1.into(), extent);
            all[at] = all[at].clone().plus_times(&(-1).into(), &Expr::constant(1));
        }
        Some(all)
    }

    /// Lists the parameters that are factors of strides.
    fn sizes(&self) -> Vec<String> {
        let factors = self.levels.last().into_iter().flat_map(|(part, _)| part);
        let mut sizes: Vec<String> =
            factors.filter_map(|factor| Some(factor.as_name()?.to_owned())).collect();
        sizes.dedup();
        sizes
    }

    /// Writes the strides as C, the largest first; nothing if one is no product of names.
    fn texts(&self) -> Option<Vec<String>> {
        let text = |(part, factor): &(Monomial, i128)| {
            let names: Option<Vec<&str>> = part.iter().map(Expr::as_name).collect();
            let mut text = format!("{factor}LL");
            names?.iter().for_each(|name| text.push_str(&format!(" * {name}")));
            Some(text)
        };
        self.levels.iter().rev().map(text).collect()
    }

    /// Returns the extents of all dimensions but the outermost.
    fn extents(&self) -> Vec<Expr> {
        let extent = |pair: &[(Monomial, i128)]| {
            let quotient = divided(&pair[1].0, &pair[0].0).unwrap_or_default().pop();
            quotient.unwrap_or(Expr::constant(1)).times(pair[1].1 / pair[0].1)
        };
        self.levels.windows(2).rev().map(extent).collect()
    }
}

/// Returns whether a quotient is negative for all names that are not: no subscript of its dimension.
fn is_negative(quotient: &Polynomial) -> bool {
    quotient.terms.get(&Vec::new()).is_some_and(|constant| *constant < 0)
        && quotient.terms.values().all(|factor| *factor < 0)
}

impl Builder<'_> {
    /// Gives arrays their dimensions; returns the parameters for which that is right, if these
    /// are not all.
    ///
    /// Where it is right for none, or `exactly` asks for all, accesses stay those of every place.
    pub(super) fn delinearise(&mut self, params: &[String], exactly: bool) -> Option<Relation> {
        let mut valid: Option<Relation> = None;
        for name in self.arrays.clone() {
            let Some(strides) = self.strides(&name) else { continue };
            // What takes longer is not worth it: accesses stay those of every place.
            let limit = Budget::steps(MOST_STEPS);
            let relations = Relations { params: params.to_vec(), budget: &limit };
            let Ok(Some(right)) = self.right_for(&name, &strides, &relations) else { continue };
            let limit = self.limit(&name);
            if exactly && limit.is_some() {
                continue;
            }
            if !right.is_empty() {
                let joined = self.joined(right, valid.as_ref(), &relations);
                let Some(all) = joined.ok().flatten().filter(|_| !exactly) else { continue };
                valid = Some(all);
            }
            self.give_dimensions(&name, &strides);
            let (sizes, strides) = (strides.sizes(), strides.texts().unwrap_or_default());
            self.flat.push(Flat { name, sizes, strides, limit });
        }
        for raw in &mut self.statements {
            raw.accesses.settle();
        }
        valid
    }

    /// Returns what subscripts of an array have to be below where they wrap around.
    fn limit(&self, name: &str) -> Option<i128> {
        let all = self.statements.iter().flat_map(|raw| raw.accesses.all());
        let own = all.filter(|access| access.array() == name && access.linear.is_some());
        own.filter_map(|access| Some(access.wraps.product?.greatest + 1)).min()
    }

    fn strides(&self, name: &str) -> Option<Strides> {
        let all = self.statements.iter().flat_map(|raw| raw.accesses.all());
        let subscripts: Vec<&Polynomial> =
            all.filter(|access| access.array() == name).filter_map(|a| a.linear.as_ref()).collect();
        let is_loop = |name: &str| {
            self.statements.iter().any(|raw| raw.loops.iter().any(|other| other == name))
        };
        Strides::of(&subscripts, |name| name.as_name().is_some_and(is_loop))
    }

    /// Lists sets of parameters in all of which no quotient leaves its extent; nothing if a
    /// subscript has products of names left.
    ///
    /// Parameters for which a statement does not run at all may be in its set or not, whatever
    /// makes it simpler.
    fn right_for(
        &self,
        name: &str,
        strides: &Strides,
        relations: &Relations,
    ) -> Result<Option<Vec<Relation>>, tangram_presburger::Error> {
        let mut all: Vec<Relation> = Vec::new();
        let budget = relations.budget;
        for raw in &self.statements {
            let such = |conditions: &[Formula]| {
                let conditions = conditions.iter().chain(&self.facts).cloned();
                relations.instances("", &raw.loops, conditions)?.params(budget)
            };
            for access in raw.accesses.all().filter(|access| access.array() == name) {
                let Some(subscript) = &access.linear else { continue };
                let Some(quotients) = strides.quotients(subscript) else { return Ok(None) };
                let mut conditions = raw.conditions.clone();
                conditions.push(access.condition.clone());
                let runs = such(&conditions)?;
                let outside = quotients[1..].iter().zip(strides.extents());
                let outside = outside.flat_map(|(quotient, extent)| {
                    let below = quotient.clone().compared(Comparison::Below, Expr::constant(0));
                    [below, quotient.clone().compared(Comparison::AtLeast, extent)]
                });
                conditions.push(Formula::any(outside));
                let wrong = such(&conditions)?;
                if !wrong.is_empty(budget)? {
                    let right = runs.subtract(&wrong, budget)?.gist(&runs, budget)?;
                    all.push(right);
                }
            }
        }
        Ok(Some(all))
    }

    /// Intersects sets of parameters; nothing if no statement runs for what is left, or if it
    /// takes too many conditions to test.
    fn joined(
        &self,
        mut right: Vec<Relation>,
        valid: Option<&Relation>,
        relations: &Relations,
    ) -> Result<Option<Relation>, tangram_presburger::Error> {
        let budget = relations.budget;
        right.extend(valid.cloned());
        let Some(mut all) = right.pop() else { return Ok(None) };
        for other in &right {
            all = all.intersect(other, budget)?.coalesce(budget)?;
        }
        let few = all.conjunctions().len() <= MOST_PIECES;
        Ok((few && self.has_instances(&all, relations)?).then_some(all))
    }

    /// Returns whether some statement runs for parameters of a set.
    pub(super) fn has_instances(
        &self,
        set: &Relation,
        relations: &Relations,
    ) -> Result<bool, tangram_presburger::Error> {
        for raw in &self.statements {
            let budget = relations.budget;
            let domain = relations.instances("", &raw.loops, raw.conditions.iter().cloned())?;
            if !domain.intersect_params(set, budget)?.is_empty(budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn give_dimensions(&mut self, name: &str, strides: &Strides) {
        let all = self.statements.iter_mut().flat_map(|raw| raw.accesses.all_mut());
        for access in all.filter(|access| access.array() == name) {
            let quotients = access.linear.as_ref().and_then(|linear| strides.quotients(linear));
            // A subscript that is no polynomial may stand for every place.
            access.exact &= quotients.is_some() || access.is_whole();
            access.pending &= quotients.is_none();
            access.subscripts = match quotients {
                Some(quotients) => quotients.into_iter().map(Some).collect(),
                None => vec![None; strides.levels.len()],
            };
        }
    }
}

impl Accesses {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Access> {
        let Self { reads, writes, may_writes, kills } = self;
        reads.iter().chain(writes).chain(may_writes).chain(kills)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut Access> {
        let Self { reads, writes, may_writes, kills } = self;
        reads.iter_mut().chain(writes).chain(may_writes).chain(kills)
    }

    /// Takes what stayed at every place for uncertain.
    fn settle(&mut self) {
        let is_certain = |access: &Access| access.exact && !access.pending;
        let (writes, other): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.writes).into_iter().partition(is_certain);
        self.writes = writes;
        self.may_writes.extend(other);
        self.kills.retain(is_certain);
    }
}
