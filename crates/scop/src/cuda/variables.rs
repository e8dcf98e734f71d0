//! Where the variables of a part are on host and device.

use std::collections::{BTreeSet, HashMap};

use tangram_polyhedral::ast::Ast;
use tangram_polyhedral::device::OnDevice;
use tangram_polyhedral::scop::Scop;
use tangram_presburger::formula::{Comparison, Expr, Formula};
use tangram_presburger::{Budget, Error, Relation, Space, Tuple, Union};

use super::text::Form;
use super::{Variables, problem};
use crate::c_tokens::words;
use crate::names::Root;
use crate::polynomial::Polynomial;
use crate::{Declared, Part, Problem};

/// What a variable is to host and device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A number that kernels get as it is.
    Value,
    /// Cells on the device.
    Buffer {
        /// Whether the host's cells are copied to the device first.
        reads: bool,
        /// Whether they are copied back.
        writes: bool,
        /// Whether the host has such cells.
        outside: bool,
    },
    /// A variable of which each thread has its own.
    Private,
    /// Something that only the host uses.
    Host,
}

/// A variable of a part.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub name: String,
    pub element: String,
    pub extents: Vec<String>,
    pub role: Role,
    /// Whether it is a parameter of the host function.
    pub parameter: bool,
    /// How many elements there are, where no declaration tells.
    pub size: Size,
}

/// How many elements an array has.
#[derive(Debug, Clone)]
pub(super) enum Size {
    /// The product of its extents.
    Declared,
    /// As many rows as are used: code that finds the last one.
    Rows(Ast),
    /// All up to the last one of each dimension: code that finds it, and how many elements lie
    /// from one to the next.
    Strided(Vec<(Ast, String)>),
}

impl Variable {
    /// Returns the argument of a kernel.
    pub fn kernel_argument(&self) -> String {
        let Self { element, name, .. } = self;
        match self.role {
            Role::Buffer { .. } => format!("{element} *{name}"),
            _ => format!("{element} {name}"),
        }
    }

    /// Returns whether the place of each cell is a number of 32 bits.
    pub fn is_small(&self) -> bool {
        let extent = |text: &String| text.parse::<i64>().ok().filter(|value| *value >= 0);
        let product = self.extents.iter().try_fold(1_i64, |all, own| all.checked_mul(extent(own)?));
        product.is_some_and(|all| all <= i64::from(i32::MAX))
    }

    /// Returns the declaration of a private variable.
    pub fn declaration(&self) -> String {
        let extents: String = self.extents.iter().map(|extent| format!("[{extent}]")).collect();
        format!("{} {}{extents}", self.element, self.name)
    }
}

/// Words that C++ keeps for itself.
pub(super) const KEPT: &[&str] = &[
    "and",
    "catch",
    "class",
    "compl",
    "delete",
    "explicit",
    "export",
    "friend",
    "mutable",
    "namespace",
    "new",
    "not",
    "operator",
    "or",
    "private",
    "protected",
    "public",
    "template",
    "this",
    "throw",
    "try",
    "typename",
    "using",
    "virtual",
    "xor",
    // What kernels name.
    "blockDim",
    "blockIdx",
    "gridDim",
    "threadIdx",
];

impl Variables {
    /// Finds out where everything that a part uses has its place.
    pub fn of(part: &Part, code: &OnDevice, root: &Root, budget: &Budget) -> Result<Self, Problem> {
        if !code.is_parallel() {
            let message = "no loop of the part is parallel: nothing is shared out to threads";
            return Err(problem(part, message.to_owned()));
        }
        let around = &part.around;
        let failed = |error: tangram_polyhedral::Error| problem(part, error.to_string());
        let live_in = arrays(&part.scop.live_in(budget).map_err(failed)?, budget);
        let live_out = arrays(&part.scop.live_out(budget).map_err(failed)?, budget);
        let written = arrays(&part.scop.may_writes, budget);
        let is_outer = |name: &str| around.parameters.iter().any(|other| other.name == name);
        let whole = around.whole && around.variables.iter().all(|v| is_outer(&v.name));
        let mut outer: Vec<Declared> = around.parameters.clone();
        if !whole {
            outer.retain(|p| around.variables.iter().any(|v| v.name == p.name));
            outer.extend(around.variables.iter().filter(|v| !is_outer(&v.name)).cloned());
            add_extents(&mut outer, part);
        }
        let mut all = Vec::new();
        for array in &outer {
            let name = &array.name;
            let used = part.scop.arrays.iter().any(|a| a.name == *name);
            let is_written = written.contains(name);
            let role = if !array.extents.is_empty() && !used {
                Role::Host
            } else if array.extents.is_empty() && !is_written {
                Role::Value
            } else {
                let whole = is_written && covers(&part.scop, array, budget);
                let reads = live_in.contains(name) || (is_written && !whole);
                Role::Buffer { reads, writes: live_out.contains(name), outside: true }
            };
            all.push(Variable::of(array, role, true));
        }
        let known = |name: &str| part.scop.arrays.iter().find(|array| array.name == name);
        let pairs = part.arrays.iter().filter_map(|array| Some((array, known(&array.name)?)));
        for (array, known) in pairs.filter(|(array, _)| array.local) {
            let role = match (known.kept && !whole, code.private.contains(&array.name)) {
                (true, _) => Role::Buffer { reads: true, writes: true, outside: true },
                (_, true) => Role::Private,
                _ => Role::Buffer { reads: false, writes: false, outside: false },
            };
            all.push(Variable::of(array, role, known.kept && !whole));
        }
        for array in &part.allocated {
            let role = Role::Buffer { reads: false, writes: false, outside: false };
            let mut variable = Variable::of(array, role, false);
            // Loops that do not run may leave it less than nothing.
            for extent in &mut variable.extents {
                *extent = format!("{}max(0, {extent})", root.lower());
            }
            all.push(variable);
        }
        for variable in &mut all {
            variable.check(part, budget)?;
        }
        Ok(Self { all, whole })
    }

    /// Returns how statements write the variables.
    pub fn forms(&self) -> HashMap<String, Form> {
        let form = |variable: &Variable| match variable.role {
            Role::Buffer { .. } if variable.extents.is_empty() => Some(Form::Cell),
            Role::Buffer { .. } if variable.extents.len() > 1 => {
                let (extents, narrow) = (variable.extents.clone(), variable.is_small());
                Some(Form::Flat { extents, narrow })
            }
            _ => None,
        };
        let forms = self.all.iter().filter_map(|v| Some((v.name.clone(), form(v)?)));
        forms.collect()
    }
}

impl Variable {
    fn of(array: &Declared, role: Role, parameter: bool) -> Self {
        Self {
            name: array.name.clone(),
            element: array.element.replace("_Bool", "bool"),
            extents: array.extents.clone(),
            role,
            parameter,
            size: Size::Declared,
        }
    }

    /// Checks that the device can have it, and finds the size that no declaration tells.
    fn check(&mut self, part: &Part, budget: &Budget) -> Result<(), Problem> {
        let wrong = |message: String| Err(problem(part, message));
        let name = self.name.clone();
        if KEPT.contains(&name.as_str()) || ["bool", "true", "false"].contains(&name.as_str()) {
            return wrong(format!("`{name}` is a word of CUDA's language: use another name"));
        }
        if self.role == Role::Host {
            return Ok(());
        }
        if !is_number(&self.element, part) {
            let element = &self.element;
            return wrong(format!("`{name}` is of type `{element}`: only numbers can be copied"));
        }
        if self.extents.iter().skip(1).any(String::is_empty) {
            return wrong(format!(
                "`{name}` is an array of pointers, which cannot be copied at once"
            ));
        }
        let loops: BTreeSet<&str> = part
            .scop
            .statements
            .iter()
            .flat_map(|s| s.domain.space().output.dims.iter().map(String::as_str))
            .collect();
        if self.extents.iter().any(|extent| words(extent).any(|word| loops.contains(word))) {
            return wrong(format!("the size of `{name}` depends on a loop around it"));
        }
        if self.extents.first().is_some_and(String::is_empty) {
            let found = self.used(part, budget);
            let found = found.map_err(|error| problem(part, error.to_string()))?;
            let Some(size) = found else {
                return wrong(format!(
                    "how much of `{name}` is used is not known: declare it with its size"
                ));
            };
            self.size = size;
        }
        Ok(())
    }

    /// Finds how much of an array is used.
    fn used(
        &self,
        part: &Part,
        budget: &Budget,
    ) -> Result<Option<Size>, tangram_polyhedral::Error> {
        let last = |dim| part.scop.last_used(&self.name, dim, budget);
        let Some(flat) = part.flat.iter().find(|flat| flat.name == self.name) else {
            return Ok(last(0)?.map(Size::Rows));
        };
        let mut places = Vec::new();
        for (dim, stride) in flat.strides.iter().enumerate() {
            let Some(last) = last(dim)? else { return Ok(None) };
            places.push((last, stride.clone()));
        }
        Ok((!places.is_empty()).then_some(Size::Strided(places)))
    }
}

/// Names the arrays of accesses that there are.
fn arrays(accesses: &Union, budget: &Budget) -> BTreeSet<String> {
    let there = accesses.relations().filter(|map| !map.is_empty(budget).unwrap_or(false));
    there.map(|map| map.space().output.name.clone()).collect()
}

/// Returns whether a part certainly writes every cell of an array.
fn covers(scop: &Scop, array: &Declared, budget: &Budget) -> bool {
    let affine = |extent: &String| Polynomial::read(extent)?.affine();
    // An extent that is not affine says nothing.
    let Some(extents) = array.extents.iter().map(affine).collect::<Option<Vec<Expr>>>() else {
        return false;
    };
    let params: BTreeSet<&str> = extents.iter().flat_map(Expr::names).collect();
    let space = Space::set(
        params.into_iter().map(str::to_owned).collect(),
        Tuple { name: array.name.clone(), ..Tuple::anonymous(extents.len()) },
    );
    let within = |(at, extent): (usize, &Expr)| {
        let lower = Expr::output(at).compared(Comparison::AtLeast, Expr::constant(0));
        [lower, Expr::output(at).compared(Comparison::Below, extent.clone())]
    };
    let within = Formula::all(extents.iter().enumerate().flat_map(within));
    let missing = || -> Result<bool, Error> {
        let cells = Union::from(Relation::such_that(space, &within, budget)?);
        cells.subtract(&scop.must_writes.range(budget)?, budget)?.is_empty(budget)
    };
    missing().unwrap_or(false)
}

/// Adds the variables that extents of others use.
fn add_extents(outer: &mut Vec<Declared>, part: &Part) {
    let texts: Vec<String> = outer.iter().flat_map(|array| array.extents.clone()).collect();
    for word in texts.iter().flat_map(|text| words(text)) {
        let known = part.around.parameters.iter().find(|array| array.name == word);
        if let Some(array) = known.filter(|_| outer.iter().all(|array| array.name != word)) {
            outer.insert(0, array.clone());
        }
    }
}

fn is_number(element: &str, part: &Part) -> bool {
    const WORDS: &[&str] =
        &["int", "long", "short", "char", "signed", "unsigned", "float", "double", "_Bool", "bool"];
    let named = |word: &str| part.around.types.iter().find(|(name, _)| name == word);
    let is_word = |word: &str| WORDS.contains(&word) || super::is_standard(word);
    let is_plain = |words: &str| !words.is_empty() && words.split_whitespace().all(is_word);
    let fits = element
        .split_whitespace()
        .all(|word| named(word).map_or(is_word(word), |(_, meaning)| is_plain(meaning)));
    let long_double = element.contains("long") && element.contains("double");
    fits && !long_double
}
