//! Convolutions of 3 by 3 by Winograd's algorithm F(4x4, 3x3).
//!
//! ```text
//! d: a window of 6 by 6 of the input, at every fourth position; g: 3 by 3 weights
//! Y = A' [(G g G') * (B' d B)] A           4 by 4 results, * element by element
//! ```
//!
//! The sum over channels is taken before the last transform, so that each of the 36 elements is a
//! product of matrices, windows by channels and channels by results: 36 multiplications for 16
//! results where the definition has 144. The weights are transformed and packed once. Sums are
//! taken in another order, and numbers up to 8 times larger are in between: results differ from
//! the definition's by about ten times the rounding of a sum.
//!
//! Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016; the points of
//! interpolation are 0, 1, -1, 2, -2 and infinity.

use tangram_affine::AffineMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::{Access, Generic, TensorId};
use tangram_kernel::{Body, Element, RegisterTile};
use tangram_machine::Machine;

use crate::contraction::{Product, is_linear, linear_terms};
use crate::nest::{Nest, Tensor};
use crate::packing::fitting;
use crate::program::{Buffer, Storage};
use crate::storage::Draft;

/// Elements of a transformed window.
pub(crate) const ELEMENTS: usize = 36;
/// Results along a side of a window.
pub(crate) const SIDE: usize = 4;
/// Rows of a product that fill register tiles and make it worth to stream its panels.
const ROWS: usize = 32;
/// The height and width of images of which only a run knows them, for the cost.
const USUAL: usize = 40;
/// Windows of a block along rows of which only a run knows the length.
const ACROSS: usize = 8;
/// What lies outside is read from a row of as many zeros.
pub(crate) const MOST_CHANNELS: usize = 4096;

/// A convolution, and how it is computed.
#[derive(Clone, Debug)]
pub(crate) struct Winograd {
    /// The definition.
    pub nest: Nest,
    /// What is multiplied.
    pub product: Product,
    /// Loops around those of the windows, outermost first.
    pub outer: Vec<usize>,
    /// The loops of the result along windows: `[y, x]`.
    pub position: [usize; 2],
    /// The coordinates of the input along windows: `[y, x]`.
    pub coordinates: [usize; 2],
    /// The loop over channels.
    pub channel: usize,
    /// The loops of the window: `[y, x]`.
    pub window: [usize; 2],
    /// How many windows a block has: `[along y, along x]`.
    pub block: [usize; 2],
    /// Channels, and how many of them are transformed at once.
    pub channels: usize,
    pub lanes: usize,
    /// Panels of results.
    pub panels: usize,
    pub tile: RegisterTile,
    /// Tensors: weights, transformed `[36, panel, channel, column]`.
    pub weights: usize,
    /// Windows of a block, transformed: `[36, window, channel]`.
    pub input: usize,
    /// Their products: `[36, panel, window, column]`.
    pub products: usize,
}

impl Winograd {
    /// Reads a sum of products as a convolution that is faster so on a machine.
    pub fn of(
        nest: &Nest,
        product: &Product,
        draft: &mut Draft<'_>,
        machine: &Machine,
    ) -> Option<Winograd> {
        let shape = Shape::of(nest, product, draft)?;
        let known = |at: usize| {
            let extent = nest.generic.extents[at].as_int()?;
            usize::try_from(extent).ok().filter(|extent| *extent > 0)
        };
        let sides = shape.position.map(known);
        let [height, width] = sides.map(|side| side.unwrap_or(USUAL));
        let (channels, columns) = (known(shape.channel)?, known(product.column)?);
        let rows = height.div_ceil(SIDE);
        // Rows of a length that only a run knows are divided as well: into squares, so that little
        // of a block is beyond the end.
        let across = match sides[1] {
            Some(width) => width.div_ceil(SIDE),
            None => ACROSS,
        };
        let mut block = ROWS.div_ceil(across).min(rows);
        let body = Body::product();
        let sized = |block: usize| {
            let sizes = [across * block, columns, channels];
            fitting(machine, Element::F32, &body, sizes.map(|size| i64::try_from(size).ok()))
        };
        // Panels that no near cache keeps come once for each block: those are as large then as
        // what passes by twice may be.
        let near = machine.caches.get(1).map_or(1 << 19, |cache| cache.bytes);
        let streams = 4 * ELEMENTS * channels * columns > near / 2;
        if streams {
            block = rows;
        }
        let most = if streams { 4 * near } else { near / 2 };
        let mut tile = sized(block);
        let bytes = |block: usize, tile: &RegisterTile| {
            let width = channels + columns.next_multiple_of(tile.columns());
            4 * ELEMENTS * across * block * width
        };
        while block > 1 && bytes(block, &tile) > most {
            block -= 1;
            tile = sized(block);
        }
        let lanes = [tile.width, 8, 4].into_iter().find(|lanes| channels.is_multiple_of(*lanes))?;
        if tile.width < 4 || lanes > tile.width || channels > MOST_CHANNELS {
            return None;
        }
        let wide = width.div_ceil(SIDE);
        let work = Work { channels, columns, results: height * width, windows: wide * rows };
        let blocks = rows.div_ceil(block) * wide.div_ceil(across);
        if !work.pays(&tile, machine, blocks) {
            return None;
        }
        let panels = columns.div_ceil(tile.columns());
        let count = across * block;
        let weights = tensor(draft, &[ELEMENTS, panels, channels, tile.columns()], false)?;
        let input = tensor(draft, &[ELEMENTS, count, channels], true)?;
        let products = tensor(draft, &[ELEMENTS, panels, count, tile.columns()], true)?;
        let Shape { outer, position, coordinates, channel, window } = shape;
        let (nest, product) = (nest.clone(), product.clone());
        Some(Winograd {
            nest,
            product,
            outer,
            position,
            coordinates,
            channel,
            window,
            block: [block, across],
            channels,
            lanes,
            panels,
            tile,
            weights,
            input,
            products,
        })
    }

    /// The loops whose blocks are computed one after the other, outermost first.
    pub fn rows(&self) -> Vec<usize> {
        self.outer.iter().copied().chain(self.position).collect()
    }

    /// How many windows a block has.
    pub fn count(&self) -> usize {
        self.block[0] * self.block[1]
    }

    /// The nests whose tensors the code has: those of the transforms are there for their tensors
    /// alone, and the last one is the convolution, of transformed weights.
    pub fn stages(&self) -> Vec<Nest> {
        let between = |output: usize| {
            let generic = Generic::over(Vec::new());
            let (inputs, tables, finish) = (Vec::new(), Vec::new(), None);
            Nest { ops: self.nest.ops.clone(), generic, inputs, tables, output, finish }
        };
        let mut last = self.nest.clone();
        last.inputs[self.product.columns_input] = self.weights;
        vec![between(self.input), between(self.products), last]
    }

    /// The nest that the weights are packed by, of their tensors alone.
    pub fn packing(&self) -> Nest {
        let at = self.product.columns_input;
        // Nothing of this depends on what only a run knows.
        let own = [self.product.column, self.channel, self.window[0], self.window[1]];
        let extents = self.nest.generic.extents.iter().enumerate();
        let extents = extents.map(|(at, extent)| match own.contains(&at) {
            true => extent.clone(),
            false => Expr::int(1),
        });
        let mut generic = Generic::over(extents.collect::<Vec<_>>());
        let weights = &self.nest.generic.inputs[at];
        generic.read(Access::new(TensorId::Operand(0), weights.map.clone()));
        Nest {
            ops: self.nest.ops.clone(),
            generic,
            inputs: vec![self.nest.inputs[at]],
            tables: Vec::new(),
            output: self.weights,
            finish: None,
        }
    }
}

/// Adds a tensor of numbers.
fn tensor(draft: &mut Draft<'_>, extents: &[usize], scratch: bool) -> Option<usize> {
    let element = tangram_tensor::DType::F32;
    let extents: Option<Vec<Expr>> =
        extents.iter().map(|&extent| Some(Expr::int(i64::try_from(extent).ok()?))).collect();
    let extents = extents?;
    let size = crate::scop::count(&extents)?;
    draft.buffers.push(Buffer { element, size, storage: Storage::Arena, per_part: scratch });
    let buffer = draft.buffers.len() - 1;
    draft.tensors.push(Tensor { element, extents, buffer, scratch, range: None });
    Some(draft.tensors.len() - 1)
}

/// The loops of a convolution of 3 by 3 with steps of one.
struct Shape {
    outer: Vec<usize>,
    position: [usize; 2],
    coordinates: [usize; 2],
    channel: usize,
    window: [usize; 2],
}

impl Shape {
    fn of(nest: &Nest, product: &Product, draft: &Draft<'_>) -> Option<Shape> {
        let generic = &nest.generic;
        let [input, weights] =
            [product.rows_input, product.columns_input].map(|at| &generic.inputs[at]);
        let constant = &draft.tensors[nest.inputs[product.columns_input]];
        let is_constant = matches!(draft.buffers[constant.buffer].storage, Storage::Constant(_));
        let alone = product.batch.is_empty() && product.outer_columns.is_empty();
        let has_symbols = |map: &AffineMap| map.used().1.iter().any(|used| *used);
        if !is_constant
            || !alone
            || product.element != Element::F32
            || product.reduced.len() != 3
            || weights.outside.is_some()
            || !is_linear(&weights.map)
            || has_symbols(&weights.map)
            || has_symbols(&input.map)
        {
            return None;
        }
        let terms: Option<Vec<Vec<(usize, i64)>>> =
            input.map.results().iter().map(|result| linear_terms(&input.map, *result)).collect();
        let terms = terms?;
        let of_window = |terms: &[(usize, i64)]| match terms {
            [(a, 1), (b, 1)] => {
                let (row, window) = if product.rows.contains(a) { (*a, *b) } else { (*b, *a) };
                let fits = product.rows.contains(&row) && product.reduced.contains(&window);
                (fits && generic.extents[window].as_int() == Some(3)).then_some((row, window))
            }
            _ => None,
        };
        let found: Vec<(usize, usize, usize)> = terms
            .iter()
            .enumerate()
            .filter_map(|(at, terms)| of_window(terms).map(|(row, window)| (at, row, window)))
            .collect();
        let [(y, row, over), (x, column, across)] = found[..] else { return None };
        let channel = *product.reduced.iter().find(|at| **at != over && **at != across)?;
        // Channels lie side by side, and all else is the same in all of a window.
        let last = terms.len() - 1;
        let others = terms.iter().enumerate().filter(|(at, _)| ![y, x, last].contains(at));
        let mut others = others.flat_map(|(_, terms)| terms);
        let outer: Vec<usize> =
            product.rows.iter().copied().filter(|at| *at != row && *at != column).collect();
        let fits = terms[last][..] == [(channel, 1)]
            && row != column
            && over != across
            && others.all(|(at, _)| outer.contains(at));
        fits.then_some(Shape {
            outer,
            position: [row, column],
            coordinates: [y, x],
            channel,
            window: [over, across],
        })
    }
}

/// What a convolution of one image takes.
struct Work {
    channels: usize,
    columns: usize,
    results: usize,
    windows: usize,
}

impl Work {
    /// Whether transforms and the larger weights cost less than the multiplications that they save.
    fn pays(&self, tile: &RegisterTile, machine: &Machine, blocks: usize) -> bool {
        let &Work { channels, columns, results, windows } = self;
        let lanes = (machine.fma_per_cycle * tile.width) as f64;
        let matrix = (channels * columns) as f64;
        let direct = 9.0 * matrix * results as f64 / lanes;
        let products = ELEMENTS as f64 * matrix * windows as f64 / lanes;
        // About as many instructions for each vector of a window or of its results (72 loads, as
        // many stores, and 12 additions for each six of them), two in a cycle.
        let vectors = windows as f64 * (channels + columns) as f64 / tile.width as f64;
        let transforms = 150.0 * vectors;
        // Panels come from afar once, and again for each block where no near cache keeps them.
        // Measured with AVX-512 on one core of a busy machine: 10 bytes in a cycle where all are
        // little more than the second cache, 7 where they are much more.
        let near = machine.caches.get(1).map_or(1 << 19, |cache| cache.bytes) as f64;
        let rate = |bytes: f64| if bytes < 2.0 * near { 10.0 } else { 7.0 };
        let bytes = 4.0 * ELEMENTS as f64 * matrix;
        let again = if bytes < near / 2.0 { 32.0 } else { rate(bytes) };
        let panels = bytes / rate(bytes) + bytes * (blocks - 1) as f64 / again;
        let weights = 4.0 * 9.0 * matrix;
        products + transforms + panels < 0.8 * (direct + weights / rate(weights))
    }
}
