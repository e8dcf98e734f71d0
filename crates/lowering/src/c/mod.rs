//! Nests as functions of C.

mod body;
pub(crate) mod group;
pub(crate) mod lanes;
mod preamble;
pub(crate) mod tile;

pub(crate) use body::{c_type, index, is_supported};
pub(crate) use preamble::PREAMBLE;

use std::fmt::Write;

use tangram_dialects::structured::Number;
use tangram_polyhedral::ast::{Ast, CStyle, Statements};

use crate::nest::{Nest, Tensor};
use crate::parameters::Parameters;
use crate::scop::{Role, array, arrays};
use body::{Scalars, literal, operator};

/// What stands for the name of a function in its text until it has one.
pub(crate) const UNNAMED: &str = "TANGRAM_FUNCTION";

const HINT: &str = "TANGRAM_SIMD";

/// The start of a function: its head, the parameters and the pointers.
pub(crate) fn head(nests: &[Nest], tensors: &[Tensor], parameters: &Parameters) -> String {
    let mut text =
        format!("static void {UNNAMED}(const int64_t *arguments, void *const *buffers)\n{{\n");
    for (at, name) in parameters.names().iter().enumerate() {
        let _ = writeln!(text, "    const int64_t {name} = arguments[{at}];");
    }
    let (order, written) = arrays(nests);
    for (at, tensor) in order.iter().enumerate() {
        let (ty, name) = (c_type(tensors[*tensor].element), array(*tensor, &order));
        let constant = if at < written { "" } else { "const " };
        let _ = writeln!(text, "    {constant}{ty} *restrict {name} = buffers[{at}];");
    }
    text
}

/// The function of a nest whose loops are those of `ast`.
pub(crate) fn function(
    nest: &Nest,
    tensors: &[Tensor],
    parameters: &Parameters,
    ast: &Ast,
) -> String {
    let style = style();
    let nests = std::slice::from_ref(nest);
    let (order, _) = arrays(nests);
    let mut text = head(nests, tensors, parameters);
    let instances = Instances { nest, tensors, parameters, order: &order };
    text.push_str(&ast.to_c_with(&style, &instances));
    text.push_str("}\n");
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
