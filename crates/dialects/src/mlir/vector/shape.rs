//! Extents of vectors, and places in them.

use tangram_ir::{Attr, Op, Type, TypeData, Value};

use crate::mlir::extents::{DYNAMIC, list};
use crate::mlir::fold::Cx;

/// Extents and elements of a vector; a scalar is one without extents.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Shape {
    pub dims: Vec<i64>,
    pub scalable: Vec<bool>,
    pub element: Type,
    /// Whether it is a vector.
    pub vector: bool,
}

impl Shape {
    /// What `ty` says.
    pub fn of(cx: &Cx<'_, '_>, ty: Type) -> Shape {
        match cx.context.type_data(ty) {
            TypeData::Vector { dims, scalable, element } => Shape {
                dims: dims.to_vec(),
                scalable: scalable.to_vec(),
                element: *element,
                vector: true,
            },
            _ => Shape { dims: Vec::new(), scalable: Vec::new(), element: ty, vector: false },
        }
    }

    /// The shape of `value`.
    pub fn of_value(cx: &Cx<'_, '_>, value: Value) -> Shape {
        Shape::of(cx, cx.type_of(value))
    }

    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// How many elements there are; `None` if that depends on the machine.
    pub fn count(&self) -> Option<usize> {
        let fixed = !self.scalable.contains(&true);
        let product = |n: usize, &dim: &i64| n.checked_mul(usize::try_from(dim).ok()?);
        fixed.then(|| self.dims.iter().try_fold(1, product))?
    }

    /// Vectors of these elements with the dimensions `keep` of this one.
    pub fn with_dims(&self, cx: &Cx<'_, '_>, keep: impl Iterator<Item = usize> + Clone) -> Type {
        cx.context.ty(TypeData::Vector {
            dims: keep.clone().map(|i| self.dims[i]).collect(),
            scalable: keep.map(|i| self.scalable[i]).collect(),
            element: self.element,
        })
    }
}

/// A coordinate along a dimension.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Coord {
    /// This number.
    At(i64),
    /// What an operand says.
    Of(Value),
    /// All of them; the number is that of the dimension of what is looked for.
    All(usize),
}

/// The coordinates that `op` names; its operands for them begin at `first`.
pub(super) fn positions(cx: &Cx<'_, '_>, op: Op, first: usize) -> Option<Vec<Coord>> {
    let module = cx.module();
    let mut values = module.operands(op).skip(first);
    let numbers = list(module, op, "static_position")?;
    let coord = |n: i64| match n {
        DYNAMIC => values.next().map(Coord::Of),
        n => Some(Coord::At(n)),
    };
    numbers.into_iter().map(coord).collect()
}

/// The attribute and the operands that say `coords`, none of which is all of a dimension.
pub(super) fn split(cx: &Cx<'_, '_>, coords: &[Coord]) -> (Attr, Vec<Value>) {
    let (mut numbers, mut values) = (Vec::new(), Vec::new());
    for &coord in coords {
        match coord {
            Coord::At(n) => numbers.push(n),
            Coord::Of(value) => {
                numbers.push(DYNAMIC);
                values.push(value);
            }
            Coord::All(_) => {}
        }
    }
    (cx.context.i64s_attr(&numbers), values)
}

/// `[0, 4]` as an attribute.
pub(super) fn numbers(cx: &Cx<'_, '_>, numbers: &[i64]) -> Attr {
    let items: Vec<Attr> = numbers.iter().map(|&n| cx.context.i64_attr(n)).collect();
    cx.context.array_attr(&items)
}

/// The part of `source` at `coords`, as a value of type `ty`.
pub(super) fn extract(cx: &mut Cx<'_, '_>, source: Value, coords: &[Coord], ty: Type) -> Value {
    if cx.type_of(source) == ty {
        return source;
    }
    let (attr, values) = split(cx, coords);
    let attrs = cx.context.dict([(cx.context.str("static_position"), attr)]);
    let operands: Vec<Value> = [source].into_iter().chain(values).collect();
    let made = cx.make(cx.context.name("vector.extract"), &operands, attrs, &[ty]);
    cx.module().result(made, 0)
}

/// `source` in another shape of as many elements.
pub(super) fn reshaped(cx: &mut Cx<'_, '_>, source: Value, ty: Type) -> Value {
    let (from, to) = (Shape::of_value(cx, source), Shape::of(cx, ty));
    match (from.vector, to.vector) {
        _ if cx.type_of(source) == ty => source,
        (true, false) => extract(cx, source, &vec![Coord::At(0); from.rank()], ty),
        (false, _) => cx.value(cx.context.name("vector.broadcast"), &[source], ty),
        (true, true) => cx.value(cx.context.name("vector.shape_cast"), &[source], ty),
    }
}
