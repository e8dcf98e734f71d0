//! Nests as functions of C.

mod body;
pub(crate) mod chain;
mod epilogue;
pub(crate) mod group;
mod half;
pub(crate) mod kernel;
pub(crate) mod lanes;
mod preamble;
pub(crate) mod tile;
pub(crate) mod transposed;
pub(crate) mod winograd;

pub(crate) use body::{c_type, index, is_supported};
pub(crate) use preamble::preamble;

use std::fmt::Write;

use tangram_dialects::structured::{Body, Number, Scalar, Unary};
use tangram_polyhedral::ast::{Ast, CStyle, Statements};

use crate::nest::{Nest, Tensor};
use crate::parameters::Parameters;
use crate::scop::{Role, array, arrays};
use body::{Scalars, literal, operator};

/// What stands for the name of a function in its text until it has one.
pub(crate) const UNNAMED: &str = "TANGRAM_FUNCTION";

const HINT: &str = "TANGRAM_SIMD";

/// The type of what functions return: 0, or what went wrong.
pub(crate) const RETURNED: &str = "int";

/// What functions take.
const ARGUMENTS: &str =
    "const int64_t *arguments, void *const *buffers, int64_t part, int64_t parts";

/// The start of a function: its head, the parameters and the pointers. [`tail`] ends it.
pub(crate) fn head(nests: &[Nest], tensors: &[Tensor], parameters: &Parameters) -> String {
    let mut text = format!("static TANGRAM_HOT {RETURNED} {UNNAMED}({ARGUMENTS})\n{{\n");
    for (at, name) in parameters.names().iter().enumerate() {
        let _ = writeln!(text, "    const int64_t {name} = arguments[{at}];");
    }
    let (order, written) = arrays(nests);
    for (at, tensor) in order.iter().enumerate() {
        let (ty, name) = (c_type(tensors[*tensor].element), array(*tensor, &order));
        let constant = if at < written { "" } else { "const " };
        let start = match tensors[*tensor].scratch {
            false => format!("buffers[{at}]"),
            true => {
                // Each part has lines of its own.
                let extents = &tensors[*tensor].extents;
                let factors = extents.iter().map(|extent| parameters.text(extent));
                let count = factors.fold(String::from("1"), |all, one| format!("{all} * {one}"));
                format!("(void *)((char *)buffers[{at}] + part * tg_lines({count} * sizeof({ty})))")
            }
        };
        let _ = writeln!(text, "    {constant}{ty} *restrict {name} = {start};");
    }
    if has_faults(nests) {
        let _ = writeln!(text, "    {RETURNED} {FAULTS} = 0;");
    }
    text
}

/// What functions return: [`OUTSIDE`] and [`DIVISION`], each where it happened.
const FAULTS: &str = "faults";

/// A lookup is outside of its table.
pub const OUTSIDE: i32 = 1;

/// An integer is divided by zero.
pub const DIVISION: i32 = 2;

/// Whether something may be found that is an error.
fn has_faults(nests: &[Nest]) -> bool {
    let divides = |body: &Body| {
        let divisor = |scalar: &Scalar| matches!(scalar, Scalar::Unary(Unary::Nonzero, _));
        body.scalars().iter().any(divisor)
    };
    nests.iter().any(|nest| {
        let finish = nest.finish.as_ref().is_some_and(|finish| divides(&finish.body));
        !nest.tables.is_empty() || divides(&nest.generic.body) || finish
    })
}

/// The end of a function: it returns what was found that is an error.
pub(crate) fn tail(nests: &[Nest]) -> String {
    format!("    return {};\n}}\n", if has_faults(nests) { FAULTS } else { "0" })
}

/// The text of loops that run in one part.
fn in_order(ast: &Ast, statements: &dyn Statements) -> String {
    format!("    if (part != 0)\n        return 0;\n{}", ast.to_c_with(&style(), statements))
}

/// Which loops parts share.
#[derive(Default)]
struct Sharing<'a> {
    /// Whether innermost loops are: not where what they compute overlaps, or is little.
    innermost: bool,
    /// How many iterations a loop within the statements has. They find those of their part from
    /// `first_inside` on, before `last_inside`.
    inside: Option<&'a str>,
    /// The dimension of a loop that is shared if no other can be, or before all others if a
    /// condition holds.
    last_or_first: Option<(u32, &'a str)>,
}

impl Sharing<'_> {
    /// All loops.
    fn all() -> Self {
        Sharing { innermost: true, ..Sharing::default() }
    }
}

/// The text of loops whose parts run at the same time, and in front of it which iterations are
/// those of this part.
fn shared_out(ast: &Ast, statements: &dyn Statements, sharing: &Sharing<'_>) -> String {
    let mut style = style();
    let loops = ast.outermost_loops(&style, sharing.innermost);
    if loops.is_empty() && sharing.inside.is_none() {
        return in_order(ast, statements);
    }
    let counts = loops.iter().map(|one| one.count.as_str()).chain(sharing.inside);
    let counts: Vec<&str> = counts.collect();
    let count = counts.len();
    let moved = sharing.last_or_first.and_then(|(dimension, when)| {
        Some((loops.iter().position(|one| one.dimension == dimension)?, when))
    });
    let others = || (0..count).filter(|at| moved.is_none_or(|(moved, _)| moved != *at));
    let list = |order: &mut dyn Iterator<Item = usize>| -> String {
        order.map(|at| at.to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("    const int64_t counts[{count}] = {{{}}};\n", counts.join(", "));
    let order = match moved {
        Some((at, when)) => {
            let _ = writeln!(
                text,
                "    static const int orders[2][{count}] = {{{{{}}}, {{{}}}}};",
                list(&mut others().chain([at])),
                list(&mut [at].into_iter().chain(others())),
            );
            format!("orders[{when}]")
        }
        None => {
            let order = list(&mut others());
            let _ = writeln!(text, "    static const int order[{count}] = {{{order}}};");
            "order".to_owned()
        }
    };
    let _ = writeln!(
        text,
        "    int64_t first[{count}], last[{count}];\n    \
         tg_share({count}, counts, {order}, part, parts, first, last);"
    );
    let names = loops.iter().map(|one| one.dimension.to_string());
    for (at, name) in names.chain(sharing.inside.map(|_| "_inside".to_owned())).enumerate() {
        let _ =
            writeln!(text, "    const int64_t first{name} = first[{at}], last{name} = last[{at}];");
    }
    style.split = loops;
    text + &ast.to_c_with(&style, statements)
}

/// The function of a nest whose loops are those of `ast`.
pub(crate) fn function(
    nest: &Nest,
    tensors: &[Tensor],
    parameters: &Parameters,
    ast: &Ast,
) -> String {
    let nests = std::slice::from_ref(nest);
    let (order, _) = arrays(nests);
    let mut text = head(nests, tensors, parameters);
    let instances = Instances { nest, tensors, parameters, order: &order };
    text.push_str(&shared_out(ast, &instances, &Sharing::default()));
    text.push_str(&tail(nests));
    text
}

/// How loops are written.
fn style() -> CStyle {
    let mut style = CStyle::default();
    style.index = "int64_t".into();
    style.indent = "    ".into();
    style.prefix = "tg_".into();
    style.depth = 1;
    style.vectorize = true;
    style.hint = HINT.into();
    style
}

/// The statements of a nest.
pub(crate) struct Instances<'a> {
    pub nest: &'a Nest,
    pub tensors: &'a [Tensor],
    pub parameters: &'a Parameters,
    pub order: &'a [usize],
}

impl Instances<'_> {
    /// The lines of a statement, over the nest's iterators `i0`, `i1`...; `known` stand in the
    /// place of inputs.
    pub fn lines(&self, role: Role, known: Vec<(usize, String)>) -> Vec<String> {
        let generic = &self.nest.generic;
        let out = &self.tensors[self.nest.output];
        let ty = c_type(out.element);
        let at = index(&generic.output.map, &generic.symbols, &out.extents, self.parameters);
        let target = format!("{}[{at}]", array(self.nest.output, self.order));
        let scalars = Scalars {
            nest: self.nest,
            tensors: self.tensors,
            parameters: self.parameters,
            order: self.order,
            known,
        };
        match role {
            Role::Initial => {
                let initial = generic.reduction.map_or(Number::zero(out.element), |r| r.initial);
                vec![format!("{target} = {};", literal(initial))]
            }
            Role::Update => {
                let (mut lines, value) = scalars.body(&generic.body);
                let Some(reduction) = generic.reduction else {
                    lines.push(format!("{target} = {value};"));
                    return lines;
                };
                lines.push(format!("const {ty} before = {target};"));
                let both = operator(reduction.combine, out.element, "before", &value);
                lines.push(format!("{target} = {both};"));
                lines
            }
            Role::Finish => {
                let Some(finish) = &self.nest.finish else { return Vec::new() };
                let (mut lines, value) = scalars.body(&finish.body);
                lines.push(format!("{target} = {value};"));
                lines
            }
        }
    }
}

impl Statements for Instances<'_> {
    fn instance(&self, name: &str, arguments: &[String]) -> String {
        let roles = [Role::Initial, Role::Update, Role::Finish];
        let Some(role) = roles.into_iter().find(|role| role.name(0) == name) else {
            return format!("{name}({});", arguments.join(", "));
        };
        let mut text = String::from("{\n");
        for (iterator, value) in role.iterators(self.nest).iter().zip(arguments) {
            let _ = writeln!(text, "    const int64_t i{iterator} = {value};");
        }
        for line in self.lines(role, Vec::new()) {
            let _ = writeln!(text, "    {line}");
        }
        text.push('}');
        text
    }
}
