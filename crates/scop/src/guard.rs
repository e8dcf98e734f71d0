//! When new code computes what the source does: conditions that it tests, and the types in which it
//! computes.
//!
//! Two things hold of the source's loops whatever the arguments are, and of others only for some:
//!
//! - *Nothing overflows.* New bounds are computed in 64 bits where the types of parameters and the loops
//!   around do not show that fewer do. Where 64 may not do either, as for parameters of type `long`,
//!   the parameters are compared with limits.
//! - *Arrays are what they are called.* A pointer may lead into another array, unless `restrict`
//!   says that it does not: the ranges that the part uses of both are compared.
//!
//! Where a condition does not hold, the source's loops run. LLVM's Polly and gcc's vectoriser do the same.
//!
//! ```c
//! if (n <= (1LL << 48) && (TANGRAM_AT(a, n) <= TANGRAM_AT(b, 0) || TANGRAM_AT(b, n) <= TANGRAM_AT(a, 0))) {
//! ```

use std::cell::Cell;
use std::collections::HashMap;

use tangram_polyhedral::ast::{Ast, CStyle, ParamType};
use tangram_presburger::{Budget, Conjunction, Relation};

use crate::c_integer::{INT, Range};
use crate::contraction::affine;
use crate::source::is_signed;
use crate::{Declared, Flat, Member, Part};

/// Steps for the ranges of one part.
const STEPS: u64 = 2_000_000;
/// More comparisons take longer than they save.
const MOST_PAIRS: usize = 24;
/// Powers of two that parameters of 64 bits are compared with, the first that is enough.
const LIMITS: [u32; 4] = [60, 48, 40, 32];

/// What stands for the address of an element.
pub(crate) const AT: &str = "TANGRAM_AT";
/// Addresses are numbers here: no pointer leaves its array.
pub(crate) const AT_DEFINITION: &str = "\
#define TANGRAM_AT(p, i) ((unsigned long long)(p) + (unsigned long long)(i) * sizeof(*(p)))
";

/// What new code tests, and how it computes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard {
    /// That parameters are not too large.
    pub limits: Vec<String>,
    /// That arrays are apart, and that no subscript wraps around.
    pub apart: Vec<String>,
    /// The types of parameters, as they are written.
    pub types: HashMap<String, ParamType>,
}

impl Guard {
    /// Finds the conditions under which `ast` takes the place of a part; the error says why there are none.
    ///
    /// `distinct`: whether arrays are known not to overlap.
    pub fn of(part: &Part, ast: &Ast, style: &CStyle, distinct: bool) -> Result<Self, String> {
        let asts: Vec<&Ast> = part.test.iter().chain([ast]).collect();
        let mut plain = style.clone();
        plain.types.clear();
        let ranges = Ranges::of(part, &style.prefix);
        let mut apart = ranges.fitting()?;
        if !distinct {
            apart.extend(ranges.apart()?);
        }
        let (types, limits) = limits_of(part, &asts, &plain, ranges.most.get())?;
        let guard = Self { limits, apart, types };
        match guard.limits.is_empty() && guard.apart.is_empty() || part.declared.is_empty() {
            true => Ok(guard),
            false => Err("what follows uses variables that the part declares, so its own loops \
                          cannot stand beside new ones: declare them in front of it"
                .to_owned()),
        }
    }
}

/// Finds the types of the parameters of code, and limits for them where 64 bits are not enough, as C;
/// the error says that there are none.
///
/// `style.types`: those of other names. `most`: the power of two within which parameters have to be
/// in any case; 64 for none.
pub(crate) fn limits_of(
    part: &Part,
    asts: &[&Ast],
    style: &CStyle,
    most: u32,
) -> Result<(HashMap<String, ParamType>, Vec<String>), String> {
    let mut names: Vec<String> = asts.iter().flat_map(|ast| ast.params().to_vec()).collect();
    let domains = part.scop.statements.iter().map(|own| &own.domain.space().params);
    names.extend(domains.flatten().cloned());
    names.retain(|name| !style.types.contains_key(name));
    names.sort();
    names.dedup();
    let own = names.iter().map(|name| (name.clone(), param_type(part, name)));
    let types: HashMap<String, ParamType> = style.types.clone().into_iter().chain(own).collect();
    let fits = |types: &HashMap<String, ParamType>| {
        let mut style = style.clone();
        style.types.clone_from(types);
        asts.iter().all(|ast| ast.fits(&style))
    };
    let is_wide = |name: &String| types[name].greatest > i128::from(u32::MAX);
    let is_open = most < 64 && names.iter().any(is_wide);
    if names.is_empty() || (!is_open && fits(&types)) {
        return Ok((types, Vec::new()));
    }
    for limit in LIMITS.into_iter().filter(|limit| *limit <= most) {
        let (most, mut limited, mut limits) = (1_i128 << limit, types.clone(), Vec::new());
        for name in names.iter().filter(|name| is_wide(name)) {
            let Some(own) = limited.get_mut(name) else { continue };
            (own.least, own.greatest) = (own.least.max(-most), most);
            let text = own_text(part, name);
            if types[name].least < 0 {
                limits.push(format!("{text} >= -(1LL << {limit})"));
            }
            limits.push(format!("{text} <= (1LL << {limit})"));
        }
        if fits(&limited) {
            return Ok((limited, limits));
        }
    }
    Err("its new bounds may not fit into 64 bits".to_owned())
}

/// Returns a parameter as the source writes it.
fn own_text(part: &Part, name: &str) -> String {
    let member = part.members.iter().find(|member| member.name == name);
    member.map_or(name, |member| &member.text).to_owned()
}

/// Returns the values of a parameter, and how C computes with it as it is written.
fn param_type(part: &Part, name: &str) -> ParamType {
    let constants = part.around.enumerations.iter().flat_map(|own| &own.names);
    if constants.into_iter().any(|own| own == name) {
        let Range { least, greatest } = INT;
        return ParamType { least, greatest, wide: false };
    }
    let member = part.members.iter().find(|member| member.name == name);
    let variables = &part.around.variables;
    let declared = match member {
        Some(Member { array, .. }) => Some(array),
        None => variables.iter().find(|variable| variable.name == name),
    };
    let element = declared.map_or("", |own| own.element.as_str());
    let known = part.around.types.iter().find(|(own, _)| own == element);
    let element = known.map_or(element, |(_, plain)| plain);
    let Range { least, greatest } = Range::of(element);
    // Those without a sign are cast.
    let cast =
        part.unsigned.iter().any(|own| own == name) || (member.is_some() && !is_signed(element));
    ParamType {
        least,
        greatest,
        wide: cast || element.contains("int64_t") || element.contains("long long"),
    }
}

/// The ranges that a part uses of its variables.
struct Ranges<'a> {
    part: &'a Part,
    prefix: &'a str,
    budget: Budget,
    /// The power of two within which parameters of 64 bits have to be so that what was written fits.
    most: Cell<u32>,
}

impl<'a> Ranges<'a> {
    fn of(part: &'a Part, prefix: &'a str) -> Self {
        Self { part, prefix, budget: Budget::steps(STEPS), most: Cell::new(64) }
    }

    /// Says of all variables that may overlap that they do not.
    fn apart(&self) -> Result<Vec<String>, String> {
        let part = self.part;
        if part.overlaps.len() > MOST_PAIRS {
            let count = part.overlaps.len();
            return Err(format!(
                "{count} pairs of arrays may overlap: `restrict` or `--no-alias` says that they do not"
            ));
        }
        let mut known: HashMap<&str, Place> = HashMap::new();
        for name in part.overlaps.iter().flat_map(|(a, b)| [a, b]) {
            if !known.contains_key(name.as_str()) {
                let place = self.place(name).ok_or_else(|| {
                    let text = own_text(part, name);
                    if self.has_rows_apart(name) {
                        return format!(
                            "pointers lead to the rows of `{text}`, and nothing tests whether these \
                             overlap: `--no-alias` says that they do not"
                        );
                    }
                    format!(
                        "what it uses of `{text}` is not known, so nothing tests whether others \
                         overlap it: `restrict` or `--no-alias` says that they do not"
                    )
                })?;
                known.insert(name, place);
            }
        }
        let test = |(a, b): &(String, String)| {
            let (a, b) = known.get(a.as_str()).zip(known.get(b.as_str()))?;
            let ends = [a.at(&a.end), b.at(&b.start), b.at(&b.end), a.at(&a.start)];
            let [a_end, b_start, b_end, a_start] = ends;
            Some(format!("({a_end} <= {b_start} || {b_end} <= {a_start})"))
        };
        Ok(part.overlaps.iter().filter_map(test).collect())
    }

    /// Says of arrays in one dimension that are read as several that no subscript wraps around.
    fn fitting(&self) -> Result<Vec<String>, String> {
        let mut tests = Vec::new();
        for flat in &self.part.flat {
            let Some(limit) = flat.limit else { continue };
            let used = self.used(&flat.name).filter(|_| !flat.strides.is_empty());
            let Some((start, end)) = used.and_then(|sets| self.range(&sets)) else {
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

    /// Returns whether pointers lead to the rows of a variable.
    fn has_rows_apart(&self, name: &str) -> bool {
        let part = self.part;
        let members = part.members.iter().filter(|own| own.name == name).map(|own| &own.array);
        let arrays = part.arrays.iter().filter(|own| own.name == name);
        members.chain(arrays).any(Declared::has_rows_apart)
    }

    /// Finds what is used of a variable; nothing if that is not bounded.
    fn place(&self, name: &str) -> Option<Place> {
        let part = self.part;
        let member = part.members.iter().find(|member| member.name == name);
        let declared = part.arrays.iter().find(|array| array.name == name);
        let text = member.map_or(name, |member| &member.text);
        if self.has_rows_apart(name) {
            return None;
        }
        let pointer = text.split("[]").next().unwrap_or_default();
        let sets = self.used(name)?;
        let rank = sets.first().map_or(0, |set| set.space().output.dims.len());
        if rank == 0 && !text.contains("[]") {
            return Some(Place::whole(text));
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
            Place { pointer: pointer.to_owned(), start: scaled(start), end: scaled(end) }
        };
        // All of an array whose extents are known.
        let whole = || {
            let is_array = |own: &&Declared| own.extents.iter().all(|extent| !extent.is_empty());
            let own = declared.filter(is_array).filter(|_| member.is_none());
            own.filter(|own| !part.is_pointer(&own.name)).map(|_| Place::whole(text))
        };
        self.range(&sets).map(place).or_else(whole)
    }

    /// Bounds the first dimension of all points: from the first one, and up to the last one, exclusive,
    /// as C over parameters.
    fn range(&self, sets: &[Relation]) -> Option<(String, String)> {
        let names = params_of(sets);
        let params = self.part.parameters(&names, "long long");
        let [starts, ends] = bounds(sets, &names, &self.budget)?;
        let wide: Vec<bool> = names
            .iter()
            .map(|name| param_type(self.part, name).greatest > i128::from(u32::MAX))
            .collect();
        for (row, _) in starts.iter().chain(&ends).flatten() {
            self.limit(row, &wide);
        }
        let text = |all: Vec<Vec<Bound>>, inner: &str, outer: &str| {
            combined(all, (&params, self.prefix), inner, outer)
        };
        Some((text(starts, "max", "min")?, text(ends, "min", "max")?))
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

/// What a part uses of a variable.
struct Place {
    /// A pointer to elements or rows.
    pointer: String,
    /// How many of them, as C, lie in front of the first used one, and up to the last one.
    start: String,
    end: String,
}

impl Place {
    fn whole(text: &str) -> Self {
        Self { pointer: format!("&{text}"), start: "0".into(), end: "1".into() }
    }

    fn at(&self, index: &str) -> String {
        format!("{AT}({}, {index})", self.pointer)
    }
}

fn params_of(sets: &[Relation]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in sets.iter().flat_map(|set| &set.space().params) {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    all
}

/// A bound: a row over `[constant, parameters..]`, and what it is divided by.
type Bound = (Vec<i128>, i128);

/// Lists the lower and the upper bounds of the first dimension of each set.
fn bounds(sets: &[Relation], names: &[String], budget: &Budget) -> Option<[Vec<Vec<Bound>>; 2]> {
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    let at = 1 + names.len();
    for set in sets {
        let set = set.align_params(names).ok()?;
        let rank = set.space().output.dims.len();
        let first = if rank > 1 { set.real_shadow(1..rank, budget).ok()? } else { set };
        // Of `20 j + i` for every third `j`, all that lies between the ends.
        let divides = |part: &Conjunction<i128>| !part.divisions.is_empty();
        let first = match first.narrow_conjunctions().ok()?.iter().any(divides) {
            true => first.rational(budget).and_then(|all| all.integer_points(budget)).ok()?,
            false => first,
        };
        for part in first.narrow_conjunctions().ok()? {
            let opposite = |row: &Vec<i128>| row.iter().map(|value| -value).collect::<Vec<_>>();
            let equalities = part.equalities.iter();
            let rows = equalities.flat_map(|row| [row.clone(), opposite(row)]);
            let rows = rows.chain(part.inequalities.iter().cloned());
            // Of a stride, the bounds alone count.
            let rows: Vec<Vec<i128>> =
                rows.filter(|row| row[at + 1..].iter().all(|value| *value == 0)).collect();
            let side = |sign: i128| -> Vec<Bound> {
                rows.iter().filter(|row| row[at] * sign > 0).map(|row| bound(row, at)).collect()
            };
            starts.push(strongest(side(1), true));
            ends.push(strongest(side(-1), false));
        }
    }
    Some([starts, ends])
}

/// Writes the `outer` of the `inner` of the bounds of each set.
fn combined(
    all: Vec<Vec<Bound>>,
    (params, prefix): (&[String], &str),
    inner: &str,
    outer: &str,
) -> Option<String> {
    let all = match all.iter().all(|one| one.len() == 1) {
        true => strongest(all.into_iter().flatten().collect(), outer == "max")
            .into_iter()
            .map(|one| vec![one])
            .collect(),
        false => all,
    };
    let mut texts = Vec::new();
    for bounds in all {
        let list = bounds.iter().map(|own| written(own, params, prefix)).collect();
        texts.push(joined(&format!("{prefix}{inner}"), list)?);
    }
    texts.sort();
    texts.dedup();
    joined(&format!("{prefix}{outer}"), texts)
}

/// Leaves out bounds that differ from another one by a number alone; `greatest`: the greatest one
/// counts, else the least one.
fn strongest(all: Vec<Bound>, greatest: bool) -> Vec<Bound> {
    let mut found: Vec<Bound> = Vec::new();
    for (row, size) in all {
        let same = |(own, by): &&mut Bound| own[1..] == row[1..] && *by == size;
        match found.iter_mut().find(same) {
            Some((own, _)) if greatest => own[0] = own[0].max(row[0]),
            Some((own, _)) => own[0] = own[0].min(row[0]),
            None => found.push((row, size)),
        }
    }
    found
}

/// Reads what a row says of the variable at `at`: the least value, or one more than the greatest.
fn bound(row: &[i128], at: usize) -> Bound {
    let factor = row[at];
    let (size, mut rest) = (factor.abs(), row[..at].to_vec());
    if factor > 0 {
        rest.iter_mut().for_each(|value| *value = -*value);
        // Rounded up.
        rest[0] += size - 1;
    } else {
        rest[0] += size;
    }
    (rest, size)
}

fn written((row, size): &Bound, params: &[String], prefix: &str) -> String {
    match size {
        1 => affine(row, params),
        size => format!("{prefix}floord({}, {size})", affine(row, params)),
    }
}

fn joined(name: &str, list: Vec<String>) -> Option<String> {
    let (numbers, mut rest): (Vec<String>, Vec<String>) =
        list.into_iter().partition(|text| text.parse::<i128>().is_ok());
    let numbers = numbers.iter().filter_map(|text| text.parse::<i128>().ok());
    let one = if name.ends_with("min") { numbers.min() } else { numbers.max() };
    rest.extend(one.map(|one| one.to_string()));
    rest.into_iter().reduce(|a, b| format!("{name}({a}, {b})"))
}
