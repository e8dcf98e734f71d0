//! Elements one by one whose inputs lie side by side along another loop than the result.
//!
//! A tile is a square: rows of an input become vectors, these are transposed in registers, and the
//! body runs on them along the result.
//!
//! ```text
//! for p by 8: for c by 8:     y[c, p] = f(x[p, c])
//!     block = x[p .. p + 8, c .. c + 8], transposed
//!     for c', p': y[c + c', p + p'] = f(block[c', p'])
//! ```

use std::fmt::Write;

use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::Scalar;
use tangram_machine::Machine;
use tangram_polyhedral::ast::{Ast, Statements};

use super::body::{Scalars, c_type, index};
use super::kernel::Kernel;
use super::tile::TILE;
use super::{Instances, Sharing, head, shared_out, tail};
use crate::contraction::linear_terms;
use crate::nest::{Nest, Tensor};
use crate::packing::steps;
use crate::parameters::Parameters;
use crate::scop::{Role, array, arrays};

/// A nest that transposes.
#[derive(Clone, Debug)]
pub(crate) struct Transposed {
    /// The loop along which the result lies side by side.
    along: usize,
    /// The loop along which inputs do.
    across: usize,
    inputs: Vec<usize>,
    /// How many iterations of both a tile has.
    side: usize,
}

impl Transposed {
    /// Finds the loop along which most inputs lie side by side, if it is another than that of the
    /// result.
    pub fn of(nest: &Nest, machine: &Machine, tensors: &[Tensor]) -> Option<Transposed> {
        let side = if machine.vector_bytes >= 32 { 8 } else { 4 };
        let generic = &nest.generic;
        let one = |step: &Option<Expr>| step.as_ref().and_then(Expr::as_int) == Some(1);
        let is_long = |at: usize| generic.extents[at].as_int().is_none_or(|own| own >= side);
        let result = steps(&generic.output, &tensors[nest.output]);
        let along = nest.parallel().find(|at| is_long(*at) && one(&result[*at]))?;
        if !nest.is_parallel() || !nest.tables.is_empty() || machine.vector_bytes < 16 {
            return None;
        }
        let across = |at: usize| -> Vec<usize> {
            let inputs = 0..generic.inputs.len();
            let reads = |input: &usize| generic.body.scalars().contains(&Scalar::Input(*input));
            let fits = |input: &usize| {
                let tensor = &tensors[nest.inputs[*input]];
                let steps = steps(&generic.inputs[*input], tensor);
                let far = steps[along].as_ref().and_then(Expr::as_int);
                tensor.element.size_bits() == 32
                    && one(&steps[at])
                    && far.is_none_or(|far| far > 1)
                    && ends_tell(nest, *input, [along, at])
            };
            inputs.filter(reads).filter(fits).collect()
        };
        let others = nest.parallel().filter(|at| *at != along && is_long(*at));
        let found = others.map(|at| (across(at), at)).max_by_key(|(inputs, _)| inputs.len());
        let (inputs, across) = found.filter(|(inputs, _)| !inputs.is_empty())?;
        let side = usize::try_from(side).unwrap_or(4);
        Some(Transposed { along, across, inputs, side })
    }

    /// The size of tiles along a loop.
    pub fn size(&self, iterator: usize) -> i128 {
        if iterator == self.along || iterator == self.across { self.side as i128 } else { 1 }
    }

    /// The loops over tiles, those of `shared`: along the lines that are read last.
    pub fn order(&self, shared: &[usize]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..shared.len()).collect();
        order.sort_by_key(|at| match shared[*at] {
            own if own == self.across => 2,
            own if own == self.along => 1,
            _ => 0,
        });
        order
    }

    fn kernel(&self) -> Kernel {
        let (name, text) = match self.side {
            8 => ("tg_transpose_8", TRANSPOSE_8),
            _ => ("tg_transpose_4", TRANSPOSE_4),
        };
        Kernel::of_text(name.to_owned(), text.to_owned())
    }
}

/// Whether an input is read inside of its tensor by all of a square of two loops if it is by the first
/// and the last of them.
fn ends_tell(nest: &Nest, input: usize, square: [usize; 2]) -> bool {
    let access = &nest.generic.inputs[input];
    access.outside.is_none()
        || access.map.results().iter().all(|result| {
            let terms = linear_terms(&access.map, *result);
            terms.is_some_and(|terms| {
                terms.iter().all(|(own, factor)| !square.contains(own) || *factor >= 0)
            })
        })
}

/// The function of a nest that transposes, whose loops over tiles are those of `ast`.
pub(crate) fn function(
    nest: &Nest,
    transposed: &Transposed,
    tensors: &[Tensor],
    parameters: &Parameters,
    ast: &Ast,
) -> (String, Vec<Kernel>) {
    let nests = std::slice::from_ref(nest);
    let (order, _) = arrays(nests);
    let mut text = head(nests, tensors, parameters);
    let instances = Instances { nest, tensors, parameters, order: &order };
    let writer = Writer { instances, transposed };
    text.push_str(&shared_out(ast, &writer, &Sharing::all()));
    text.push_str(&tail(nests));
    (text, vec![transposed.kernel()])
}

struct Writer<'a> {
    instances: Instances<'a>,
    transposed: &'a Transposed,
}

impl Writer<'_> {
    fn extent(&self, iterator: usize) -> String {
        let Instances { nest, parameters, .. } = self.instances;
        parameters.text(&nest.generic.extents[iterator])
    }

    /// Whether all of a square is there, and inside of what it reads.
    fn is_whole(&self) -> String {
        let Transposed { along, across, inputs, side } = self.transposed;
        let Instances { nest, tensors, parameters, order } = self.instances;
        let mut text = format!(
            "    _Bool whole = from_along + {side} <= {} && from_across + {side} <= {};\n",
            self.extent(*along),
            self.extent(*across),
        );
        let scalars = Scalars { nest, tensors, parameters, order, known: Vec::new() };
        for input in inputs.iter().filter(|at| nest.generic.inputs[**at].outside.is_some()) {
            for last in [0, side - 1] {
                let _ = writeln!(
                    text,
                    "    {{ const int64_t i{along} = from_along + {last}, i{across} = \
                     from_across + {last}; whole &= {}; }}",
                    scalars.inside(*input)
                );
            }
        }
        text
    }

    /// Reads squares, and runs the body on them.
    fn square(&self) -> String {
        let Transposed { along, across, inputs, side } = self.transposed;
        let Instances { nest, tensors, parameters, order } = self.instances;
        let generic = &nest.generic;
        let (mut text, mut known) = (String::new(), Vec::new());
        for input in inputs {
            let (tensor, access) = (nest.inputs[*input], &generic.inputs[*input]);
            let ty = c_type(tensors[tensor].element);
            let place = index(&access.map, &generic.symbols, &tensors[tensor].extents, parameters);
            let _ = writeln!(
                text,
                "        const {ty} *rows{input}[{side}];
        for (int64_t r = 0; r < {side}; r++) {{
            const int64_t i{along} = from_along + r, i{across} = from_across;
            rows{input}[r] = {} + ({place});
        }}
        {ty} block{input}[{}] __attribute__((aligned(64)));
        tg_transpose_{side}((const float *const *)rows{input}, (float *)block{input});",
                array(tensor, order),
                side * side,
            );
            known.push((*input, format!("block{input}[c * {side} + l]")));
        }
        let body = self.body("from_along + l", "from_across + c", known);
        let _ = write!(
            text,
            "        for (int64_t c = 0; c < {side}; c++) {{
            TANGRAM_SIMD
            for (int64_t l = 0; l < {side}; l++) {{\n{body}            }}\n        }}\n"
        );
        text
    }

    fn body(&self, along: &str, across: &str, known: Vec<(usize, String)>) -> String {
        let own = self.transposed;
        let mut text = format!(
            "                const int64_t i{} = {along}, i{} = {across};\n",
            own.along, own.across
        );
        for line in self.instances.lines(Role::Update, known) {
            let _ = writeln!(text, "                {line}");
        }
        text
    }
}

impl Statements for Writer<'_> {
    fn instance(&self, name: &str, arguments: &[String]) -> String {
        if name != TILE {
            return format!("{name}({});", arguments.join(", "));
        }
        let Transposed { along, across, side, .. } = self.transposed;
        let mut text = String::from("{\n");
        for (iterator, value) in self.instances.nest.parallel().zip(arguments) {
            let name = match iterator {
                own if own == *along => "from_along".to_owned(),
                own if own == *across => "from_across".to_owned(),
                own => format!("i{own}"),
            };
            let _ = writeln!(text, "    const int64_t {name} = {value};");
        }
        text.push_str(&self.is_whole());
        let _ = write!(
            text,
            "    if (tg_likely(whole)) {{\n{}    }} else {{
        const int64_t rows = tg_min({}, from_across + {side}), end = tg_min({}, from_along + {side});
        for (int64_t c = from_across; c < rows; c++)
            for (int64_t l = from_along; l < end; l++) {{\n{}            }}\n    }}\n}}",
            self.square(),
            self.extent(*across),
            self.extent(*along),
            self.body("l", "c", Vec::new()),
        );
        text
    }
}

/// Eight rows of eight numbers of 32 bits: neighbours are interleaved, then pairs, then halves.
const TRANSPOSE_8: &str = r"typedef float tg_row_8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t tg_lanes_8 __attribute__((vector_size(32)));
#if defined(__clang__)
#define tg_mix_8(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define tg_mix_8(a, b, ...) __builtin_shuffle(a, b, (tg_lanes_8){__VA_ARGS__})
#endif
static inline void tg_transpose_8(const float *const *rows, float *restrict block)
{
    tg_row_8 one[8], two[8];
    for (int i = 0; i < 8; i++)
        one[i] = *(const tg_row_8 *)rows[i];
    for (int i = 0; i < 8; i += 2) {
        two[i] = tg_mix_8(one[i], one[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        two[i + 1] = tg_mix_8(one[i], one[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
        for (int j = 0; j < 2; j++) {
            one[i + 2 * j] = tg_mix_8(two[i + j], two[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            one[i + 2 * j + 1] = tg_mix_8(two[i + j], two[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; i++) {
        *(tg_row_8 *)(block + 8 * i) = tg_mix_8(one[i], one[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        *(tg_row_8 *)(block + 8 * i + 32) = tg_mix_8(one[i], one[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
";

/// Four rows of four: neighbours are interleaved, then pairs.
const TRANSPOSE_4: &str = r"typedef float tg_row_4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t tg_lanes_4 __attribute__((vector_size(16)));
#if defined(__clang__)
#define tg_mix_4(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define tg_mix_4(a, b, ...) __builtin_shuffle(a, b, (tg_lanes_4){__VA_ARGS__})
#endif
static inline void tg_transpose_4(const float *const *rows, float *restrict block)
{
    tg_row_4 one[4], two[4];
    for (int i = 0; i < 4; i++)
        one[i] = *(const tg_row_4 *)rows[i];
    for (int i = 0; i < 4; i += 2) {
        two[i] = tg_mix_4(one[i], one[i + 1], 0, 4, 1, 5);
        two[i + 1] = tg_mix_4(one[i], one[i + 1], 2, 6, 3, 7);
    }
    for (int i = 0; i < 2; i++) {
        *(tg_row_4 *)(block + 8 * i) = tg_mix_4(two[i], two[i + 2], 0, 1, 4, 5);
        *(tg_row_4 *)(block + 8 * i + 4) = tg_mix_4(two[i], two[i + 2], 2, 3, 6, 7);
    }
}
";
