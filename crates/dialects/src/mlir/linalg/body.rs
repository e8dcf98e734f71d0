//! What each named operation does to elements: the body that its text does not show.
//!
//! Elements of inputs become elements of the output's type first: integers are widened as signed
//! ones unless an attribute says otherwise. Products of truth values are conjunctions, their sums
//! disjunctions.

use tangram_affine::{AffineExprs, AffineMap};
use tangram_ir::{
    Attr, AttrData, Context, FloatKind, ImpliedBody, ImpliedStep, Module, Op, Type, TypeData, Value,
};

/// What kind of numbers elements are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Float,
    Int,
    Truth,
    /// Elements that are no numbers, which are only moved.
    Other,
}

/// A body in the making.
struct Draft<'a> {
    context: &'a Context,
    steps: Vec<ImpliedStep>,
    types: Vec<Type>,
    out: Type,
    kind: Kind,
    unsigned: bool,
}

/// The body of a named operation; `None` for elements that are no numbers.
pub(super) fn named(module: &Module, op: Op) -> Option<ImpliedBody> {
    let types: Option<Vec<Type>> = module.operands(op).map(|v| element(module, v)).collect();
    let types = types?;
    let (&out, inputs) = types.split_last()?;
    let context = module.context();
    let unsigned = matches!(
        module.attr(op, "cast").map(|attr| context.attr_data(attr)),
        Some(AttrData::Opaque(text)) if context.text(*text).contains("unsigned")
    ) || module.name_text(op).ends_with("_unsigned");
    let kind = kind(context, out)?;
    let count = inputs.len();
    let mut draft = Draft { context, steps: Vec::new(), types: types.clone(), out, kind, unsigned };
    let name = module.name_text(op).strip_prefix("linalg.")?;
    let value = draft.value(name, count)?;
    let attrs = maps(context, name).map(|maps| ("indexing_maps", maps)).into_iter().collect();
    let steps = draft.steps;
    Some(ImpliedBody { args: types, steps, terminator: "linalg.yield", yields: vec![value], attrs })
}

/// The body of an operation whose attribute `kind` says what it does, and its maps.
pub(super) fn elementwise(module: &Module, op: Op) -> Option<ImpliedBody> {
    let types: Option<Vec<Type>> = module.operands(op).map(|v| element(module, v)).collect();
    let types = types?;
    let (&out, inputs) = types.split_last()?;
    let context = module.context();
    let AttrData::Opaque(text) = context.attr_data(module.attr(op, "kind")?) else { return None };
    let name = context.text(*text).strip_prefix("linalg.elementwise_kind<")?.strip_suffix('>')?;
    let (name, unsigned) = match name {
        "max_signed" => ("max", false),
        "min_signed" => ("min", false),
        "max_unsigned" => ("max_unsigned", true),
        "min_unsigned" => ("min_unsigned", true),
        _ => (name, false),
    };
    let kind = kind(context, out)?;
    let (count, steps) = (inputs.len(), Vec::new());
    let mut draft = Draft { context, steps, types: types.clone(), out, kind, unsigned };
    let value = draft.value(name, count)?;
    let written = module.value_type(module.operands(op).next_back()?);
    let rank = match context.type_data(written) {
        TypeData::Tensor(tensor) => tensor.dims.len(),
        TypeData::MemRef { dims, .. } => dims.len(),
        _ => return None,
    };
    let map = context.attr(AttrData::AffineMap(AffineMap::identity(rank as u32)));
    let attrs = vec![("indexing_maps", context.array_attr(&vec![map; count + 1]))];
    let steps = draft.steps;
    Some(ImpliedBody { args: types, steps, terminator: "linalg.yield", yields: vec![value], attrs })
}

/// The body of an operation that only moves elements.
pub(super) fn moved(module: &Module, op: Op) -> Option<ImpliedBody> {
    let args: Option<Vec<Type>> = module.operands(op).map(|v| element(module, v)).collect();
    let (args, steps, attrs) = (args?, Vec::new(), Vec::new());
    Some(ImpliedBody { args, steps, terminator: "linalg.yield", yields: vec![0], attrs })
}

/// The type of what a value holds one by one; that of a scalar itself.
fn element(module: &Module, value: Value) -> Option<Type> {
    let ty = module.value_type(value);
    match module.context().type_data(ty) {
        TypeData::Tensor(tensor) => Some(tensor.element),
        TypeData::MemRef { element, .. } => Some(*element),
        TypeData::Integer { .. }
        | TypeData::Index
        | TypeData::Float(_)
        | TypeData::Vector { .. } => Some(ty),
        _ => None,
    }
}

fn kind(context: &Context, ty: Type) -> Option<Kind> {
    match context.type_data(ty) {
        TypeData::Float(_) => Some(Kind::Float),
        TypeData::Integer { width: 1, .. } => Some(Kind::Truth),
        TypeData::Integer { .. } | TypeData::Index => Some(Kind::Int),
        TypeData::Vector { .. } | TypeData::Complex(_) => Some(Kind::Other),
        _ => None,
    }
}

/// The maps that products of matrices have where none are written.
fn maps(context: &Context, name: &str) -> Option<Attr> {
    let (dims, maps): (u32, [&[u32]; 3]) = match name {
        "matmul" => (3, [&[0, 2], &[2, 1], &[0, 1]]),
        "batch_matmul" => (4, [&[0, 1, 3], &[0, 3, 2], &[0, 1, 2]]),
        "batch_reduce_matmul" => (4, [&[0, 1, 3], &[0, 3, 2], &[1, 2]]),
        _ => return None,
    };
    let map = |results: &[u32]| {
        let mut exprs = AffineExprs::new();
        let results: Vec<_> = results.iter().map(|&i| exprs.dim(i)).collect();
        context.attr(AttrData::AffineMap(AffineMap::new(dims, 0, &exprs, &results)))
    };
    Some(context.array_attr(&maps.map(map)))
}

impl Draft<'_> {
    fn step(&mut self, name: &'static str, operands: &[usize], result: Type) -> usize {
        let step = ImpliedStep { name, operands: operands.to_vec(), attr: None, result };
        self.steps.push(step);
        self.types.push(result);
        self.types.len() - 1
    }

    /// An operation by the kind of its numbers.
    fn by_kind(&mut self, names: [&'static str; 3], operands: &[usize]) -> Option<usize> {
        let name = match self.kind {
            Kind::Float => names[0],
            Kind::Int => names[1],
            Kind::Truth => names[2],
            Kind::Other => return None,
        };
        let fits = operands.iter().all(|&i| self.types[i] == self.out);
        (!name.is_empty() && fits).then(|| self.step(name, operands, self.out))
    }

    /// Value `i` as one of the output's type.
    fn cast(&mut self, i: usize) -> Option<usize> {
        let from = self.types[i];
        if from == self.out {
            return Some(i);
        }
        let (source, context) = (kind(self.context, from)?, self.context);
        if source == Kind::Other || self.kind == Kind::Other {
            return None;
        }
        let bits = |ty| match context.type_data(ty) {
            TypeData::Integer { width, .. } => Some(*width),
            TypeData::Float(kind) => Some(kind.width()),
            _ => None,
        };
        let (narrow, wide) = (bits(from)?, bits(self.out)?);
        let name = match (source == Kind::Float, self.kind == Kind::Float) {
            (true, true) if narrow < wide => "arith.extf",
            (true, true) if narrow > wide => "arith.truncf",
            (true, true) => return None,
            (true, false) if self.unsigned => "arith.fptoui",
            (true, false) => "arith.fptosi",
            (false, true) if self.unsigned => "arith.uitofp",
            (false, true) => "arith.sitofp",
            (false, false) if narrow > wide => "arith.trunci",
            (false, false) if self.unsigned => "arith.extui",
            (false, false) => "arith.extsi",
        };
        Some(self.step(name, &[i], self.out))
    }

    fn multiply_add(&mut self, count: usize) -> Option<usize> {
        if count != 2 {
            return None;
        }
        let (a, b) = (self.cast(0)?, self.cast(1)?);
        let product = self.by_kind(["arith.mulf", "arith.muli", "arith.andi"], &[a, b])?;
        self.by_kind(["arith.addf", "arith.addi", "arith.ori"], &[2, product])
    }

    fn constant(&mut self, data: AttrData, ty: Type) -> usize {
        let made = self.step("arith.constant", &[], ty);
        let attr = self.context.attr(data);
        if let Some(step) = self.steps.last_mut() {
            step.attr = Some(("value", attr));
        }
        made
    }

    /// `state * 1103515245 + 12345`, as numbers of 32 bits.
    fn congruential(&mut self, state: usize) -> usize {
        let (short, long) = (self.context.int_type(32), self.context.int_type(64));
        let mut value = state;
        for (name, number) in [("arith.muli", 1_103_515_245), ("arith.addi", 12_345)] {
            let number = self.constant(AttrData::Integer { value: number, ty: long }, long);
            let number = self.step("arith.trunci", &[number], short);
            value = self.step(name, &[value, number], short);
        }
        value
    }

    /// A number between two others, of the coordinates and a seed.
    fn random(&mut self, count: usize) -> Option<usize> {
        let context = self.context;
        let (short, long) = (context.int_type(32), context.int_type(64));
        let double = context.float_type(FloatKind::F64);
        if count != 3 || self.types[..3] != [double, double, short] {
            return None;
        }
        let half = self.constant(AttrData::Integer { value: 2_147_483_647, ty: long }, long);
        let half = self.step("arith.sitofp", &[half], double);
        let index = context.ty(TypeData::Index);
        let [column, row] = [1, 0].map(|dim| {
            let made = self.step("linalg.index", &[], index);
            if let Some(step) = self.steps.last_mut() {
                step.attr = Some(("dim", context.attr(AttrData::Integer { value: dim, ty: long })));
            }
            self.step("arith.index_cast", &[made], short)
        });
        let seeded = self.step("arith.addi", &[row, 2], short);
        let seeded = self.congruential(seeded);
        let mixed = self.step("arith.addi", &[column, seeded], short);
        let mixed = self.congruential(mixed);
        let number = self.step("arith.sitofp", &[mixed], double);
        let number = self.step("arith.addf", &[half, number], double);
        let range = self.step("arith.subf", &[1, 0], double);
        let bits = 2.3283064e-10f64.to_bits();
        let scale = self.constant(AttrData::Float { bits, ty: double }, double);
        let scale = self.step("arith.mulf", &[range, scale], double);
        let number = self.step("arith.mulf", &[number, scale], double);
        let number = self.step("arith.addf", &[number, 0], double);
        self.cast(number)
    }

    /// As [`Draft::multiply_add`], of two factors minus a zero point each.
    fn without_zero_points(&mut self, count: usize) -> Option<usize> {
        if count != 4 {
            return None;
        }
        let mut factors = [0; 2];
        for (i, factor) in factors.iter_mut().enumerate() {
            let value = self.cast(i)?;
            let zero = self.cast(i + 2)?;
            *factor = self.by_kind(["arith.subf", "arith.subi", ""], &[value, zero])?;
        }
        let product = self.by_kind(["arith.mulf", "arith.muli", ""], &factors)?;
        self.by_kind(["arith.addf", "arith.addi", ""], &[4, product])
    }

    /// The window says only where elements are.
    fn pool(&mut self, names: [&'static str; 3], count: usize) -> Option<usize> {
        let value = if count == 2 { self.cast(0)? } else { return None };
        self.by_kind(names, &[2, value])
    }

    fn unary(&mut self, name: &'static str) -> Option<usize> {
        self.by_kind([name, "", ""], &[0])
    }

    /// The number of the value that the operation called `name`, with `count` inputs, yields.
    fn value(&mut self, name: &str, count: usize) -> Option<usize> {
        let expected = match name {
            "fill" | "copy" | "abs" | "ceil" | "erf" | "exp" | "floor" | "log" | "negf"
            | "reciprocal" | "round" | "rsqrt" | "sqrt" | "square" | "tanh" => 1,
            "select" | "fill_rng_2d" => 3,
            _ if is_quantised(name) => 4,
            _ => 2,
        };
        if count != expected {
            return None;
        }
        match name {
            "fill" | "copy" => self.cast(0),
            "fill_rng_2d" => self.random(count),
            "abs" => self.by_kind(["math.absf", "math.absi", ""], &[0]),
            "ceil" => self.unary("math.ceil"),
            "erf" => self.unary("math.erf"),
            "exp" => self.unary("math.exp"),
            "floor" => self.unary("math.floor"),
            "log" => self.unary("math.log"),
            "negf" => self.unary("arith.negf"),
            "round" => self.unary("math.round"),
            "rsqrt" => self.unary("math.rsqrt"),
            "sqrt" => self.unary("math.sqrt"),
            "tanh" => self.unary("math.tanh"),
            "reciprocal" if self.kind == Kind::Float => {
                let one = AttrData::Float { bits: 1f64.to_bits(), ty: self.out };
                let one = self.constant(one, self.out);
                self.by_kind(["arith.divf", "", ""], &[one, 0])
            }
            "square" => self.by_kind(["arith.mulf", "arith.muli", ""], &[0, 0]),
            "add" => self.by_kind(["arith.addf", "arith.addi", "arith.ori"], &[0, 1]),
            "sub" => self.by_kind(["arith.subf", "arith.subi", ""], &[0, 1]),
            "mul" => self.by_kind(["arith.mulf", "arith.muli", "arith.andi"], &[0, 1]),
            "div" => self.by_kind(["arith.divf", "arith.divsi", ""], &[0, 1]),
            "div_unsigned" => self.by_kind(["", "arith.divui", ""], &[0, 1]),
            _ if is_quantised(name) => self.without_zero_points(count),
            "max_unsigned" => self.by_kind(["arith.maximumf", "arith.maxui", ""], &[0, 1]),
            "min_unsigned" => self.by_kind(["arith.minimumf", "arith.minui", ""], &[0, 1]),
            "max" => self.by_kind(["arith.maximumf", "arith.maxsi", ""], &[0, 1]),
            "min" => self.by_kind(["arith.minimumf", "arith.minsi", ""], &[0, 1]),
            "powf" => self.by_kind(["math.powf", "", ""], &[0, 1]),
            "select" if self.types[1] == self.out && self.types[2] == self.out => {
                Some(self.step("arith.select", &[0, 1, 2], self.out))
            }
            _ if name.ends_with("_max_unsigned") => {
                self.pool(["arith.maximumf", "arith.maxui", ""], count)
            }
            _ if name.ends_with("_min_unsigned") => {
                self.pool(["arith.minimumf", "arith.minui", ""], count)
            }
            _ if name.ends_with("_max") => self.pool(["arith.maximumf", "arith.maxsi", ""], count),
            _ if name.ends_with("_min") => self.pool(["arith.minimumf", "arith.minsi", ""], count),
            _ if name.ends_with("_sum") => self.pool(["arith.addf", "arith.addi", ""], count),
            _ if is_product(name) => self.multiply_add(count),
            _ => None,
        }
    }
}

fn is_quantised(name: &str) -> bool {
    name.starts_with("quantized_") || name.ends_with("_q")
}

fn is_product(name: &str) -> bool {
    const PRODUCTS: [&str; 11] = [
        "contract",
        "batch_mmt4d",
        "matmul",
        "batch_matmul",
        "batch_reduce_matmul",
        "batch_matvec",
        "batch_vecmat",
        "matvec",
        "vecmat",
        "dot",
        "mmt4d",
    ];
    PRODUCTS.contains(&name) || name.starts_with("conv_") || name.starts_with("depthwise_conv_")
}
