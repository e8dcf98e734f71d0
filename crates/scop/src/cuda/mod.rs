//! CUDA in the place of parts: kernels, and host functions that launch them.
//!
//! A host function copies to the device what the part reads from before and what it writes
//! in pieces, launches kernels, and copies back what is still there behind the part. If the
//! part is all that a function does, the host function has its name and parameters, so that
//! the generated file is linked in the place of the source; otherwise it is one of its own,
//! and a comment shows how to call it.
//!
//! ```text
//! __global__ void f_kernel0(int n, double *x) { ... x[c0] = 2 * x[c0]; }
//! extern "C" void f(int n, double *x) { /* copy, f_kernel0<<<...>>>(n, device_x), copy */ }
//! ```
//!
//! Arrays are flat on the device: `a[i][j]` of `double a[n][m]` is `a[i * m + j]`.

mod file;
mod host;
mod text;
mod tiles;
mod variables;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use tangram_polyhedral::ast::{Ast, AstOptions, CStyle, KernelHead, ParamType};
use tangram_polyhedral::device::{Kernel, OnDevice};
use tangram_presburger::Budget;

use crate::c_tokens::{replaced, words};
use crate::declare::is_small;
use crate::guard::limits_of;
use crate::names::Root;
use crate::{Part, Problem};
use file::{Output, is_standard};
use text::Form;
use tiles::BlockCode;
use variables::{Role, Variable};

/// The power of two within which parameters are where kernels get numbers that loops of the host compute
/// of them.
const MOST: u32 = 48;

/// Writes a file in CUDA with a host function for each part.
///
/// `origin` is what a comment at the start calls the source. Linear in the texts but for
/// the set operations that find what is copied.
///
/// # Errors
/// The [`Problem`] of the first part that has no place on a device: without parallel loops,
/// with data that is no array of numbers of a known size, or with functions of its own.
pub fn cuda(
    origin: &str,
    parts: &[(&Part, &OnDevice)],
    budget: &Budget,
) -> Result<String, Problem> {
    written(origin, parts, Output::Program, budget)
}

/// Writes the kernels of parts in a file that stands alone: it includes nothing, as a compiler at run
/// time has no headers. A comment behind those of a part says how the host launches them.
///
/// # Errors
/// As [`cuda`].
pub fn device_code(
    origin: &str,
    parts: &[(&Part, &OnDevice)],
    budget: &Budget,
) -> Result<String, Problem> {
    written(origin, parts, Output::Kernels, budget)
}

fn written(
    origin: &str,
    parts: &[(&Part, &OnDevice)],
    output: Output,
    budget: &Budget,
) -> Result<String, Problem> {
    let (mut bodies, mut names) = (String::new(), BTreeSet::new());
    let used: HashSet<&str> = parts.iter().flat_map(|(part, _)| words_of(part)).collect();
    let root = Root::of(&used, &HashSet::new());
    for (index, (part, code)) in parts.iter().enumerate() {
        check(part)?;
        let mut name = part.function.clone();
        let variables = Variables::of(part, code, &root, budget)?;
        if !variables.whole {
            name = format!("{}_part{}", part.function, index + 1);
        }
        if !names.insert(name.clone()) {
            return Err(problem(part, format!("`{name}` would be there twice")));
        }
        let writer = Writer::new((part, code), name, variables, (&root, output), budget)?;
        let (first, last) = (part.first_line, part.last_line);
        let _ = writeln!(bodies, "\n/* {}, lines {first} to {last}. */", part.function);
        bodies.push_str(&writer.kernels()?);
        bodies.push_str(&match output {
            Output::Program => writer.host_function(),
            Output::Kernels => writer.launch_comment(),
        });
    }
    let all: Vec<&Part> = parts.iter().map(|(part, _)| *part).collect();
    Ok(file::head(origin, &all, &bodies, (&root, output)) + &bodies)
}

/// All names that a part has: of statements, of variables with their types and extents, of loops.
fn words_of(part: &Part) -> HashSet<&str> {
    let texts = part.bodies.iter().flat_map(|body| words(&body.text));
    let loops = part.scop.statements.iter().map(|own| own.domain.space());
    let loops = loops.flat_map(|space| space.output.dims.iter().chain(&space.params));
    let around = &part.around;
    let declared = part.arrays.iter().chain(&around.parameters).chain(&around.variables);
    let declared = declared.flat_map(|own| {
        let texts = own.extents.iter().chain([&own.element]).flat_map(|text| words(text));
        texts.chain([own.name.as_str()])
    });
    let types = around.types.iter().map(|(name, _)| name);
    let constants = around.enumerations.iter().flat_map(|own| &own.names);
    let names = loops.chain(types).chain(constants).chain([&part.function]);
    texts.chain(declared).chain(names.map(String::as_str)).collect()
}

/// Says what of a part has no place on a device.
fn check(part: &Part) -> Result<(), Problem> {
    let finals = part.finals.iter().map(|own| &own.name);
    if let Some(ended) = part.ended.iter().chain(finals).next() {
        let reason = "has a value that is needed behind its loop: declare it in the loop";
        return Err(problem(part, format!("the loop variable `{ended}` {reason}")));
    }
    if let Some(member) = part.members.first() {
        let reason = "is a member of a structure: copy it to a variable of its own";
        return Err(problem(part, format!("`{}` {reason}", member.text)));
    }
    if let Some(check) = part.checks.first() {
        let reason = "has no place beside kernels: leave assertions out with `-DNDEBUG`";
        return Err(problem(part, format!("`{check}` {reason}")));
    }
    Ok(())
}

fn problem(part: &Part, message: String) -> Problem {
    Problem::new(part.first_line, message)
}

/// The variables of a part, and what their places on host and device are.
struct Variables {
    /// In the order of the host function's parameters.
    all: Vec<Variable>,
    /// The host function's parameters, as positions in `all`.
    whole: bool,
}

/// Writes the code of one part.
struct Writer<'a> {
    part: &'a Part,
    code: &'a OnDevice,
    /// The host function.
    name: String,
    variables: Variables,
    /// The source's loops, if parameters may not be those that the kernels are right for.
    original: Option<Ast>,
    /// That parameters are not too large, as C.
    limits: Vec<String>,
    /// The types of parameters and of units.
    types: HashMap<String, ParamType>,
    output: Output,
    /// What stands before `floord`, `min` and `max`, of which CUDA has functions, and before other names
    /// that the file shares.
    root: &'a Root,
}

impl<'a> Writer<'a> {
    fn new(
        (part, code): (&'a Part, &'a OnDevice),
        name: String,
        variables: Variables,
        (root, output): (&'a Root, Output),
        budget: &Budget,
    ) -> Result<Self, Problem> {
        let (limits, types) = (Vec::new(), HashMap::new());
        let original = None;
        let mut own = Self { part, code, name, variables, original, limits, types, output, root };
        let mut style = own.style();
        style.types = own.unit_types();
        let asts = code.kernels.iter().map(|kernel| &kernel.ast).chain([&code.host]);
        let asts: Vec<&Ast> = asts.chain(&part.test).collect();
        let on_host = code.kernels.iter().any(|kernel| !kernel.outer.is_empty());
        let found = limits_of(part, &asts, &style, if on_host { MOST } else { 64 });
        (own.types, own.limits) = found.map_err(|why| problem(part, why))?;
        if part.test.is_some() || !own.limits.is_empty() {
            let ast = Ast::of_tree(&part.scop.schedule, None, &AstOptions::default(), budget);
            own.original = Some(ast.map_err(|error| part.problem(error.to_string()))?);
        }
        Ok(own)
    }
}

impl Writer<'_> {
    /// The values of what is no parameter of the source: places of blocks and threads, and iterators of
    /// the host's loops.
    fn unit_types(&self) -> HashMap<String, ParamType> {
        let mut types = HashMap::new();
        for launch in self.code.kernels.iter().map(|kernel| &kernel.launch) {
            let (blocks, threads) = (launch.blocks(), launch.threads());
            for (letter, sizes) in [("b", blocks), ("t", threads)] {
                for (at, size) in sizes.into_iter().enumerate() {
                    let own = types.entry(format!("{letter}{at}"));
                    let own = own.or_insert(ParamType { least: 0, greatest: 0, wide: true });
                    own.greatest = own.greatest.max(size - 1);
                }
            }
        }
        for name in self.code.kernels.iter().flat_map(|kernel| &kernel.outer) {
            // Times a small factor, and a little more.
            let most = 1 << (MOST + 8);
            types.insert(name.clone(), ParamType { least: -most, greatest: most, wide: true });
        }
        types
    }

    fn style(&self) -> CStyle {
        let mut style = CStyle::default();
        style.types.clone_from(&self.types);
        style.index = "long long".into();
        style.indent = "    ".into();
        style.prefix = self.root.lower().into();
        let used = self.words();
        style.iterator = crate::names::free(&used, &["c", "t", "it"], &self.root.text("tangram_c"));
        let outer = self.code.kernels.iter().flat_map(|kernel| &kernel.outer);
        for unit in ["b0", "b1", "t0", "t1"].into_iter().chain(outer.map(String::as_str)) {
            if used.contains(unit) {
                style.params.insert(unit.into(), format!("{}{unit}", self.root.lower()));
            }
        }
        for name in &self.part.unsigned {
            style.params.insert(name.clone(), format!("((long long){name})"));
        }
        style
    }

    fn kernel_name(&self, kernel: &Kernel) -> String {
        format!("{}_kernel{}", self.name, kernel.name.trim_start_matches('K'))
    }

    fn kernels(&self) -> Result<String, Problem> {
        let wide = self.style();
        let forms = self.variables.forms();
        for body in &self.part.bodies {
            text::check(&body.text).map_err(|message| Problem::new(body.line, message))?;
        }
        let mut all = String::new();
        for kernel in &self.code.kernels {
            let mut style = wide.clone();
            if self.is_narrow(kernel, &wide) {
                style.index = "int".into();
            }
            let arguments = kernel
                .outer
                .iter()
                .map(|name| format!("long long {}", style.params.get(name).unwrap_or(name)));
            let arguments = arguments.chain(self.used(kernel).map(Variable::kernel_argument));
            let own = self.variables.all.iter().filter(|variable| variable.role == Role::Private);
            let tiles = self.tiles(kernel, &style, &forms);
            let mut declarations: Vec<String> =
                own.filter(|v| self.uses(kernel, v)).map(Variable::declaration).collect();
            match (&kernel.tiles, tiles.as_ref().and_then(BlockCode::function)) {
                (Some(_), None) => {
                    return Err(problem(self.part, "its tiles cannot be written".to_owned()));
                }
                (_, function) => all.push_str(&function.unwrap_or_default()),
            }
            declarations.extend(tiles.iter().flat_map(BlockCode::declarations));
            let name = self.kernel_name(kernel);
            let arguments = arguments.collect();
            // While one block waits for memory, another one computes.
            let beside = tiles.is_some().then_some(2);
            let head = KernelHead { name, arguments, declarations, beside };
            let body = kernel.ast.to_kernel(
                &head,
                &kernel.launch,
                &style,
                &|name: &str, arguments: &[String]| {
                    if let Some(text) = tiles.as_ref().and_then(|own| own.instance(name, arguments))
                    {
                        return text;
                    }
                    let text = self.statement(name, arguments, &forms).unwrap_or_default();
                    text::for_device(&text)
                },
            );
            let _ = match self.output {
                Output::Program => writeln!(all, "static {body}"),
                Output::Kernels => writeln!(all, "extern \"C\" {body}"),
            };
        }
        Ok(all)
    }

    /// Returns whether all that a kernel computes for its loops and subscripts fits into 32 bits.
    fn is_narrow(&self, kernel: &Kernel, style: &CStyle) -> bool {
        let resolved = |element: &String| {
            let known = self.part.around.types.iter().find(|(name, _)| name == element);
            known.map_or(element, |(_, plain)| plain).clone()
        };
        let own = self.part.scop.statements.iter().zip(&self.part.types);
        let mut own = own.filter(|(statement, _)| kernel.statements.contains(&statement.name));
        // In a wider type, the source computes what these would not hold.
        let small = own.all(|(_, types)| types.iter().all(|element| is_small(&resolved(element))));
        small && kernel.tiles.is_none() && kernel.ast.fits_int(style)
    }

    /// Writes an instance of a statement, if there is one of that name.
    fn statement(
        &self,
        name: &str,
        arguments: &[String],
        forms: &HashMap<String, Form>,
    ) -> Option<String> {
        let at = self.part.scop.statements.iter().position(|own| own.name == name)?;
        let dims = &self.part.scop.statements[at].domain.space().output.dims;
        // All that a kernel computes with is `long long`, or as wide as in the source.
        let text = replaced(&self.part.bodies[at].text, dims, arguments, &[]);
        let text = text::flat(&text, forms);
        // A statement in braces ends by itself.
        Some(if text.ends_with('}') { text } else { format!("{text};") })
    }

    /// Prepares the tiles of a kernel that is a contraction.
    fn tiles<'b>(
        &'b self,
        kernel: &'b Kernel,
        style: &CStyle,
        forms: &'b HashMap<String, Form>,
    ) -> Option<BlockCode<'b>> {
        let tiles = kernel.tiles.as_ref()?;
        let unit = |name: &str| style.params.get(name).map_or(name, String::as_str).to_owned();
        let names = (&*self.kernel_name(kernel), ["t0", "t1"].map(unit));
        BlockCode::new(tiles, self.part, forms, names, (&self.words(), self.root))
    }

    /// All names that statements and variables have.
    fn words(&self) -> HashSet<&str> {
        let named = self.variables.all.iter().map(|variable| variable.name.as_str());
        named.chain(words_of(self.part)).collect()
    }

    /// Lists the variables that are arguments of a kernel.
    fn used<'b>(&'b self, kernel: &'b Kernel) -> impl Iterator<Item = &'b Variable> + 'b {
        let is_argument = |variable: &&Variable| {
            !matches!(variable.role, Role::Private | Role::Host) && self.uses(kernel, variable)
        };
        self.variables.all.iter().filter(is_argument)
    }

    /// Returns whether a kernel needs a variable: in its loops, statements, or extents.
    fn uses(&self, kernel: &Kernel, variable: &Variable) -> bool {
        let name = variable.name.as_str();
        if kernel.ast.params().iter().any(|param| param == name) {
            return true;
        }
        let mut known: Vec<&str> = Vec::new();
        for (statement, body) in self.part.scop.statements.iter().zip(&self.part.bodies) {
            if kernel.statements.contains(&statement.name) {
                known.extend(words(&body.text));
            }
        }
        let extents =
            self.variables.all.iter().filter(|other| known.contains(&other.name.as_str()));
        let inner = extents.flat_map(|other| other.extents.iter().skip(1));
        known.contains(&name) || inner.flat_map(|extent| words(extent)).any(|word| word == name)
    }
}
