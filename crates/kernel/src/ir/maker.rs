//! Operations, one after the other.

use rustc_hash::FxHashMap;
use tangram_ir::{
    Attr, AttrData, Block, Context, Dim, FloatKind, Loc, Module, Op, OpState, Point, Type,
    TypeData, Value,
};

use crate::tile::Element;

/// The types of a kernel.
pub(super) struct Types {
    pub index: Type,
    /// Places in memory.
    pub places: Type,
    pub element: Type,
    /// As many elements as a register has: an element where it has one.
    pub vector: Type,
    /// Memory of elements, and of those of column operands.
    pub rows: Type,
    pub columns: Type,
    /// A table of rows.
    pub tile: Type,
}

impl Types {
    pub fn of(context: &Context, element: Element, width: usize) -> Types {
        let of_bytes = context.int_type(16);
        let (element, column) = match element {
            Element::F32 => (context.float_type(FloatKind::F32), None),
            Element::F64 => (context.float_type(FloatKind::F64), None),
            Element::Pairs => (context.int_type(32), None),
            Element::PairsOfBytes => (context.int_type(32), Some(of_bytes)),
        };
        let memory = |element: Type| {
            let dims = [Dim::UNKNOWN].into();
            context.ty(TypeData::MemRef { dims, element, layout: None, space: None })
        };
        let dims = [width as i64].into();
        let vector = match width {
            1 => element,
            _ => context.ty(TypeData::Vector { dims, scalable: [false].into(), element }),
        };
        let index = context.ty(TypeData::Index);
        let (rows, columns) = (memory(element), memory(column.unwrap_or(element)));
        Types { index, places: memory(index), element, vector, rows, columns, tile: memory(rows) }
    }
}

/// A parameter of a function.
pub(super) struct Parameter {
    name: String,
    ty: Type,
    alone: bool,
}

impl Parameter {
    pub fn new(name: &str, ty: Type) -> Parameter {
        Parameter { name: name.to_owned(), ty, alone: false }
    }

    /// Nothing else points to its memory.
    pub fn alone(self) -> Parameter {
        Parameter { alone: true, ..self }
    }
}

/// Puts operations behind each other, in the function and in loops.
pub(super) struct Maker<'a> {
    module: &'a mut Module,
    point: Point,
    entry: Block,
    /// Constants stand in front of all else in the function, each once.
    constants: FxHashMap<(Attr, Type), Value>,
    last_constant: Option<Op>,
}

impl<'a> Maker<'a> {
    /// A function at the end of a module; returns its arguments too.
    pub fn function(
        module: &'a mut Module,
        name: &str,
        parameters: &[Parameter],
    ) -> (Maker<'a>, Op, Vec<Value>) {
        let context = module.context_arc().clone();
        let types: Vec<Type> = parameters.iter().map(|parameter| parameter.ty).collect();
        let alone = context.dict([(context.str("tg.noalias"), Attr::UNIT)]);
        let attr = |parameter: &Parameter| if parameter.alone { alone } else { Attr::EMPTY_DICT };
        let attrs: Vec<Attr> = parameters.iter().map(attr).collect();
        let mut state = OpState::new(context.name("func.func"), Loc::UNKNOWN);
        state.attrs = context.dict([
            (context.str("sym_name"), context.str_attr(name)),
            (context.str("function_type"), context.type_attr(context.function_type(&types, &[]))),
            (context.str("arg_attrs"), context.array_attr(&attrs)),
        ]);
        state.regions = 1;
        let function = module.create_at(Point::End(module.body()), state);
        let entry = module.add_block(module.region(function, 0));
        let (constants, last_constant) = (FxHashMap::default(), None);
        let mut maker = Maker { module, point: Point::End(entry), entry, constants, last_constant };
        let arguments = parameters.iter().map(|parameter| {
            let value = maker.module.add_arg(entry, parameter.ty);
            maker.named(value, &parameter.name)
        });
        let arguments = arguments.collect();
        (maker, function, arguments)
    }

    pub fn op(
        &mut self,
        name: &str,
        operands: &[Value],
        results: &[Type],
        attrs: &[(&str, Attr)],
    ) -> Op {
        let state = OpState::of(self.module.context(), name, operands, results, attrs);
        self.module.create_at(self.point, state)
    }

    /// The one result of a new operation.
    pub fn value(&mut self, name: &str, operands: &[Value], ty: Type) -> Value {
        let op = self.op(name, operands, &[ty], &[]);
        self.module.result(op, 0)
    }

    /// Names a value, for people.
    pub fn named(&mut self, value: Value, name: &str) -> Value {
        let name = self.module.context().str(name);
        self.module.set_value_name(value, Some(name));
        value
    }

    /// A constant of type `index`.
    pub fn index(&mut self, value: usize) -> Value {
        let context = self.module.context();
        let ty = context.ty(TypeData::Index);
        let attr = context.attr(AttrData::Integer { value: value as i128, ty });
        self.constant(attr, ty)
    }

    /// Zero, or a vector of zeros.
    pub fn zero(&mut self, ty: Type) -> Value {
        let context = self.module.context();
        let attr = match *context.type_data(ty) {
            TypeData::Vector { element, .. } => {
                let bytes = vec![0; context.element_bytes(element).unwrap_or(1)].into();
                context.attr(AttrData::Dense { ty, bytes, splat: true })
            }
            TypeData::Float(_) => context.attr(AttrData::Float { bits: 0, ty }),
            _ => context.attr(AttrData::Integer { value: 0, ty }),
        };
        self.constant(attr, ty)
    }

    fn constant(&mut self, attr: Attr, ty: Type) -> Value {
        if let Some(&value) = self.constants.get(&(attr, ty)) {
            return value;
        }
        let context = self.module.context();
        let state = OpState::of(context, "arith.constant", &[], &[ty], &[("value", attr)]);
        let point = self.last_constant.map_or(Point::Start(self.entry), Point::After);
        let op = self.module.create_at(point, state);
        self.last_constant = Some(op);
        let value = self.module.result(op, 0);
        self.constants.insert((attr, ty), value);
        value
    }

    /// Asks for the line of cache of an element that is read soon.
    pub fn prefetch(&mut self, view: Value, at: Value) {
        let context = self.module.context();
        let hint = context.attr(AttrData::Integer { value: 2, ty: context.int_type(32) });
        let attrs = [("isWrite", Attr::FALSE), ("localityHint", hint), ("isDataCache", Attr::TRUE)];
        self.op("memref.prefetch", &[view, at], &[], &attrs);
    }

    /// Begins a loop from 0 up to `end` that carries values; returns it, its counter, and what stands for the
    /// values inside.
    pub fn open_loop(
        &mut self,
        end: Value,
        carried: &[Value],
        counter: &str,
    ) -> (Op, Value, Vec<Value>) {
        let (zero, one) = (self.index(0), self.index(1));
        let types: Vec<Type> = carried.iter().map(|&value| self.module.value_type(value)).collect();
        let operands = [&[zero, end, one], carried].concat();
        let op = self.op("scf.for", &operands, &types, &[]);
        let region = self.module.add_region(op);
        let block = self.module.add_block(region);
        self.point = Point::End(block);
        let index = self.module.value_type(zero);
        let at = self.module.add_arg(block, index);
        self.named(at, counter);
        let inside = types.iter().map(|&ty| self.module.add_arg(block, ty)).collect();
        (op, at, inside)
    }

    /// Ends the innermost loop, `op`, whose iterations give values; returns its results.
    pub fn close_loop(&mut self, op: Op, given: &[Value]) -> Vec<Value> {
        self.op("scf.yield", given, &[], &[]);
        self.point = self.module.block(op).map_or(Point::End(self.entry), Point::End);
        self.module.results(op).collect()
    }
}
