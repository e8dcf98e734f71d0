//! Random modules of all shapes: regions, blocks, uses before definitions in graphs.

use tangram_ir::{
    Attr, AttrData, Block, Context, Dim, FloatKind, Loc, LocData, Module, OpState, Point,
    Signedness, TensorType, Type, TypeData, Value,
};

/// A source of choices: the bytes that proptest makes, and zeros after them.
pub struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    /// Takes its choices from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.iter())
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % n
    }

    fn bits(&mut self) -> u64 {
        (0..8).fold(0, |all, _| all << 8 | self.below(256) as u64)
    }
}

fn random_type(c: &Context, g: &mut Choices<'_>, depth: usize) -> Type {
    let n = if depth == 0 { 5 } else { 13 };
    let inner = |g: &mut Choices<'_>| random_type(c, g, depth - 1);
    match g.below(n) {
        0 => c.int_type([1, 7, 8, 32, 64, 65, 200][g.below(7)]),
        1 => c.float_type(FloatKind::ALL[g.below(13)]),
        2 => c.ty(TypeData::Index),
        3 => c.ty(TypeData::Opaque(c.str(["x.y", "x.y<a -> [\"b>\"]>", "x<\"q\">"][g.below(3)]))),
        4 => c.ty(TypeData::Integer { width: 5, sign: Signedness::Unsigned }),
        5 => c.ty(TypeData::None),
        6 => c.ty(TypeData::Complex(c.float_type(FloatKind::F32))),
        7 => {
            let inputs = (0..g.below(3)).map(|_| inner(g)).collect();
            let results = (0..g.below(3)).map(|_| inner(g)).collect();
            c.ty(TypeData::Function { inputs, results })
        }
        8 => c.ty(TypeData::Tuple((0..g.below(3)).map(|_| inner(g)).collect())),
        9 => c.ty(TypeData::UnrankedTensor(c.float_type(FloatKind::F16))),
        10 => {
            let dims = [4, 8];
            let scalable = [g.below(2) == 1, false];
            let element = c.int_type(8);
            c.ty(TypeData::Vector { dims: dims.into(), scalable: scalable.into(), element })
        }
        11 => {
            let layout = g.below(2) == 1;
            let layout = layout.then(|| c.attr(AttrData::Opaque(c.str("strided<[?], offset: 3>"))));
            let space = (g.below(2) == 1).then(|| c.i64_attr(3));
            let element = c.float_type(FloatKind::F64);
            c.ty(TypeData::MemRef { dims: [Dim::UNKNOWN].into(), element, layout, space })
        }
        _ => {
            let dims = (0..g.below(4)).map(|_| match g.below(4) {
                0 => Dim::UNKNOWN,
                1 => c.dim(&"2*N + 1".parse().expect("an expression")),
                n => Dim::fixed(n as i64 * 5 - 10),
            });
            let dims = dims.collect();
            let encoding = (g.below(3) == 0).then(|| c.str_attr("sparse"));
            let element = c.float_type(FloatKind::F32);
            c.ty(TypeData::Tensor(TensorType { dims, element, encoding }))
        }
    }
}

fn random_attr(c: &Context, g: &mut Choices<'_>, depth: usize) -> Attr {
    let n = if depth == 0 { 9 } else { 16 };
    match g.below(n) {
        0 => Attr::UNIT,
        1 => c.bool_attr(g.below(2) == 1),
        2 => c.i64_attr(g.bits() as i64),
        3 => {
            let kind = FloatKind::ALL[g.below(13)];
            // Any pattern of bits is a number of the format; whole ones are rare among them, and
            // print like integers.
            let value = match g.below(2) {
                0 => f64::from_bits(g.bits()),
                _ => (g.bits() as i64 >> g.below(64)) as f64,
            };
            c.float_attr(kind.decode(kind.encode(value)), kind)
        }
        4 => c.str_attr(["", "plain", "\"q\" \\ \n é \u{7f}"][g.below(3)]),
        5 => c.attr(AttrData::Bytes([0xFF, 0, b'a', b'"'].into())),
        6 => c.attr(AttrData::Symbol([c.str("f"), c.str("a b")].into())),
        7 => c.i64s_attr(&[1, -2, i64::MIN][..g.below(4)]),
        8 => c.attr(AttrData::AffineMap("(d0)[s0] -> (d0 * 2 + s0)".parse().expect("a map"))),
        9 => c.array_attr(&[random_attr(c, g, depth - 1), random_attr(c, g, depth - 1)]),
        10 => c.dict([
            (c.str("b c"), random_attr(c, g, depth - 1)),
            (c.str("a"), random_attr(c, g, depth - 1)),
        ]),
        11 => c.type_attr(random_type(c, g, depth - 1)),
        12 => random_dense(c, g),
        13 => {
            let ty = c.tensor_type(&[Dim::fixed(2)], c.int_type(8));
            c.attr(AttrData::Resource { ty, key: c.str("weights/1") })
        }
        14 => {
            let element = c.float_type(FloatKind::F32);
            c.attr(AttrData::DenseArray { element, bytes: [0, 0, 0x80, 0x3F].into() })
        }
        _ => c.attr(AttrData::Location(random_loc(c, g, 2))),
    }
}

/// A dense attribute in the form that the parser gives: a splat where all elements are equal.
fn random_dense(c: &Context, g: &mut Choices<'_>) -> Attr {
    let (element, size) = [
        (c.int_type(1), 1),
        (c.int_type(8), 1),
        (c.int_type(65), 9),
        (c.float_type(FloatKind::F16), 2),
        (c.ty(TypeData::Complex(c.int_type(8))), 2),
    ][g.below(5)];
    let dims = [g.below(4) as i64, 1 + g.below(60) as i64];
    let count = (dims[0] * dims[1]) as usize;
    let mut bytes: Vec<u8> = (0..count * size).map(|_| g.below(256) as u8).collect();
    for chunk in bytes.chunks_mut(size) {
        match size {
            1 if c.is_boolean(element) => chunk[0] &= 1,
            9 => chunk[8] = if chunk[7] >= 128 { 0xFF } else { 0 },
            _ => {}
        }
    }
    let splat = count > 0 && bytes.chunks(size).all(|chunk| chunk == &bytes[..size]);
    bytes.truncate(if splat { size } else { bytes.len() });
    let ty = c.tensor_type(&dims.map(Dim::fixed), element);
    c.attr(AttrData::Dense { ty, bytes: bytes.into(), splat })
}

fn random_loc(c: &Context, g: &mut Choices<'_>, depth: usize) -> Loc {
    let n = if depth == 0 { 2 } else { 5 };
    match g.below(n) {
        0 => Loc::UNKNOWN,
        1 => c.loc(LocData::File { file: c.str("a b.py"), line: g.below(9) as u32, column: 3 }),
        2 => {
            let child = random_loc(c, g, depth - 1);
            c.loc(LocData::Name { name: c.str("node"), child })
        }
        3 => {
            let (callee, caller) = (random_loc(c, g, depth - 1), random_loc(c, g, depth - 1));
            c.loc(LocData::CallSite { callee, caller })
        }
        _ => {
            let parts: Vec<Loc> = (0..4).map(|_| random_loc(c, g, depth - 1)).collect();
            c.fuse(parts)
        }
    }
}

/// Operations of no registered dialect, in straight code, regions and branches; a right module.
pub fn random_module(g: &mut Choices<'_>) -> Module {
    let context = Context::new();
    let mut module = Module::new(context.clone());
    let c = &*context;
    let mut values: Vec<Value> = Vec::new();
    let mut blocks: Vec<Block> = vec![module.body()];
    for i in 0..g.below(24) {
        let block = blocks[blocks.len() - 1];
        let mut state = OpState::new(c.name(&format!("x.op{i}")), random_loc(c, g, 2));
        for _ in 0..g.below(3) {
            if let Some(&value) = values.get(g.below(values.len().max(1))) {
                state.operands.push(value);
            }
        }
        state.results = (0..g.below(3)).map(|_| random_type(c, g, 2)).collect();
        let keys = ["a", "b.c", "d e"];
        let entries = (0..g.below(4)).map(|n| (c.str(keys[n % 3]), random_attr(c, g, 2)));
        state.attrs = c.dict(entries.collect::<Vec<_>>());
        state.regions = g.below(3) as u32;
        let op = module.create_at(Point::End(block), state);
        if let Some(&region) = module.regions(op).first() {
            let inner = module.add_block(region);
            values.push(module.add_arg(inner, random_type(c, g, 1)));
            blocks.push(inner);
            continue;
        }
        values.extend(module.results(op));
        if blocks.len() > 1 && g.below(3) == 0 {
            let region = module.block_region(block).expect("a block in a region");
            let next = module.add_block(region);
            let arg = random_type(c, g, 1);
            values.push(module.add_arg(next, arg));
            let mut branch = OpState::new(c.name("x.br"), Loc::UNKNOWN);
            branch.successors.push(next);
            module.create_at(Point::End(block), branch);
            blocks.push(next);
        }
    }
    let last = blocks[blocks.len() - 1];
    if module.first_op(last).is_none() {
        module.create_at(Point::End(last), OpState::new(c.name("x.end"), Loc::UNKNOWN));
    }
    if g.below(2) == 1 {
        let key = c.str("weights/1");
        module.resources_mut().insert(key, vec![1, 2].into());
    }
    module
}
