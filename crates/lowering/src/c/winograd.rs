//! Winograd's convolutions in C: transforms around products of matrices.

use std::fmt::Write;

use tangram_kernel::{Element, StepError};
use tangram_polyhedral::ast::{Ast, Statements};

use super::body::{Scalars, coordinates, index};
use super::kernel::Kernel;
use super::tile::{TILE, whole_or_part};
use super::{Sharing, head, shared_out, tail};
use crate::nest::{Nest, Tensor};
use crate::parameters::Parameters;
use crate::scop::{array, arrays};
use crate::winograd::{ELEMENTS, MOST_CHANNELS, Winograd};

/// The function of a convolution whose loops over blocks are those of `ast`.
pub(crate) fn function(
    plan: &Winograd,
    tensors: &[Tensor],
    parameters: &Parameters,
    ast: &Ast,
) -> Result<(String, Vec<Kernel>), StepError> {
    let stages = plan.stages();
    let (order, _) = arrays(&stages);
    let mut text = head(&stages, tensors, parameters);
    let writer = Writer { plan, nest: &plan.nest, tensors, parameters, order: &order };
    let panels = plan.panels.to_string();
    let sharing = Sharing { inside: Some(&panels), ..Sharing::all() };
    text.push_str(&shared_out(ast, &writer, &sharing));
    text.push_str(&tail(&stages));
    let zeros = format!("\nstatic const float tg_zeros[{MOST_CHANNELS}];\n");
    let zeros = Kernel::of_text("tg_zeros".into(), zeros);
    let mut kernels = vec![zeros, input_transform(plan.lanes), output_transform(plan.tile.width)];
    for rows in 1..=plan.tile.rows {
        kernels.push(Kernel::of(Element::F32, plan.tile, rows)?);
    }
    Ok((text, kernels))
}

/// The function that packs the weights.
pub(crate) fn weights(
    plan: &Winograd,
    tensors: &[Tensor],
    parameters: &Parameters,
) -> (String, Vec<Kernel>) {
    let packing = plan.packing();
    let nests = std::slice::from_ref(&packing);
    let (order, _) = arrays(nests);
    let source = packing.inputs[0];
    let access = &packing.generic.inputs[0];
    let place = index(&access.map, &packing.generic.symbols, &tensors[source].extents, parameters);
    let (from, to) = (array(source, &order), array(packing.output, &order));
    let Winograd { channels, channel, panels, window: [y, x], product, .. } = plan;
    let (columns, column) = (plan.tile.columns(), product.column);
    let extent = parameters.text(&plan.nest.generic.extents[column]);
    let mut text = head(nests, tensors, parameters);
    let _ = write!(
        text,
        "    if (part != 0)
        return 0;
    for (int64_t i{column} = 0; i{column} < {padded}; i{column}++)
        for (int64_t i{channel} = 0; i{channel} < {channels}; i{channel}++) {{
            float of[9] = {{0}}, made[{ELEMENTS}];
            if (i{column} < {extent})
                for (int64_t i{y} = 0; i{y} < 3; i{y}++)
                    for (int64_t i{x} = 0; i{x} < 3; i{x}++)
                        of[3 * i{y} + i{x}] = {from}[{place}];
            tg_winograd_weights(of, made);
            for (int64_t f = 0; f < {ELEMENTS}; f++)
                {to}[((f * {panels} + i{column} / {columns}) * {channels} + i{channel}) * {columns} + i{column} % {columns}] = made[f];
        }}
",
        padded = panels * columns,
    );
    text.push_str(&tail(nests));
    (text, vec![Kernel::of_text("tg_winograd_weights".into(), WEIGHTS.into())])
}

struct Writer<'a> {
    plan: &'a Winograd,
    nest: &'a Nest,
    tensors: &'a [Tensor],
    parameters: &'a Parameters,
    order: &'a [usize],
}

impl Writer<'_> {
    fn extent(&self, iterator: usize) -> String {
        self.parameters.text(&self.nest.generic.extents[iterator])
    }

    fn array(&self, tensor: usize) -> String {
        array(tensor, self.order)
    }

    /// Transforms the windows of a block.
    fn windows(&self) -> String {
        let Winograd { position: [y, x], window: [over, across], channel, .. } = self.plan;
        let Winograd { channels, lanes, product, .. } = self.plan;
        let generic = &self.nest.generic;
        let (access, tensor) =
            (&generic.inputs[product.rows_input], self.nest.inputs[product.rows_input]);
        let extents = &self.tensors[tensor].extents;
        let place = index(&access.map, &generic.symbols, extents, self.parameters);
        let at = coordinates(&access.map, &generic.symbols, self.parameters);
        let inside: Vec<String> = self
            .plan
            .coordinates
            .iter()
            .map(|&coordinate| {
                let extent = self.parameters.text(&extents[coordinate]);
                format!("(uint64_t)({}) < (uint64_t){extent}", at[coordinate])
            })
            .collect();
        let (from, to) = (self.array(tensor), self.array(self.plan.input));
        format!(
            "    for (int64_t t = 0; t < windows; t++) {{
        const int64_t i{over} = 0, i{across} = 0, i{channel} = 0;
        const float *from[{ELEMENTS}];
        for (int64_t a = 0; a < 6; a++)
            for (int64_t b = 0; b < 6; b++) {{
                const int64_t i{y} = first_row + t / across * 4 + a, i{x} = first_place + t % across * 4 + b;
                from[6 * a + b] = {} ? {from} + ({place}) : tg_zeros;
            }}
        tg_winograd_input_{lanes}(from, {channels}, {to} + t * {channels}, {});
    }}\n",
            inside.join(" && "),
            self.plan.count() * channels,
        )
    }

    /// Multiplies each element of the windows by that of the weights.
    fn products(&self) -> String {
        let Winograd { channels, panels, tile, .. } = self.plan;
        let (rows, columns, count) = (tile.rows, tile.columns(), self.plan.count());
        let [input, weights, products] =
            [self.plan.input, self.plan.weights, self.plan.products].map(|at| self.array(at));
        let mut calls = String::new();
        for own in (1..=rows).rev() {
            let test = if own > 1 { format!("if (rows == {own}) ") } else { String::new() };
            let before = if own < rows { "else " } else { "" };
            let _ = writeln!(
                calls,
                "                {before}{test}{}(1, &origin, {channels}, 1, a, row, b, next, tile);",
                Kernel::name(Element::F32, *tile, own)
            );
        }
        format!(
            "    const long origin = 0;
    long row[{rows}];
    for (int64_t r = 0; r < {rows}; r++)
        row[r] = r * {channels};
    for (int64_t f = 0; f < {ELEMENTS}; f++)
        for (int64_t p = first_inside; p < last_inside; p++)
            for (int64_t r = 0; r < windows; r += {rows}) {{
                const int64_t rows = tg_min(windows - r, {rows});
                const float *a = {input} + (f * {count} + r) * {channels};
                const float *b = {weights} + (f * {panels} + p) * {size};
                const float *next = b + {channels} * ({columns} + r / {rows} % {lines} * 16);
                float *tile = {products} + ((f * {panels} + p) * {count} + r) * {columns};
{calls}            }}\n",
            size = channels * columns,
            lines = (columns / 16).max(1),
        )
    }

    /// Transforms the products, and stores the results with what follows the sum.
    fn results(&self) -> String {
        let Winograd { position: [y, x], panels, tile, product, .. } = self.plan;
        let generic = &self.nest.generic;
        let (column, width, columns) = (product.column, tile.width, tile.columns());
        let scalars = Scalars {
            nest: self.nest,
            tensors: self.tensors,
            parameters: self.parameters,
            order: self.order,
            known: Vec::new(),
        };
        let lines = scalars.stored(format!("made[(4 * a + b) * {width} + c]"));
        let body: String =
            lines.iter().map(|line| format!("                    {line}\n")).collect();
        let one = |count: &str| {
            format!(
                "                TANGRAM_SIMD
                for (int64_t c = 0; c < {count}; c++) {{
                    const int64_t i{column} = first + c;
{body}                }}\n"
            )
        };
        format!(
            "    for (int64_t t = 0; t < windows; t++)
        for (int64_t first = first_inside * {columns}; first < tg_min({extent}, last_inside * {columns}); first += {width}) {{
            float made[{size}] __attribute__((aligned(64)));
            tg_winograd_output_{width}({products} + (first / {columns} * {count} + t) * {columns} + first % {columns}, {step}, made);
            const int64_t columns = tg_min({extent} - first, {width});
            const int64_t top = first_row + t / across * 4, left = first_place + t % across * 4;
            const int64_t height = tg_min({rows} - top, 4), width = tg_min({wide} - left, 4);
            for (int64_t a = 0; a < height; a++)
            for (int64_t b = 0; b < width; b++) {{
                const int64_t i{y} = top + a, i{x} = left + b;
{stores}            }}
        }}\n",
            extent = self.extent(column),
            rows = self.extent(*y),
            wide = self.extent(*x),
            size = 16 * width,
            products = self.array(self.plan.products),
            count = self.plan.count(),
            step = panels * self.plan.count() * columns,
            stores = whole_or_part("columns", width, &generic.extents[column], one),
        )
    }
}

impl Statements for Writer<'_> {
    fn instance(&self, name: &str, arguments: &[String]) -> String {
        if name != TILE {
            return format!("{name}({});", arguments.join(", "));
        }
        let [y, x] = self.plan.position;
        let mut text = String::from("{\n");
        for (&iterator, value) in self.plan.rows().iter().zip(arguments) {
            let name = match iterator {
                at if at == y => "first_row".into(),
                at if at == x => "first_place".into(),
                at => format!("i{at}"),
            };
            let _ = writeln!(text, "    const int64_t {name} = {value};");
        }
        let [down, along] = self.plan.block;
        let (rows, columns) = (self.extent(y), self.extent(x));
        let _ = writeln!(
            text,
            "    const int64_t across = tg_min(({columns} - first_place + 3) / 4, {along});
    const int64_t windows = tg_min(({rows} - first_row + 3) / 4, {down}) * across;",
        );
        text.push_str(&self.windows());
        text.push_str(&self.products());
        text.push_str(&self.results());
        text.push('}');
        text
    }
}

/// The transform of a window of 6 by 6: `B' d B`.
fn input_transform(lanes: usize) -> Kernel {
    let name = format!("tg_winograd_input_{lanes}");
    let text =
        INPUT.replace("LANES", &lanes.to_string()).replace("BYTES", &(4 * lanes).to_string());
    Kernel::of_text(name, text)
}

/// The transform of products to 4 by 4 results: `A' m A`.
fn output_transform(lanes: usize) -> Kernel {
    let name = format!("tg_winograd_output_{lanes}");
    let text =
        OUTPUT.replace("LANES", &lanes.to_string()).replace("BYTES", &(4 * lanes).to_string());
    Kernel::of_text(name, text)
}

const WEIGHTS: &str = r"
static void tg_winograd_weights(const float *from, float *to)
{
    double half[18];
    for (int v = 0; v < 3; v++) {
        const double a = from[v], b = from[3 + v], c = from[6 + v];
        half[v] = a / 4;
        half[3 + v] = -(a + b + c) / 6;
        half[6 + v] = -(a - b + c) / 6;
        half[9 + v] = a / 24 + b / 12 + c / 6;
        half[12 + v] = a / 24 - b / 12 + c / 6;
        half[15 + v] = c;
    }
    for (int i = 0; i < 6; i++) {
        const double a = half[3 * i], b = half[3 * i + 1], c = half[3 * i + 2];
        to[6 * i] = (float)(a / 4);
        to[6 * i + 1] = (float)(-(a + b + c) / 6);
        to[6 * i + 2] = (float)(-(a - b + c) / 6);
        to[6 * i + 3] = (float)(a / 24 + b / 12 + c / 6);
        to[6 * i + 4] = (float)(a / 24 - b / 12 + c / 6);
        to[6 * i + 5] = (float)c;
    }
}
";

const INPUT: &str = r"
typedef float tg_winograd_input_LANES_vector __attribute__((vector_size(BYTES), aligned(4), may_alias));

static void tg_winograd_input_LANES(const float *const *from, long channels, float *to, long step)
{
    typedef tg_winograd_input_LANES_vector vector;
    for (long c = 0; c < channels; c += LANES) {
        vector half[36];
        for (int i = 0; i < 6; i++) {
            const vector d0 = *(const vector *)(from[6 * i] + c), d1 = *(const vector *)(from[6 * i + 1] + c);
            const vector d2 = *(const vector *)(from[6 * i + 2] + c), d3 = *(const vector *)(from[6 * i + 3] + c);
            const vector d4 = *(const vector *)(from[6 * i + 4] + c), d5 = *(const vector *)(from[6 * i + 5] + c);
            const vector a = d4 - 4.0f * d2, b = d3 - 4.0f * d1, p = d4 - d2, q = 2.0f * (d3 - d1);
            half[6 * i] = 4.0f * d0 - 5.0f * d2 + d4;
            half[6 * i + 1] = a + b;
            half[6 * i + 2] = a - b;
            half[6 * i + 3] = p + q;
            half[6 * i + 4] = p - q;
            half[6 * i + 5] = 4.0f * d1 - 5.0f * d3 + d5;
        }
        for (int j = 0; j < 6; j++) {
            const vector d0 = half[j], d1 = half[6 + j], d2 = half[12 + j];
            const vector d3 = half[18 + j], d4 = half[24 + j], d5 = half[30 + j];
            const vector a = d4 - 4.0f * d2, b = d3 - 4.0f * d1, p = d4 - d2, q = 2.0f * (d3 - d1);
            float *out = to + j * step + c;
            *(vector *)out = 4.0f * d0 - 5.0f * d2 + d4;
            *(vector *)(out + 6 * step) = a + b;
            *(vector *)(out + 12 * step) = a - b;
            *(vector *)(out + 18 * step) = p + q;
            *(vector *)(out + 24 * step) = p - q;
            *(vector *)(out + 30 * step) = 4.0f * d1 - 5.0f * d3 + d5;
        }
    }
}
";

const OUTPUT: &str = r"
typedef float tg_winograd_output_LANES_vector __attribute__((vector_size(BYTES), aligned(4), may_alias));

static void tg_winograd_output_LANES(const float *from, long step, float *to)
{
    typedef tg_winograd_output_LANES_vector vector;
    vector half[24];
    for (int j = 0; j < 6; j++) {
        const float *own = from + j * step;
        const vector m0 = *(const vector *)own, m5 = *(const vector *)(own + 30 * step);
        const vector m1 = *(const vector *)(own + 6 * step), m2 = *(const vector *)(own + 12 * step);
        const vector m3 = *(const vector *)(own + 18 * step), m4 = *(const vector *)(own + 24 * step);
        const vector s = m1 + m2, d = m1 - m2, t = m3 + m4, e = m3 - m4;
        half[j] = m0 + s + t;
        half[6 + j] = d + 2.0f * e;
        half[12 + j] = s + 4.0f * t;
        half[18 + j] = d + 8.0f * e + m5;
    }
    for (int i = 0; i < 4; i++) {
        const vector m0 = half[6 * i], m1 = half[6 * i + 1], m2 = half[6 * i + 2];
        const vector m3 = half[6 * i + 3], m4 = half[6 * i + 4], m5 = half[6 * i + 5];
        const vector s = m1 + m2, d = m1 - m2, t = m3 + m4, e = m3 - m4;
        float *out = to + 4 * LANES * i;
        *(vector *)out = m0 + s + t;
        *(vector *)(out + LANES) = d + 2.0f * e;
        *(vector *)(out + 2 * LANES) = s + 4.0f * t;
        *(vector *)(out + 3 * LANES) = d + 8.0f * e + m5;
    }
}
";
