//! Inputs on which a model can be evaluated.
//!
//! A model says less of its inputs than it needs: that two symbols have to be equal, that one is
//! the sum of two others, that a signal is longer than a window. So several sizes are tried, small
//! ones first, until the model can be evaluated.

use std::collections::BTreeMap;

use fastrand::Rng;
use tangram_dialects::interpret::Datum;
use tangram_dialects::nn::container::held_type;
use tangram_dialects::{dims, dtype};
use tangram_ir::{Block, Context, Dim, Module, TypeData};
use tangram_onnx::Model;
use tangram_tensor::{DType, Tensor, bf16, checked_count, element_count, f16, within};

use super::{CheckOptions, Reason, run};

/// How extents that are open are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sizes {
    /// 2, 3, 4 in turn: extents that need not be equal are not.
    InTurn,
    /// All alike.
    All(usize),
    /// Each symbol one of 1 to 6, by chance.
    Random(u64),
}

/// What is tried, in order.
fn attempts() -> impl Iterator<Item = Sizes> {
    let small = [Sizes::InTurn, Sizes::All(1), Sizes::All(2)];
    let large = [8, 16, 32, 64, 224, 512, 1024, 4096, 16_384, 65_536].map(Sizes::All);
    small.into_iter().chain((0..24).map(Sizes::Random)).chain(large)
}

/// Inputs are not made larger than this many elements for the sake of trying.
const MOST_ELEMENTS: usize = 1 << 20;
/// No value is made larger than this many bytes for the sake of trying.
const MOST_BYTES: usize = 1 << 31;

/// Inputs on which a model was evaluated, and what it gave.
pub(super) struct Tried {
    pub(super) inputs: Vec<Datum>,
    pub(super) shapes: Vec<Vec<usize>>,
    pub(super) outputs: Vec<Datum>,
}

/// Finds inputs on which `model` can be evaluated, and what it gives.
///
/// # Errors
/// Why it could not be evaluated on the first that were tried.
pub(super) fn find(
    model: &Model,
    options: &CheckOptions,
) -> Result<(Vec<Datum>, Vec<Datum>), Reason> {
    match find_all(model, options, 1)?.pop() {
        Some(tried) => Ok((tried.inputs, tried.outputs)),
        None => Err("no inputs were tried".to_owned()),
    }
}

/// Finds inputs of up to `runs` sizes on which `model` can be evaluated; where sizes are fixed,
/// other data of the same size.
///
/// # Errors
/// Why it could not be evaluated on the first that were tried.
pub(super) fn find_all(
    model: &Model,
    options: &CheckOptions,
    runs: usize,
) -> Result<Vec<Tried>, Reason> {
    let module = &model.module;
    known_names(module, options)?;
    let (mut first, mut tried) = (None, Vec::new());
    let mut found: Vec<Tried> = Vec::new();
    for sizes in attempts() {
        let Some((inputs, shapes)) = make(module, options, sizes)? else { continue };
        if tried.contains(&shapes) {
            continue;
        }
        match within(MOST_BYTES, || run(model, &inputs)) {
            Ok(outputs) => found.push(Tried { inputs, shapes: shapes.clone(), outputs }),
            Err(reason) => {
                first.get_or_insert(reason);
            }
        }
        tried.push(shapes);
        if found.len() == runs {
            return Ok(found);
        }
    }
    if found.is_empty() {
        let reason = first.unwrap_or_else(|| "its inputs are too large to be made up".to_owned());
        let times = tried.len();
        return Err(format!(
            "{reason} (the first of {times} sizes that were tried; shapes or data can be given)"
        ));
    }
    // No size is left open: other numbers.
    while tried.len() == 1 && found.len() < runs {
        let seed = options.seed.wrapping_add(found.len() as u64);
        let options = CheckOptions { seed, ..options.clone() };
        let Some((inputs, shapes)) = make(module, &options, Sizes::InTurn)? else { break };
        let outputs = run(model, &inputs)?;
        found.push(Tried { inputs, shapes, outputs });
    }
    Ok(found)
}

/// Makes up inputs for the main graph of `module`, of other sizes each time: small ones first. What is named in
/// `options` has the extents or data that are given there.
///
/// # Errors
/// What cannot be made up, or a name that no input has.
pub fn made_up<'a>(
    module: &'a Module,
    options: &'a CheckOptions,
) -> Result<impl Iterator<Item = Vec<Datum>> + use<'a>, Reason> {
    known_names(module, options)?;
    // What is wrong with the first is wrong with all.
    make(module, options, Sizes::InTurn)?;
    let mut tried = Vec::new();
    let made = attempts().filter_map(|sizes| make(module, options, sizes).ok().flatten());
    Ok(made.filter_map(move |(inputs, shapes)| {
        let new = !tried.contains(&shapes);
        tried.push(shapes);
        new.then_some(inputs)
    }))
}

/// Returns whether what is named is there.
fn known_names(module: &Module, options: &CheckOptions) -> Result<(), Reason> {
    let known = names(module)?;
    let given = options.shapes.iter().map(|s| &s.0).chain(options.data.iter().map(|d| &d.0));
    for name in given {
        if !known.contains(name) {
            return Err(format!("there is no input `{name}`; there are {}", known.join(", ")));
        }
    }
    Ok(())
}

/// The names of the inputs of a program's main graph, in order.
///
/// # Errors
/// It has no graph.
pub fn names(module: &Module) -> Result<Vec<String>, Reason> {
    let block = graph(module).ok_or("the model has no graph")?;
    let name = |&arg| match module.value_name(arg) {
        Some(name) => module.context().text(name).to_owned(),
        None => String::new(),
    };
    Ok(module.args(block).iter().map(name).collect())
}

/// The block of the main graph.
fn graph(module: &Module) -> Option<Block> {
    let main = module.first_op(module.body())?;
    module.first_block(*module.regions(main).first()?)
}

type Made = (Vec<Datum>, Vec<Vec<usize>>);

/// Makes inputs for the main graph, with their shapes; nothing where they would be too large.
fn make(module: &Module, options: &CheckOptions, sizes: Sizes) -> Result<Option<Made>, Reason> {
    let block = graph(module).ok_or("the model has no graph")?;
    let context = module.context();
    let mut random = Rng::with_seed(options.seed);
    let mut chosen = Chosen::new(sizes);
    let (mut inputs, mut shapes) = (Vec::new(), Vec::new());
    for (&arg, name) in module.args(block).iter().zip(names(module)?) {
        if let Some((_, tensor)) = options.data.iter().find(|given| given.0 == name) {
            shapes.push(tensor.shape().to_vec());
            inputs.push(Datum::Tensor(tensor.clone()));
            continue;
        }
        let ty = module.value_type(arg);
        // Two tensors make a sequence, one an optional value that is there.
        let wrapped = |name| held_type(context, ty, name);
        let (ty, around) = match (wrapped("nn.sequence"), wrapped("nn.optional")) {
            (Some(held), _) => (held, Around::Sequence),
            (None, Some(held)) => (held, Around::Optional),
            _ => (ty, Around::Nothing),
        };
        let element = context.element_type(ty);
        let dtype = element.and_then(|e| dtype::dtype_of(context, e));
        let dtype = dtype.ok_or("an input is no tensor of known elements")?;
        let given = options.shapes.iter().find(|given| given.0 == name);
        let shape: Vec<usize> = match (given, context.type_data(ty)) {
            (Some((_, shape)), _) => shape.clone(),
            (None, TypeData::Tensor(tensor)) => {
                let fixed = tensor.dims.iter().all(|dim| dim.as_static().is_some());
                let shape: Vec<usize> =
                    tensor.dims.iter().map(|&dim| chosen.size(context, dim)).collect();
                let large = |count| count > MOST_ELEMENTS;
                if !fixed && element_count(&shape).is_none_or(large) {
                    return Ok(None);
                }
                shape
            }
            _ => return Err(format!("the rank of input `{name}` is unknown: give its shape")),
        };
        let mut tensor = || random_tensor(dtype, &shape, &mut random).map(Datum::Tensor);
        inputs.push(match around {
            Around::Nothing => tensor()?,
            Around::Sequence => Datum::Sequence(vec![tensor()?, tensor()?]),
            Around::Optional => Datum::Optional(Some(Box::new(tensor()?))),
        });
        shapes.push(shape);
    }
    Ok(Some((inputs, shapes)))
}

/// What an input holds its tensors in.
#[derive(Clone, Copy)]
enum Around {
    Nothing,
    Sequence,
    Optional,
}

/// The sizes of symbols so far.
struct Chosen {
    sizes: Sizes,
    symbols: BTreeMap<String, i64>,
    random: Rng,
}

impl Chosen {
    fn new(sizes: Sizes) -> Chosen {
        let seed = if let Sizes::Random(seed) = sizes { seed } else { 0 };
        Chosen { sizes, symbols: BTreeMap::new(), random: Rng::with_seed(seed) }
    }

    fn size(&mut self, context: &Context, dim: Dim) -> usize {
        let Some(expr) = dims::expr(context, dim) else {
            return usize::try_from(self.next()).unwrap_or(2);
        };
        for symbol in expr.symbols() {
            self.symbol(context, symbol);
        }
        let value = expr.eval(&|symbol| self.symbols.get(symbol).copied()).unwrap_or(2);
        usize::try_from(value).unwrap_or(2)
    }

    /// The size of a symbol. Some exporters name an extent by a sum: `past + sequence`.
    fn symbol(&mut self, context: &Context, name: &str) -> i64 {
        if let Some(&known) = self.symbols.get(name) {
            return known;
        }
        let size = match name.contains('+') {
            true => {
                let parts = name.split('+').map(|part| self.term(context, part.trim()));
                parts.fold(0i64, i64::saturating_add)
            }
            false => self.within(context, name),
        };
        self.symbols.insert(name.to_owned(), size);
        size
    }

    fn term(&mut self, context: &Context, text: &str) -> i64 {
        if let Ok(number) = text.parse() {
            return number;
        }
        if let Some(&known) = self.symbols.get(text) {
            return known;
        }
        let size = self.within(context, text);
        self.symbols.insert(text.to_owned(), size);
        size
    }

    /// The next size, counted from the least that is assumed of `symbol`, up to the greatest.
    fn within(&mut self, context: &Context, symbol: &str) -> i64 {
        let (least, greatest) = dims::range(context, symbol).unwrap_or((1, i64::MAX));
        least.max(1).saturating_add(self.next() - 1).min(greatest)
    }

    fn next(&mut self) -> i64 {
        match self.sizes {
            Sizes::InTurn => 2 + (self.symbols.len() as i64 % 3),
            Sizes::All(size) => size as i64,
            Sizes::Random(_) => self.random.i64(1..7),
        }
    }
}

/// A number between -1 and 1.
fn unit(random: &mut Rng) -> f64 {
    random.f64() * 2.0 - 1.0
}

fn random_tensor(dtype: DType, shape: &[usize], random: &mut Rng) -> Result<Tensor, Reason> {
    let count = checked_count(dtype, shape).map_err(|error| error.to_string())?;
    macro_rules! fill {
        ($make:expr) => {{
            let data: Vec<_> = (0..count).map(|_| $make).collect();
            Tensor::from_vec(shape, data).map_err(|error| error.to_string())
        }};
    }
    // Integers are often indices: small ones stay in range.
    match dtype {
        DType::F32 => fill!(unit(random) as f32),
        DType::F64 => fill!(unit(random)),
        DType::F16 => fill!(f16::from_f64(unit(random))),
        DType::BF16 => fill!(bf16::from_f64(unit(random))),
        DType::Bool => fill!(random.bool()),
        DType::I64 => fill!(random.i64(0..2)),
        DType::I32 => fill!(random.i32(0..2)),
        DType::I16 => fill!(random.i16(0..2)),
        DType::I8 => fill!(random.i8(0..2)),
        DType::U64 => fill!(random.u64(0..2)),
        DType::U32 => fill!(random.u32(0..2)),
        DType::U16 => fill!(random.u16(0..2)),
        DType::U8 => fill!(random.u8(..)),
        DType::String => {
            let text: Vec<Vec<u8>> = (0..count).map(|i| format!("text {i}").into_bytes()).collect();
            Tensor::from_strings(shape, text).map_err(|error| error.to_string())
        }
        _ => Err(format!("there are no random inputs of {dtype}")),
    }
}
