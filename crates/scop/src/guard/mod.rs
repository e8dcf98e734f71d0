//! When new code computes what the source does: conditions that it tests, and the types in which it
//! computes.
//!
//! Two things hold of the source's loops whatever the arguments are, and of others only for some:
//!
//! - *Nothing overflows.* New bounds are computed in 64 bits where the types of parameters and the loops
//!   around do not show that fewer do. Where 64 may not do either, as for parameters of type `long`,
//!   the parameters are compared with limits.
//! - *Arrays are what they are called.* A pointer may lead into another array, unless `restrict`
//!   says that it does not: the ranges that the part uses of both are compared. Of rows that pointers lead
//!   to, as those of `double **A`, each has to end before the next begins.
//!
//! Where a condition does not hold, the source's loops run. LLVM's Polly and gcc's vectoriser do the same.
//!
//! ```c
//! if (n <= (1LL << 48) && (TANGRAM_AT(a, n) <= TANGRAM_AT(b, 0) || TANGRAM_AT(b, n) <= TANGRAM_AT(a, 0))) {
//! ```

mod bounds;
mod place;
mod ranges;

use std::collections::HashMap;

use tangram_polyhedral::ast::{Ast, CStyle, ParamType};

use crate::c_integer::{INT, Range};
use crate::names::Root;
use crate::source::is_signed;
use crate::{Member, Part};
pub(crate) use place::{AT_DEFINITION, ROWS_DEFINITION};
use ranges::Ranges;

/// Powers of two that parameters of 64 bits are compared with, the first that is enough.
const LIMITS: [u32; 4] = [60, 48, 40, 32];

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
    /// `distinct`: whether arrays are known not to overlap. `root`: what new names begin with.
    pub fn of(
        part: &Part,
        ast: &Ast,
        style: &CStyle,
        (root, distinct): (&Root, bool),
    ) -> Result<Self, String> {
        let asts: Vec<&Ast> = part.test.iter().chain([ast]).collect();
        let mut plain = style.clone();
        plain.types.clear();
        let ranges = Ranges::of(part, &style.prefix, root);
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
