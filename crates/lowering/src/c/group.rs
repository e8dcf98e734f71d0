//! Groups in C: all of one row, nest after nest.

use std::cell::RefCell;
use std::fmt::Write;

use tangram_kernel::StepError;
use tangram_polyhedral::ast::{Ast, Statements};

use super::body::Scalars;
use super::kernel::Kernel;
use super::tile::{self, TILE};
use super::{Instances, Sharing, c_type, chain, head, in_order, index, lanes, shared_out, tail};
use crate::group::Group;
use crate::nest::{Nest, Tensor};
use crate::parameters::Parameters;
use crate::scop::{Role, array, arrays};

/// Fewer rows of a block than this take their steps one after the other.
const FEWEST: usize = 4;

/// The function of a group whose loops over rows are those of `ast`.
pub(crate) fn function(
    (group, exact): (&Group, bool),
    tensors: &[Tensor],
    parameters: &Parameters,
    ast: &Ast,
) -> Result<(String, Vec<Kernel>), StepError> {
    let (order, _) = arrays(&group.contracted);
    let mut text = head(&group.contracted, tensors, parameters);
    let kernels = RefCell::new(Ok(Vec::new()));
    let rows = Rows { group, exact, tensors, parameters, order: &order, kernels: &kernels };
    // Steps of a recurrent layer run in their order.
    text.push_str(&match group.is_recurrent {
        true => in_order(ast, &rows),
        false => shared_out(ast, &rows, &Sharing::all()),
    });
    text.push_str(&tail(&group.contracted));
    Ok((text, kernels.into_inner()?))
}

struct Rows<'a> {
    group: &'a Group,
    /// Whether sums keep the order of their definition.
    exact: bool,
    tensors: &'a [Tensor],
    parameters: &'a Parameters,
    order: &'a [usize],
    /// What the text calls, or why a kernel of it cannot be made.
    kernels: &'a RefCell<Result<Vec<Kernel>, StepError>>,
}

impl Rows<'_> {
    /// One row of a nest.
    fn row(&self, nest: &Nest, rows: &[usize]) -> String {
        match nest.is_parallel() {
            true => self.parallel(nest, rows),
            false => {
                let fixed = (rows, self.exact);
                lanes::row(nest, fixed, self.tensors, self.parameters, self.order)
            }
        }
    }

    /// The text of a part, whose kernels are kept for the function around it.
    fn called(&self, part: Result<(String, Vec<Kernel>), StepError>) -> String {
        let mut kept = self.kernels.borrow_mut();
        match (part, &mut *kept) {
            (Ok((text, kernels)), Ok(kept)) => {
                kept.extend(kernels);
                text
            }
            // What is written is thrown away with the error.
            (Ok(_), Err(_)) => String::new(),
            (Err(error), _) => {
                *kept = Err(error);
                String::new()
            }
        }
    }

    /// One row of a nest that combines nothing.
    fn parallel(&self, nest: &Nest, rows: &[usize]) -> String {
        let mut loops: Vec<usize> = nest.parallel().filter(|at| !rows.contains(at)).collect();
        let out = &self.tensors[nest.output];
        let steps = crate::packing::steps(&nest.generic.output, out);
        let beside = loops
            .iter()
            .position(|at| steps[*at].as_ref().is_some_and(|step| step.as_int() == Some(1)));
        if let Some(at) = beside {
            let inner = loops.remove(at);
            loops.push(inner);
        }
        let (tensors, parameters, order) = (self.tensors, self.parameters, self.order);
        let inner = loops.pop();
        let head = |at: usize| {
            let extent = parameters.text(&nest.generic.extents[at]);
            format!("        for (int64_t i{at} = 0; i{at} < {extent}; i{at}++)")
        };
        let mut text: String = loops.iter().map(|at| head(*at) + "\n").collect();
        let (held, known) = self.held(nest, inner);
        let _ = writeln!(text, "        {{\n{held}");
        let scalars = Scalars { nest, tensors, parameters, order, known: known.clone() };
        let steps = inner.and_then(|inner| {
            let extent = parameters.text(&nest.generic.extents[inner]);
            let store = |value: &str| format!("{} = {value};", scalars.target());
            chain::in_steps(&scalars, (inner, "0", &extent), store)
        });
        if let Some(steps) = steps {
            return text + &steps + "        }\n";
        }
        if let Some(inner) = inner {
            let _ = writeln!(text, "        TANGRAM_SIMD\n{}", head(inner));
        }
        text.push_str("        {\n");
        let instances = Instances { nest, tensors, parameters, order };
        for line in instances.lines(Role::Update, known) {
            let _ = writeln!(text, "            {line}");
        }
        text.push_str("        }\n        }\n");
        text
    }

    /// The rows of a block of a nest whose steps lanes of rows take together, all other loops outside:
    /// what is looked up for one of them is looked up by all rows. Few rows go one by one.
    fn rows_in_steps(&self, nest: &Nest, rows: &[usize]) -> Option<String> {
        let row = *rows.last()?;
        if !chain::begins_together(nest, row) {
            return None;
        }
        let (tensors, parameters, order) = (self.tensors, self.parameters, self.order);
        let scalars = Scalars { nest, tensors, parameters, order, known: Vec::new() };
        let store = |value: &str| format!("{} = {value};", scalars.target());
        let steps = chain::in_steps(&scalars, (row, "first", "end"), store)?;
        let mut text = format!("        if (end - first >= {FEWEST}) {{\n");
        for at in nest.parallel().filter(|at| !rows.contains(at)) {
            let extent = parameters.text(&nest.generic.extents[at]);
            let _ = writeln!(text, "        for (int64_t i{at} = 0; i{at} < {extent}; i{at}++)");
        }
        let _ = write!(text, "        {{\n{steps}        }}\n        }} else");
        Some(text)
    }

    /// Declares what an innermost loop reads at one place, which compilers do not vectorise a loop
    /// around if they move a part of it out; and the names that stand for these inputs.
    fn held(&self, nest: &Nest, inner: Option<usize>) -> (String, Vec<(usize, String)>) {
        let (mut text, mut known) = (String::new(), Vec::new());
        for (at, (access, tensor)) in nest.generic.inputs.iter().zip(&nest.inputs).enumerate() {
            if access.outside.is_some() || inner.is_none_or(|inner| access.map.used().0[inner]) {
                continue;
            }
            let tensor_of = &self.tensors[*tensor];
            let (symbols, ty) = (&nest.generic.symbols, c_type(tensor_of.element));
            let place = index(&access.map, symbols, &tensor_of.extents, self.parameters);
            let name = array(*tensor, self.order);
            let _ = writeln!(text, "        const {ty} held{at} = {name}[{place}];");
            known.push((at, format!("held{at}")));
        }
        (text, known)
    }
}

impl Statements for Rows<'_> {
    fn instance(&self, name: &str, arguments: &[String]) -> String {
        if name != TILE {
            return format!("{name}({});", arguments.join(", "));
        }
        let mut text = String::from("{\n");
        let block = self.group.block();
        let members = self.group.contracted.iter().zip(&self.group.rows).zip(&self.group.tiled);
        for ((nest, rows), tiled) in members {
            text.push_str("    {\n");
            for (iterator, value) in rows.iter().zip(arguments) {
                let _ = writeln!(text, "        const int64_t i{iterator} = {value};");
            }
            match (tiled, rows.last().filter(|_| block > 1)) {
                (Some(tiled), _) => {
                    let of = (self.tensors, self.parameters, self.order);
                    let part = match self.group.is_recurrent {
                        true => tile::whole(nest, tiled, rows, of),
                        false => tile::rows(nest, tiled, block, of),
                    };
                    text.push_str(&self.called(part));
                }
                (None, Some(row)) => {
                    let extent = &nest.generic.extents[*row];
                    let extent = self.parameters.text(extent);
                    let _ = write!(
                        text,
                        "        const int64_t first = i{row}, end = tg_min({extent}, first + {block});\n{}        \
                         for (int64_t i{row} = first; i{row} < end; i{row}++)\n        {{\n{}        }}\n",
                        self.rows_in_steps(nest, rows).unwrap_or_default(),
                        self.row(nest, rows)
                    );
                }
                (None, None) => text.push_str(&self.row(nest, rows)),
            }
            text.push_str("    }\n");
        }
        text.push('}');
        text
    }
}
