//! Windows that slide over few places: several results side by side.
//!
//! The results of a tile share what they read at the same place, as weights, and no sum waits for its
//! last update. What lies outside of an input is read from a line of its own, so tiles at the border
//! run as those inside do:
//!
//! ```text
//! for x by 4:             y[x + r, c] = sum of x[x + r + t, c] * w[t, c], r < 4
//!     columns[t, r] = the line of column x + r + t, or that of what is outside
//!     for c by 16:        8 sums in vectors, a vector of weights for 4 of them
//! ```

use std::fmt::Write;

use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::{Access, Binary, Number, Scalar};
use tangram_machine::Machine;
use tangram_tensor::DType;

use super::{LANES, Lanes, Writer};
use crate::c::body::{c_type, index, literal};
use crate::c::kernel::Kernel;
use crate::c::tile::SUMS;
use crate::contraction::{factors, linear_terms, slides};
use crate::nest::{Nest, Tensor};
use crate::scop::array;

/// Tables of places are on the stack.
const MOST_TAPS: i64 = 128;

/// As many results run side by side, or more where their vectors are fewer than [`SUMS`], which hide the
/// latency of an update.
const RESULTS: usize = 4;

/// The line of what is outside is as long as all lanes; longer ones are not worth the memory.
const LONGEST_OUTSIDE: i64 = 8192;

/// Results of a window that run side by side, with all lanes in one tile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The loop that they are iterations of.
    pub iterator: usize,
    /// How many of them there are.
    pub count: usize,
    /// The lanes of all results.
    pub lanes: i64,
    taps: i64,
    /// The input that it slides over.
    data: usize,
    /// The input that it is multiplied by, the same for all results.
    weights: Option<usize>,
    /// How many numbers a vector has. Compilers that find vectors by themselves take one after the
    /// other, and each update waits for the last one.
    width: usize,
}

impl Window {
    /// Chooses the innermost loop along which a window slides, if the sums of lanes fit into half
    /// of the registers several times.
    pub fn of(nest: &Nest, lanes: Lanes, machine: &Machine, tensors: &[Tensor]) -> Option<Window> {
        let Lanes::Parallel(lane) = lanes else { return None };
        let generic = &nest.generic;
        let (data, weights) = operands(nest)?;
        let slides = |at: usize| slides(generic, &generic.inputs[data].map, at);
        let iterator = nest.parallel().filter(|at| *at != lane && slides(*at)).last()?;
        let mut reduced = generic.reduced().map(|at| generic.extents[at].as_int());
        let taps = reduced.try_fold(1_i64, |all, extent| all.checked_mul(extent?))?;
        let element = tensors[nest.output].element;
        let bytes = element.size_bits() / 8;
        let width = machine.vector_bytes / bytes.max(1);
        let sums = machine.vector_registers / 2 * width / LANES;
        let known = generic.extents[iterator].as_int().and_then(|own| usize::try_from(own).ok());
        let count = sums.min(RESULTS.max(SUMS * width / LANES));
        let count = count.min(known.unwrap_or(count));
        let lanes = generic.extents[lane].as_int().filter(|extent| *extent >= LANES as i64)?;
        let window = Window { iterator, count, lanes, taps, data, weights, width };
        let fits = count > 1
            && (2..=MOST_TAPS).contains(&taps)
            && (4..=LANES).contains(&width)
            && LANES.is_multiple_of(width)
            && matches!(element, DType::F32 | DType::F64)
            && [Some(data), weights].into_iter().flatten().all(|at| {
                tensors[nest.inputs[at]].element == element && is_beside(nest, at, lane, tensors)
            });
        (fits && window.reads_lines(nest, lane, tensors)).then_some(window)
    }

    /// Whether each place of the window is a line of all lanes: inside or outside as a whole. The
    /// weights are the same for all results.
    fn reads_lines(&self, nest: &Nest, lane: usize, tensors: &[Tensor]) -> bool {
        let generic = &nest.generic;
        let is_same = |input: usize| {
            let access = &generic.inputs[input];
            let steps = crate::packing::steps(access, &tensors[nest.inputs[input]]);
            let mut others = nest.parallel().filter(|at| *at != lane);
            access.outside.is_none()
                && others.all(|at| steps[at].as_ref().and_then(Expr::as_int) == Some(0))
        };
        let (access, tensor) = (&generic.inputs[self.data], &tensors[nest.inputs[self.data]]);
        let is_line = access.outside.is_none()
            || (self.lanes <= LONGEST_OUTSIDE && is_inside(access, tensor, lane, self.lanes));
        is_line && self.weights.is_none_or(is_same)
    }

    fn name(&self, element: DType) -> String {
        let (ty, vectors) = (c_type(element), LANES / self.width);
        let way = if self.weights.is_some() { "" } else { "_sum" };
        format!("tg_window_{ty}{way}_{}x{vectors}x{}", self.count, self.width)
    }

    /// The sums of the lanes from `first` on, for all results.
    pub fn kernel(&self, element: DType) -> Kernel {
        let (ty, name, width) = (c_type(element), self.name(element), self.width);
        let all = || {
            let vectors = LANES / width;
            (0..self.count).flat_map(move |result| (0..vectors).map(move |at| (result, at)))
        };
        let mut text = format!(
            "typedef {ty} {name}_vector __attribute__((vector_size({}), aligned({}), may_alias));\n\
             static void {name}(long taps, const {ty} *const *columns, const {ty} *const *weights,\n    \
             long first, {ty} *restrict sums)\n{{\n",
            width * element.size_bits() / 8,
            element.size_bits() / 8,
        );
        for (result, at) in all() {
            let _ = writeln!(text, "    {name}_vector s{result}_{at} = {{0}};");
        }
        text.push_str("    for (long tap = 0; tap < taps; tap++) {\n");
        let load =
            |from: &str, at: usize| format!("*(const {name}_vector *)&{from}[{}]", at * width);
        if self.weights.is_some() {
            text.push_str(&format!("        const {ty} *w = weights[tap] + first;\n"));
            for at in 0..LANES / width {
                let value = load("w", at);
                let _ =
                    writeln!(text, "        {name}_vector w{at} = {value}; TANGRAM_KEEP(w{at})");
            }
        }
        for (result, at) in all() {
            if at == 0 {
                let count = self.count;
                let _ = writeln!(
                    text,
                    "        const {ty} *x{result} = columns[tap * {count} + {result}] + first;"
                );
            }
            let (sum, value) = (format!("s{result}_{at}"), load(&format!("x{result}"), at));
            let factor = if self.weights.is_some() { format!(" * w{at}") } else { String::new() };
            let _ = writeln!(text, "        {sum} = {sum} + {value}{factor};");
        }
        text.push_str("    }\n");
        for (result, at) in all() {
            let place = result * LANES + at * width;
            let _ = writeln!(text, "    *({name}_vector *)&sums[{place}] = s{result}_{at};");
        }
        text.push_str("}\n");
        Kernel::of_text(name, text)
    }
}

/// What a window sums: numbers of an input, or their products with those of another.
fn operands(nest: &Nest) -> Option<(usize, Option<usize>)> {
    let generic = &nest.generic;
    let is_sliding =
        |at: usize| nest.parallel().any(|own| slides(generic, &generic.inputs[at].map, own));
    if let Some([left, right]) = factors(nest) {
        let data = if is_sliding(left) { left } else { right };
        return is_sliding(data).then_some((data, Some(left + right - data)));
    }
    let reduction = generic.reduction.filter(|own| own.combine == Binary::Add)?;
    let is_zero = reduction.initial == Number::zero(reduction.initial.element());
    match generic.body.scalars()[generic.body.value()?.0 as usize] {
        Scalar::Input(data) if is_zero => Some((data, None)),
        _ => None,
    }
}

/// Whether no lane leaves an input by itself: each coordinate that grows with them is one of them, or
/// one some places further in a longer tensor.
fn is_inside(access: &Access, tensor: &Tensor, lane: usize, lanes: i64) -> bool {
    let map = &access.map;
    let Some(first) = map.evaluate(&vec![0; map.dims()]) else { return false };
    map.results().iter().zip(&tensor.extents).zip(first).all(|((result, extent), first)| {
        let Some(terms) = linear_terms(map, *result) else { return false };
        let is_alone = terms == [(lane, 1)];
        let end = first.checked_add(lanes);
        let fits = first >= 0 && end.zip(extent.as_int()).is_some_and(|(end, all)| end <= all);
        (is_alone && fits) || !terms.iter().any(|(own, _)| *own == lane)
    })
}

/// Whether lanes of an input lie side by side.
fn is_beside(nest: &Nest, input: usize, lane: usize, tensors: &[Tensor]) -> bool {
    let steps = crate::packing::steps(&nest.generic.inputs[input], &tensors[nest.inputs[input]]);
    steps[lane].as_ref().and_then(Expr::as_int) == Some(1)
}

impl Writer<'_> {
    /// The place of an input for the iterators that are declared.
    fn place_of(&self, input: usize) -> String {
        let (generic, tensor) = (&self.nest.generic, self.nest.inputs[input]);
        let extents = &self.tensors[tensor].extents;
        let map = &generic.inputs[input].map;
        let place = index(map, &generic.symbols, extents, self.parameters);
        format!("{} + ({place})", array(tensor, self.order))
    }

    /// Where all tiles read: the line of what is outside, and the weights of each tap.
    pub(super) fn before_windows(&self, window: &Window) -> String {
        let (generic, element) = (&self.nest.generic, self.tensors[self.nest.output].element);
        let (ty, mut text) = (c_type(element), String::new());
        if let Some(outside) = generic.inputs[window.data].outside {
            let all = match outside == Number::zero(element) {
                true => "0".to_owned(),
                false => format!("[0 ... {}] = {}", window.lanes - 1, literal(outside)),
            };
            let lanes = window.lanes;
            let _ = writeln!(text, "    static const {ty} outside_of_all[{lanes}] = {{{all}}};");
        }
        if let Some(weights) = window.weights {
            let zeros = |at| format!("        const int64_t i{at} = 0;\n");
            let iterators: String = self.nest.parallel().map(zeros).collect();
            let _ = write!(
                text,
                "    const {ty} *weights[{}];\n    {{\n        int64_t tap = 0;\n{iterators}{}        \
                 weights[tap++] = {};\n    }}\n",
                window.taps,
                self.loops(None),
                self.place_of(weights),
            );
        }
        text
    }

    /// Results of a window, for all lanes. Those behind the end of their loop, which nobody stores,
    /// read what the last one reads.
    pub(super) fn windows(&self, lane: usize, window: &Window) -> String {
        let Window { iterator, count, lanes, taps, data, .. } = window;
        let element = self.tensors[self.nest.output].element;
        let ty = c_type(element);
        let mut line = self.place_of(*data);
        if self.nest.generic.inputs[*data].outside.is_some() {
            let test = self.scalars(Vec::new()).inside(*data);
            line = format!("{test} ? {line} : outside_of_all");
        }
        let weights = if window.weights.is_some() { "weights" } else { "0" };
        let sum = format!("sums[(i{iterator} - from) * {LANES} + l]");
        format!(
            "    const int64_t from = i{iterator}, end = tg_min({}, from + {count});
    const {ty} *columns[{}];
    {{
        int64_t column = 0;
{}        for (int64_t r = 0; r < {count}; r++) {{
            const int64_t i{lane} = 0, i{iterator} = tg_min(from + r, end - 1);
            columns[column++] = {line};
        }}
    }}
    for (int64_t lane = 0; lane < {lanes}; lane += {LANES}) {{
        const int64_t first = tg_min(lane, {});
        {ty} sums[{}] __attribute__((aligned(64)));
        {}({taps}, columns, {weights}, first, sums);
        for (int64_t i{iterator} = from; i{iterator} < end; i{iterator}++) {{
            TANGRAM_SIMD
            for (int64_t l = 0; l < {LANES}; l++) {{
                const int64_t i{lane} = first + l;
{}            }}
        }}
    }}
",
            self.extent(*iterator),
            taps * *count as i64,
            self.loops(None),
            lanes - LANES as i64,
            count * LANES,
            window.name(element),
            self.store(&sum, "                "),
        )
    }
}
