//! Variables that become arrays, so that the sums in them are contractions.
//!
//! ```c
//! for (int i = 0; i < m; i++)
//!     for (int j = 0; j < n; j++) {
//!         double t = 0;                                   // t_all[i][j] = 0;
//!         for (int k = 0; k < i; k++)
//!             t += B[k][j] * A[i][k];                     // t_all[i][j] += B[k][j] * A[i][k];
//!         C[i][j] = beta * C[i][j] + alpha * t;           // .. + alpha * t_all[i][j];
//!     }
//! ```
//!
//! The array is allocated for the time that the part runs; where there is no memory for it, the
//! loops of the source run.

use std::borrow::Cow;
use std::collections::HashSet;

use tangram_polyhedral::Error;
use tangram_polyhedral::device::OnDevice;
use tangram_polyhedral::optimise::{Optimised, Recipe};
use tangram_polyhedral::schedule::Options;
use tangram_polyhedral::scop::Expanded;
use tangram_presburger::Budget;

use crate::c_tokens::{Token, tokens, words};
use crate::contraction::{affine, update};
use crate::{Body, Declared, Part};

/// What it may take to find one array.
const STEPS: u64 = 1_000_000;
/// An order with these arrays that costs less than this part of the source's is taken unseen others.
const SURELY: f64 = 0.5;

impl Part {
    /// Finds an order in which the part's loops run fast, as [`Scop::optimise`] does, also where
    /// it takes an array in the place of a variable. Returns the part that the order is of.
    ///
    /// # Errors
    /// As [`Scop::optimise`].
    ///
    /// [`Scop::optimise`]: tangram_polyhedral::scop::Scop::optimise
    pub fn optimise(
        &self,
        recipe: &Recipe,
        budget: &Budget,
    ) -> Result<(Cow<'_, Self>, Optimised), Error> {
        // What follows the part would not see variables that are declared in a branch.
        let may = recipe.contract && self.declared.is_empty();
        let may = may && recipe.tile.is_none() && !recipe.diamond;
        if may {
            let budget_of_tiles = &Budget::steps(STEPS);
            let has_tiles = |part: &Self, statement: usize| {
                let found = part.scop.has_tiles(statement, &recipe.machine, budget_of_tiles);
                found.unwrap_or_default()
            };
            let (part, sums) = self.expanded(3, &has_tiles);
            if !sums.is_empty()
                && let Ok(best) = part.scop.optimise(recipe, budget)
                && best.contractions.iter().any(|own| sums.contains(&own.statement))
            {
                return Ok((part, best));
            }
        }
        // The state of recurrences along rows in a variable keeps rows in their order.
        let of_state = if may { self.with_rows_of_state(recipe, budget) } else { None };
        if let Some((part, found)) =
            of_state.as_ref().filter(|(_, found)| found.ratio.is_some_and(|ratio| ratio < SURELY))
        {
            return Ok((Cow::Owned(part.clone()), found.clone()));
        }
        let best = self.scop.optimise(recipe, budget)?;
        if let Some((part, found)) = of_state
            && best.contractions.is_empty()
            && is_better(&found, &best)
        {
            return Ok((Cow::Owned(part), found));
        }
        // Sums of rows in a variable keep rows from running side by side.
        if may && !recipe.parallel && best.original && best.fallback.is_none() {
            let (part, sums) = self.expanded(2, &|_, _| true);
            if !sums.is_empty()
                && let Ok(found) = part.scop.optimise(recipe, budget)
                && !found.original
            {
                return Ok((part, found));
            }
        }
        Ok((Cow::Borrowed(self), best))
    }

    /// Expands all variables that recurrences along innermost loops keep their state in, and finds an
    /// order of what is then there; nothing if there are none.
    fn with_rows_of_state(&self, recipe: &Recipe, budget: &Budget) -> Option<(Self, Optimised)> {
        let mut part = None::<Self>;
        for statement in 0..self.scop.statements.len() {
            let own = part.as_ref().unwrap_or(self);
            let Some(variable) = words(&own.bodies[statement].text).next() else { continue };
            let name = own.unused(&format!("{variable}_all"));
            let found = own.scop.expanded_state(statement, &name, &Budget::steps(STEPS));
            if let Ok(Some(found)) = found
                && let Some(new) = own.with(found)
            {
                part = Some(new);
            }
        }
        let part = part?;
        // The part as it is must not find less than without this search, which has a budget of its own.
        let found = part.scop.optimise(recipe, &budget.share(100));
        let found = found.ok().filter(|found| !found.original)?;
        Some((part, found))
    }

    /// Finds kernels for a device, as [`Scop::on_device`] does, also where it takes an array in the
    /// place of a variable. Returns the part that they are of.
    ///
    /// # Errors
    /// As [`Scop::on_device`].
    ///
    /// [`Scop::on_device`]: tangram_polyhedral::scop::Scop::on_device
    pub fn on_device(
        &self,
        options: &Options,
        threads: &[i128],
        budget: &Budget,
    ) -> Result<(Cow<'_, Self>, OnDevice), Error> {
        let may = self.declared.is_empty();
        if may {
            let budget_of_tiles = &Budget::steps(STEPS);
            let has_tiles = |part: &Self, statement: usize| {
                part.scop.has_block_tiles(statement, threads, budget_of_tiles).unwrap_or_default()
            };
            let (part, sums) = self.expanded(3, &has_tiles);
            if !sums.is_empty()
                && let Ok(code) = part.scop.on_device(options, threads, budget)
                && code.tiles().any(|own| sums.contains(&own.contraction.statement))
            {
                return Ok((part, code));
            }
        }
        let code = self.scop.on_device(options, threads, budget)?;
        // A variable keeps what could be parallel on one thread.
        if may && code.kernels.iter().any(|kernel| !kernel.is_parallel()) {
            let (part, sums) = self.expanded(2, &|_, _| true);
            let alone = |code: &OnDevice| {
                let alone = code.kernels.iter().filter(|kernel| !kernel.is_parallel());
                alone.map(|kernel| kernel.statements.len()).sum::<usize>()
            };
            if !sums.is_empty()
                && let Ok(found) = part.scop.on_device(options, threads, budget)
                && alone(&found) < alone(&code)
            {
                return Ok((part, found));
            }
        }
        Ok((Cow::Borrowed(self), code))
    }

    /// Expands all variables that a statement of at least so many loops updates, if the new part is
    /// `good` for it; returns these statements.
    fn expanded(
        &self,
        loops: usize,
        good: &dyn Fn(&Self, usize) -> bool,
    ) -> (Cow<'_, Self>, Vec<usize>) {
        let (mut part, mut sums) = (Cow::Borrowed(self), Vec::new());
        for statement in 0..self.scop.statements.len() {
            let Some(operands) = &part.operands[statement] else { continue };
            if part.types[statement].len() < loops {
                continue;
            }
            let Some(array) = words(&operands.target).next() else { continue };
            let name = part.unused(&format!("{array}_all"));
            let budget = &Budget::steps(STEPS);
            let Ok(Some(found)) = part.scop.expanded(statement, &name, budget) else { continue };
            let Some(new) = part.with(found) else { continue };
            if good(&new, statement) {
                part = Cow::Owned(new);
                sums.push(statement);
            }
        }
        (part, sums)
    }

    /// A name that nothing in the part has, nor with `_at` behind it.
    fn unused(&self, start: &str) -> String {
        let mut taken: HashSet<&str> = self.bodies.iter().flat_map(|b| words(&b.text)).collect();
        taken.extend(self.scop.arrays.iter().map(|array| array.name.as_str()));
        for statement in &self.scop.statements {
            let space = statement.domain.space();
            taken.extend(space.params.iter().chain(&space.output.dims).map(String::as_str));
        }
        taken.extend(self.around.variables.iter().map(|variable| variable.name.as_str()));
        crate::names::unused(&taken, start)
    }

    /// Writes the statements of a part with an expanded array; nothing if one of them uses the array
    /// in a way that is not followed.
    fn with(&self, found: Expanded) -> Option<Self> {
        let Expanded { scop, array, statements, depth, params, extents, copies } = found;
        let declared = self.arrays.iter().find(|own| own.name == array)?.clone();
        let is_plain = !self.members.iter().any(|member| member.name == array)
            && !self.flat.iter().any(|flat| flat.name == array)
            && !declared.element.is_empty();
        let name = scop.arrays.last()?.name.clone();
        let (rank, mut part) = (declared.extents.len(), Self { scop, ..self.clone() });
        if !is_plain || extents.len() != depth + rank {
            return None;
        }
        let text_of = |at: usize, text: &str| {
            let dims = &self.scop.statements[at].domain.space().output.dims;
            within(text, &array, (&name, rank), dims.get(..depth)?)
        };
        for at in statements {
            let body = &mut part.bodies[at];
            if words(&body.text).any(|word| word == array) {
                body.text = text_of(at, &body.text)?;
            }
        }
        for of in copies {
            let Body { text, line } = &self.bodies[of];
            let target = assigned(text).filter(|target| words(target).next() == Some(&array))?;
            let text = format!("{target} = {}", text_of(of, target)?);
            part.bodies.push(Body { text, line: *line });
            part.types.push(part.types[of].clone());
            part.operands.push(None);
        }
        let params = part.parameters(&params, "long long");
        let texts = extents.iter().map(|row| affine(row, &params)).collect();
        let new = Declared { name, extents: texts, local: false, ..declared };
        part.allocated.push(new.clone());
        part.arrays.push(new);
        part.read_updates();
        let is_used = |name: &str| {
            let all = [&part.scop.reads, &part.scop.may_writes, &part.scop.kills];
            let mut all = all.into_iter().flat_map(|union| union.relations());
            all.any(|map| map.space().output.name == name)
        };
        if !is_used(&array) {
            part.arrays.retain(|own| own.name != array);
            part.scop.arrays.retain(|own| own.name != array);
        }
        Some(part)
    }

    /// Reads the statements again as updates, after their texts have changed.
    fn read_updates(&mut self) {
        for (at, statement) in self.scop.statements.iter_mut().enumerate() {
            let dims = &statement.domain.space().output.dims;
            let element = |name: &str| {
                let array = self.arrays.iter().find(|array| array.name == name)?;
                let types = &self.around.types;
                let known = types.iter().find(|(own, _)| *own == array.element);
                Some(known.map_or(&array.element, |(_, plain)| plain).clone())
            };
            if let Some(operands) = &mut self.operands[at]
                && words(&self.bodies[at].text)
                    .any(|word| self.allocated.last().is_some_and(|array| array.name == word))
            {
                let found = update(&self.bodies[at].text, dims, &element);
                match found {
                    Some((update, texts)) => {
                        (statement.update, *operands) = (Some(update), texts);
                    }
                    None => (statement.update, self.operands[at]) = (None, None),
                }
            }
        }
    }
}

/// Returns whether an order promises more than another one.
fn is_better(found: &Optimised, than: &Optimised) -> bool {
    let both = found.ratio.zip(than.ratio);
    !found.original && (than.original || both.is_some_and(|(found, than)| found < than))
}

/// Puts `new[i][j]` in the place of a name that has `rank` subscripts behind it; nothing if it stands
/// elsewhere, too.
fn within(text: &str, name: &str, (new, rank): (&str, usize), loops: &[String]) -> Option<String> {
    // A block could declare another variable of this name.
    if text.contains(['{', ';']) {
        return None;
    }
    let mut result = String::new();
    for (at, token) in tokens(text) {
        match token {
            Token::Name(word) if word == name => {
                let behind = text[at + word.len()..].trim_start();
                let before = text[..at].trim_end();
                let is_address = before.ends_with('&') && !before.ends_with("&&");
                if behind.starts_with('[') != (rank > 0) || is_address {
                    return None;
                }
                result.push_str(new);
                loops.iter().for_each(|name| result.push_str(&format!("[{name}]")));
            }
            Token::Name(word) | Token::Other(word) => result.push_str(word),
        }
    }
    Some(result)
}

/// Returns what an assignment writes: the text in front of its operator.
fn assigned(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, token) in tokens(text) {
        match token {
            Token::Other("[" | "(") => depth += 1,
            Token::Other("]" | ")") => depth = depth.checked_sub(1)?,
            Token::Other("=") if depth == 0 => {
                let operators = ['+', '-', '*', '/', '%', '&', '|', '^', '<', '>'];
                return Some(text[..at].trim_end_matches(operators).trim());
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_the_loops_of_their_statement() {
        let loops = ["i", "j"].map(str::to_owned);
        let new = |text| within(text, "t", ("t_all", 0), &loops);
        assert_eq!(new("t += A[i][k] * s.t").as_deref(), Some("t_all[i][j] += A[i][k] * s.t"));
        assert_eq!(new("t[k] = 0"), None);
        assert_eq!(new("p = &t"), None);
        assert_eq!(new("{ double t; t = 1; }"), None);
        let row = within("s[p] = s [0] && s[1]", "s", ("a", 1), &loops[..1]);
        assert_eq!(row.as_deref(), Some("a[i][p] = a[i] [0] && a[i][1]"));
    }

    #[test]
    fn targets_stand_in_front_of_the_operator() {
        assert_eq!(assigned("s[p == 1] += a == b"), Some("s[p == 1]"));
        assert_eq!(assigned("t <<= 2"), Some("t"));
        assert_eq!(assigned("t++"), None);
    }
}
