//! The ranges of its arrays that a part uses, and what says of them that they are apart.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

use tangram_presburger::{Budget, Relation};

use super::bounds::{Bound, bounds, combined, params_of};
use super::place::{Place, Rows, Used};
use super::{own_text, param_type};
use crate::c_tokens::words;
use crate::contraction::affine;
use crate::names::Root;
use crate::{Declared, Flat, Part};

/// Steps for the ranges of one part.
const STEPS: u64 = 2_000_000;
/// More comparisons take longer than they save.
const MOST_PAIRS: usize = 24;

/// The ranges that a part uses of its variables.
pub(super) struct Ranges<'a> {
    part: &'a Part,
    prefix: &'a str,
    root: &'a Root,
    budget: Budget,
    /// The power of two within which parameters of 64 bits have to be so that what was written fits.
    pub most: Cell<u32>,
}

impl<'a> Ranges<'a> {
    pub fn of(part: &'a Part, prefix: &'a str, root: &'a Root) -> Self {
        Self { part, prefix, root, budget: Budget::steps(STEPS), most: Cell::new(64) }
    }

    /// Says of all variables that may overlap that they do not.
    pub fn apart(&self) -> Result<Vec<String>, String> {
        let part = self.part;
        let written = part.scop.may_writes.relations().map(|map| &map.space().output.name);
        let written: BTreeSet<&String> = written.collect();
        let changing: Vec<&String> = match part.around.reached.is_empty() {
            true => Vec::new(),
            false => part.around.anything.iter().filter(|name| written.contains(name)).collect(),
        };
        let count = part.overlaps.len() + changing.len() * part.around.reached.len();
        if count > MOST_PAIRS {
            return Err(format!(
                "{count} pairs of variables may overlap: `restrict` or `--no-alias` says that they do not"
            ));
        }
        let names = part.overlaps.iter().flat_map(|(a, b)| [a, b]);
        let names: BTreeSet<&String> = names.chain(changing.iter().copied()).collect();
        let mut known: HashMap<&str, Used> = HashMap::new();
        for name in &names {
            known.insert(name, self.uses(name).ok_or_else(|| self.unknown(name))?);
        }
        let used = |name: &String| known.get(name.as_str());
        let mut tests: Vec<String> =
            names.into_iter().filter_map(used).flat_map(Used::ordered).collect();
        for (a, b) in part.overlaps.iter().filter(|(a, b)| a != b) {
            let pair = used(a).zip(used(b));
            tests.extend(pair.into_iter().flat_map(|(a, b)| a.apart(b)));
        }
        for used in changing.into_iter().filter_map(used) {
            for pointer in &part.around.reached {
                if pointer.contains("[]") {
                    return Err(self.unknown(pointer));
                }
                tests.push(used.apart_from(&Place::whole(self.root, pointer)));
            }
        }
        Ok(tests)
    }

    /// Why nothing says where the elements of a variable lie.
    fn unknown(&self, name: &str) -> String {
        let text = own_text(self.part, name);
        if self.has_rows_apart(name) {
            return format!(
                "pointers lead to the rows of `{text}`, and nothing tests whether these overlap: \
                 `--no-alias` says that they do not"
            );
        }
        format!(
            "what it uses of `{text}` is not known, so nothing tests whether others overlap it: \
             `restrict` or `--no-alias` says that they do not"
        )
    }

    /// Says of arrays in one dimension that are read as several that no subscript wraps around.
    pub fn fitting(&self) -> Result<Vec<String>, String> {
        let mut tests = Vec::new();
        for flat in &self.part.flat {
            let Some(limit) = flat.limit else { continue };
            let used = self.used(&flat.name).filter(|_| !flat.strides.is_empty());
            let Some((start, end)) = used.and_then(|sets| self.range(&sets, 0)) else {
                return Err(format!(
                    "the subscripts of `{}` may wrap around: use a type with a sign, or one of 64 bits",
                    flat.name
                ));
            };
            if start.parse::<u64>().is_err() {
                tests.push(format!("{start} >= 0"));
            }
            // Without limits, nearly: no more is needed, as no array has so many elements.
            let stride = self.stride(flat).unwrap_or_default().replacen("ULL", ".0", 1);
            tests.push(format!("(double)({end}){stride} <= {:?}", limit.min(1 << 62) as f64));
        }
        Ok(tests)
    }

    /// Returns the cells that a part uses of a variable.
    fn used(&self, name: &str) -> Option<Vec<Relation>> {
        let scop = &self.part.scop;
        let all = [&scop.reads, &scop.may_writes].into_iter().flat_map(|union| union.relations());
        let used = all.filter(|map| map.space().output.name == name);
        used.map(|map| map.range(&self.budget).ok()).collect()
    }

    /// What an index of the outermost dimension is multiplied by.
    fn stride(&self, flat: &Flat) -> Option<String> {
        let stride = flat.strides.first()?.replacen("LL", "ULL", 1);
        let factors = stride.split(" * ").map(|factor| own_text(self.part, factor));
        Some(format!(" * ({})", factors.collect::<Vec<_>>().join(" * ")))
    }

    /// How a variable is declared.
    fn declared(&self, name: &str) -> Option<&'a Declared> {
        let part = self.part;
        let member = part.members.iter().find(|own| own.name == name).map(|own| &own.array);
        member.or_else(|| part.arrays.iter().find(|own| own.name == name))
    }

    /// Returns whether pointers lead to the rows of a variable.
    fn has_rows_apart(&self, name: &str) -> bool {
        self.declared(name).is_some_and(Declared::has_rows_apart)
    }

    /// Finds what is used of a variable; nothing if that is not bounded.
    fn uses(&self, name: &str) -> Option<Used> {
        let may_be_anything = self.part.around.anything.iter().any(|own| own == name);
        match self.has_rows_apart(name) {
            true => self.rows(name).map(|rows| Used::rows(rows, may_be_anything)),
            false => self.place(name).map(|place| Used::place(place, may_be_anything)),
        }
    }

    /// Finds what is used of rows that pointers lead to; nothing if that is not bounded, or if they
    /// lead to pointers again.
    fn rows(&self, name: &str) -> Option<Rows> {
        let (part, declared) = (self.part, self.declared(name)?);
        let text = own_text(part, name);
        let is_flat = part.flat.iter().any(|flat| flat.name == name);
        let deeper = declared.extents.iter().skip(2).any(String::is_empty);
        if is_flat || deeper || text.contains("[]") {
            return None;
        }
        let sets = self.used(name)?;
        if sets.iter().any(|set| set.space().output.dims.len() < 2) {
            return None;
        }
        let (first, end, absent) = self.every_row(&sets)?;
        let (from, to) = self.range(&sets, 1)?;
        let root = self.root.clone();
        Some(Rows { pointers: text, first, end, from, to, absent, root })
    }

    /// Bounds the rows that the source reads, if it reads each between the bounds, and says where it reads
    /// none; nothing if not.
    fn every_row(&self, sets: &[Relation]) -> Option<(String, String, Vec<String>)> {
        // What is read on a condition of data need not be there.
        let chooses = |text: &str| {
            ["?", "&&", "||"].iter().any(|sign| text.contains(sign))
                || words(text).any(|word| ["if", "switch", "for", "while", "do"].contains(&word))
        };
        if self.part.bodies.iter().any(|body| chooses(&body.text)) {
            return None;
        }
        let budget = &self.budget;
        let rank = |set: &Relation| set.space().output.dims.len();
        let rows = |set: &Relation| set.project_out(1..rank(set), budget).ok();
        let rows = sets.iter().map(rows).collect::<Option<Vec<_>>>()?;
        let names = params_of(&rows);
        let mut all = rows.iter().map(|set| set.align_params(&names).ok());
        let first = all.next()??;
        let all = all.try_fold(first, |union, set| union.union(&set?).ok())?;
        let hull = all.simple_hull(budget).ok()?;
        let parts = hull.narrow_conjunctions().ok()?;
        let [part] = &parts[..] else { return None };
        if !part.divisions.is_empty() || !hull.is_subset(&all, budget).ok()? {
            return None;
        }
        let [starts, ends] = bounds(std::slice::from_ref(&hull), 0, &names, budget)?;
        if starts.iter().chain(&ends).flatten().any(|(_, size)| *size != 1) {
            return None;
        }
        let (start, end) = self.range(&[hull], 0)?;
        let at = 1 + names.len();
        let params = self.part.parameters(&names, "long long");
        let mut absent = vec![format!("{end} <= {start}")];
        for row in part.inequalities.iter().filter(|row| row[at] == 0) {
            let mut terms = row[..at].to_vec();
            self.limit(&terms, &self.wide(&names));
            let constant = std::mem::take(&mut terms[0]);
            let text = format!("{} <= {}", affine(&terms, &params), -constant - 1);
            if !absent.contains(&text) {
                absent.push(text);
            }
        }
        for row in part.equalities.iter().filter(|row| row[at] == 0) {
            self.limit(&row[..at], &self.wide(&names));
            absent.push(format!("{} != 0", affine(&row[..at], &params)));
        }
        Some((start, end, absent))
    }

    /// Finds what is used of an array, a pointer's elements or a scalar.
    fn place(&self, name: &str) -> Option<Place> {
        let part = self.part;
        let member = part.members.iter().find(|member| member.name == name);
        let declared = part.arrays.iter().find(|array| array.name == name);
        let text = member.map_or(name, |member| &member.text);
        let pointer = text.split("[]").next().unwrap_or_default();
        let sets = self.used(name)?;
        let rank = sets.first().map_or(0, |set| set.space().output.dims.len());
        if rank == 0 && !text.contains("[]") {
            return Some(Place::whole(self.root, text));
        }
        let flat = part.flat.iter().find(|flat| flat.name == name);
        let stride = match flat {
            Some(flat) => self.stride(flat)?,
            None => String::new(),
        };
        let place = |(start, end): (String, String)| {
            let scaled = |text: String| match stride.is_empty() {
                true => text,
                false => format!("(unsigned long long)({text}){stride}"),
            };
            Place::elements(self.root, pointer, &scaled(start), &scaled(end))
        };
        // All of an array whose extents are known.
        let whole = || {
            let is_array = |own: &&Declared| own.extents.iter().all(|extent| !extent.is_empty());
            let own = declared.filter(is_array).filter(|_| member.is_none());
            own.filter(|own| !part.is_pointer(&own.name)).map(|_| Place::whole(self.root, text))
        };
        self.range(&sets, 0).map(place).or_else(whole)
    }

    /// Bounds dimension `dim` of all points: from the first one, and up to the last one, exclusive, as C
    /// over parameters.
    fn range(&self, sets: &[Relation], dim: usize) -> Option<(String, String)> {
        let names = params_of(sets);
        let params = self.part.parameters(&names, "long long");
        let [starts, ends] = bounds(sets, dim, &names, &self.budget)?;
        let wide = self.wide(&names);
        for (row, _) in starts.iter().chain(&ends).flatten() {
            self.limit(row, &wide);
        }
        let text = |all: Vec<Vec<Bound>>, inner: &str, outer: &str| {
            combined(all, (&params, self.prefix), inner, outer)
        };
        Some((text(starts, "max", "min")?, text(ends, "min", "max")?))
    }

    /// Says of each parameter whether it may have more than 32 bits.
    fn wide(&self, names: &[String]) -> Vec<bool> {
        let is_wide = |name: &String| param_type(self.part, name).greatest > i128::from(u32::MAX);
        names.iter().map(is_wide).collect()
    }

    /// Notes how large parameters may be for a row to fit into 64 bits.
    fn limit(&self, row: &[i128], wide: &[bool]) {
        let factors =
            row[1..].iter().zip(wide).filter(|(_, wide)| **wide).map(|(factor, _)| *factor);
        let sum: u128 = factors.map(i128::unsigned_abs).fold(0, u128::saturating_add);
        let alone = row[0] == 0 && row[1..].iter().filter(|factor| **factor != 0).eq([&1]);
        if sum > 0 && !alone {
            let bits = u128::BITS - (sum - 1).leading_zeros();
            self.most.set(self.most.get().min(61_u32.saturating_sub(bits)));
        }
    }
}
