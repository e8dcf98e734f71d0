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

mod host;
mod text;
mod tiles;
mod variables;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use tangram_polyhedral::ast::{Ast, AstOptions, CStyle, KernelHead};
use tangram_polyhedral::device::{Kernel, OnDevice};
use tangram_presburger::Budget;

use crate::c_tokens::{replaced, words};
use crate::{Part, Problem};
use text::Form;
use tiles::BlockCode;
use variables::{Role, Variable};

const START: &str = "\
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define TANGRAM_CUDA(call) \\
  do { \\
    cudaError_t tangram_error = (call); \\
    if (tangram_error != cudaSuccess) { \\
      fprintf(stderr, \"%s:%d: %s\\n\", __FILE__, __LINE__, cudaGetErrorString(tangram_error)); \\
      exit(EXIT_FAILURE); \\
    } \\
  } while (0)
";

/// Stands before `floord`, `min` and `max`: CUDA has functions of these names.
const PREFIX: &str = "tangram_";

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
    let (mut bodies, mut types, mut names) = (String::new(), BTreeSet::new(), BTreeSet::new());
    for (index, (part, code)) in parts.iter().enumerate() {
        if let Some(ended) = part.ended.first() {
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
        let mut name = part.function.clone();
        let variables = Variables::of(part, code, budget)?;
        if !variables.whole {
            name = format!("{}_part{}", part.function, index + 1);
        }
        if !names.insert(name.clone()) {
            return Err(problem(part, format!("`{name}` would be there twice")));
        }
        let original = part
            .test
            .as_ref()
            .map(|_| Ast::of_tree(&part.scop.schedule, None, &AstOptions::default(), budget));
        let original = original.transpose().map_err(|error| part.problem(error.to_string()))?;
        let writer = Writer { part, code, name, variables, original };
        let (first, last) = (part.first_line, part.last_line);
        let _ = writeln!(bodies, "\n/* {}, lines {first} to {last}. */", part.function);
        bodies.push_str(&writer.kernels()?);
        bodies.push_str(&writer.host_function());
        let used: BTreeSet<&str> = words(&bodies).collect();
        let named = part.around.types.iter().filter(|(name, _)| used.contains(name.as_str()));
        types.extend(named.cloned());
    }
    let mut text =
        format!("/* Made from {} by `tangram scop --target cuda`. */\n", comment(origin));
    text.push_str(START);
    for line in Ast::macros().lines() {
        let name = line.trim_start_matches("#define ").split('(').next().unwrap_or_default();
        let full = format!("{PREFIX}{name}");
        if words(&bodies).any(|word| word == full) {
            let _ = writeln!(text, "{}", line.replacen(name, &full, 1));
        }
    }
    for (name, meaning) in types.iter().filter(|(name, _)| !is_standard(name)) {
        let _ = writeln!(text, "typedef {meaning} {name};");
    }
    text.push_str(&bodies);
    Ok(text)
}

fn problem(part: &Part, message: String) -> Problem {
    Problem::new(part.first_line, message)
}

fn comment(text: &str) -> String {
    text.replace("*/", "* /")
}

/// Returns whether the headers define a type.
fn is_standard(name: &str) -> bool {
    matches!(name, "size_t" | "ssize_t" | "ptrdiff_t")
        || name.ends_with("_t") && {
            let size = name.trim_start_matches('u').trim_end_matches("_t");
            ["int8", "int16", "int32", "int64", "intptr", "intmax"].contains(&size)
        }
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
}

impl Writer<'_> {
    fn style(&self) -> CStyle {
        let mut style = CStyle::default();
        style.index = "long long".into();
        style.indent = "    ".into();
        style.prefix = PREFIX.into();
        let used = self.words();
        style.iterator = crate::emit::free(&used, &["c", "t", "it"], "tangram_");
        let outer = self.code.kernels.iter().flat_map(|kernel| &kernel.outer);
        for unit in ["b0", "b1", "t0", "t1"].into_iter().chain(outer.map(String::as_str)) {
            if used.contains(unit) {
                style.params.insert(unit.into(), format!("{PREFIX}{unit}"));
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
        let style = self.style();
        let forms = self.variables.forms();
        for body in &self.part.bodies {
            text::check(&body.text).map_err(|message| Problem::new(body.line, message))?;
        }
        let mut all = String::new();
        for kernel in &self.code.kernels {
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
                    self.statement(name, arguments, &forms).unwrap_or_default()
                },
            );
            let _ = writeln!(all, "static {body}");
        }
        Ok(all)
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
        // All that a kernel computes with is `long long`.
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
        BlockCode::new(tiles, self.part, forms, names, &self.words())
    }

    /// All names that statements and variables have.
    fn words(&self) -> HashSet<&str> {
        let texts = self.part.bodies.iter().flat_map(|body| words(&body.text));
        let named = self.variables.all.iter().map(|variable| variable.name.as_str());
        let loops = self.part.scop.statements.iter();
        let loops = loops.flat_map(|own| own.domain.space().output.dims.iter());
        texts.chain(named).chain(loops.map(String::as_str)).collect()
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
