//! Parts that are taken out of a vector: where they come from.

use tangram_ir::{Name, Op, Value};

use super::shape::{Coord, Shape, extract, positions, reshaped, split};
use crate::mlir::extents::list;
use crate::mlir::fold::{Cx, Rewrite};

/// The patterns, with their roots.
pub(super) const REWRITES: &[Rewrite] = &[
    ("constant-position", &["vector.extract", "vector.insert"], constant_position),
    ("extract-from-nowhere", &["vector.extract"], extract_from_nowhere),
    ("extract-where-it-comes-from", &["vector.extract"], extract_traced),
    ("extract-of-repeated-vector", &["vector.extract"], extract_of_repeated),
    ("extract-of-another-shape", &["vector.extract"], extract_of_another_shape),
    ("insert-all", &["vector.insert"], insert_all),
];

/// How many operations are looked through.
const MAX_STEPS: usize = 64;

/// The operand that is the whole of the result but for a part.
fn whole(cx: &Cx<'_, '_>) -> Value {
    cx.operand(usize::from(cx.module().name_text(cx.op) == "vector.insert"))
}

/// A coordinate that is a constant is a number, if it is one of a place, or that of none.
fn constant_position(cx: &mut Cx<'_, '_>) -> Option<()> {
    let insert = cx.module().name_text(cx.op) == "vector.insert";
    let first = 1 + usize::from(insert);
    let shape = Shape::of_value(cx, whole(cx));
    let old = positions(cx, cx.op, first)?;
    let known = |(i, &coord): (usize, &Coord)| match coord {
        Coord::Of(value) => {
            let number = cx.int(value).and_then(|n| i64::try_from(n).ok());
            let number = number.filter(|&n| n >= -1 && shape.dims.get(i).is_some_and(|&d| n < d));
            number.map_or(coord, Coord::At)
        }
        coord => coord,
    };
    let new: Vec<Coord> = old.iter().enumerate().map(known).collect();
    if new == old {
        return None;
    }
    let (attr, values) = split(cx, &new);
    let operands: Vec<Value> = cx.module().operands(cx.op).take(first).chain(values).collect();
    let key = cx.context.str("static_position");
    cx.rewriter.modify_in_place(cx.op, |edit| {
        edit.set_operands(&operands);
        edit.set_attr(key, Some(attr));
    });
    Some(())
}

/// The place -1 is none: what is there may be anything.
fn extract_from_nowhere(cx: &mut Cx<'_, '_>) -> Option<()> {
    let nowhere = positions(cx, cx.op, 1)?.contains(&Coord::At(-1));
    nowhere.then(|| cx.become_op(cx.context.name("ub.poison"), &[]))?
}

/// A part of a value.
#[derive(Clone)]
struct Place {
    value: Value,
    /// One for each dimension of `value`.
    coords: Vec<Coord>,
}

impl Place {
    /// The coordinates in front, if all of the other dimensions follow in their order.
    fn prefix(&self) -> Option<&[Coord]> {
        let is_all = |coord: &Coord| matches!(coord, Coord::All(_));
        let at = self.coords.iter().position(is_all).unwrap_or(self.coords.len());
        let (prefix, rest) = self.coords.split_at(at);
        rest.iter().enumerate().all(|(i, &coord)| coord == Coord::All(i)).then_some(prefix)
    }
}

/// A part of what was made of parts is a part of where it comes from.
fn extract_traced(cx: &mut Cx<'_, '_>) -> Option<()> {
    let source = cx.operand(0);
    let mut coords = positions(cx, cx.op, 1)?;
    let free = Shape::of_value(cx, source).rank().checked_sub(coords.len())?;
    coords.extend((0..free).map(Coord::All));
    let (mut place, mut best) = (Place { value: source, coords }, None);
    for _ in 0..MAX_STEPS {
        let Some(next) = step(cx, &place) else { break };
        place = next;
        if place.prefix().is_some() {
            best = Some(place.clone());
        }
    }
    let best = best?;
    let ty = cx.ty();
    let value = extract(cx, best.value, best.prefix()?, ty);
    cx.replace(&[value])
}

/// The same part of an operand of what makes the value.
fn step(cx: &Cx<'_, '_>, place: &Place) -> Option<Place> {
    let module = cx.module();
    let def = module.def_op(place.value).filter(|&def| def != cx.op)?;
    match module.name_text(def) {
        "vector.extract" => {
            let mut coords = positions(cx, def, 1)?;
            coords.extend(&place.coords);
            Some(Place { value: module.operand(def, 0), coords })
        }
        "vector.insert" => of_insert(cx, def, place),
        "vector.transpose" => {
            let order = list(module, def, "permutation")?;
            let mut coords = place.coords.clone();
            for (&to, &coord) in order.iter().zip(&place.coords) {
                *coords.get_mut(usize::try_from(to).ok()?)? = coord;
            }
            Some(Place { value: module.operand(def, 0), coords })
        }
        "vector.shuffle" => of_shuffle(cx, def, place),
        "vector.from_elements" => {
            let shape = Shape::of_value(cx, place.value);
            let mut at = 0usize;
            for (&coord, &dim) in place.coords.iter().zip(&shape.dims) {
                let Coord::At(n) = coord else { return None };
                at = at
                    .checked_mul(usize::try_from(dim).ok()?)?
                    .checked_add(usize::try_from(n).ok()?)?;
            }
            (at < module.operand_count(def))
                .then(|| Place { value: module.operand(def, at), coords: Vec::new() })
        }
        "vector.extract_strided_slice" => of_slice(cx, def, place),
        "vector.insert_strided_slice" => of_inserted_slice(cx, def, place),
        _ => of_repeated(cx, def, place),
    }
}

fn of_insert(cx: &Cx<'_, '_>, def: Op, place: &Place) -> Option<Place> {
    let (value, dest) = (cx.module().operand(def, 0), cx.module().operand(def, 1));
    let inserted = positions(cx, def, 2)?;
    let mut inside = true;
    for (&a, &b) in inserted.iter().zip(&place.coords) {
        match (a, b) {
            (Coord::At(n), _) if n < 0 => return None,
            (Coord::At(n), Coord::At(m)) if n == m => {}
            (Coord::At(_), Coord::At(_)) => {
                return Some(Place { value: dest, coords: place.coords.clone() });
            }
            _ => inside = false,
        }
    }
    let rest = place.coords.get(inserted.len()..)?.to_vec();
    inside.then_some(Place { value, coords: rest })
}

fn of_shuffle(cx: &Cx<'_, '_>, def: Op, place: &Place) -> Option<Place> {
    let module = cx.module();
    let &[Coord::At(at)] = &place.coords[..] else { return None };
    let mask = list(module, def, "mask")?;
    let from = *mask.get(usize::try_from(at).ok()?)?;
    let (first, second) = (module.operand(def, 0), module.operand(def, 1));
    let &[count] = &Shape::of_value(cx, first).dims[..] else { return None };
    let (value, at) = if from < count { (first, from) } else { (second, from - count) };
    (from >= 0).then(|| Place { value, coords: vec![Coord::At(at)] })
}

/// What repeats a vector: its operand.
fn repeated(cx: &Cx<'_, '_>, def: Op) -> Option<Value> {
    let module = cx.module();
    let name = module.name_text(def);
    let source = (module.operand_count(def) == 1).then(|| module.operand(def, 0))?;
    match name {
        "vector.broadcast" => Some(source),
        "vector.shape_cast" => {
            let (from, to) =
                (Shape::of_value(cx, source), Shape::of_value(cx, module.result(def, 0)));
            let more = to.rank().checked_sub(from.rank())?;
            let leads =
                to.dims[..more].iter().all(|&d| d == 1) && !to.scalable[..more].contains(&true);
            (leads && to.dims[more..] == from.dims && more > 0).then_some(source)
        }
        _ => None,
    }
}

fn of_repeated(cx: &Cx<'_, '_>, def: Op, place: &Place) -> Option<Place> {
    let source = repeated(cx, def)?;
    let (from, to) = (Shape::of_value(cx, source), Shape::of_value(cx, place.value));
    let (dropped, rest) = place.coords.split_at(to.rank().checked_sub(from.rank())?);
    if dropped.iter().any(|coord| matches!(coord, Coord::All(_))) {
        return None;
    }
    let dims = from.dims.iter().zip(&to.dims[dropped.len()..]);
    let stretch = |(&coord, (&a, &b)): (&Coord, (&i64, &i64))| match (coord, a == b) {
        (coord, true) => Some(coord),
        (Coord::All(_), false) => None,
        _ => Some(Coord::At(0)),
    };
    let coords: Option<Vec<Coord>> = rest.iter().zip(dims).map(stretch).collect();
    Some(Place { value: source, coords: coords? })
}

fn of_slice(cx: &Cx<'_, '_>, def: Op, place: &Place) -> Option<Place> {
    let module = cx.module();
    let source = module.operand(def, 0);
    let from = Shape::of_value(cx, source);
    let [offsets, sizes, strides] =
        ["offsets", "sizes", "strides"].map(|name| list(module, def, name));
    let (offsets, sizes, strides) = (offsets?, sizes?, strides?);
    let mut coords = place.coords.clone();
    for (i, coord) in coords.iter_mut().enumerate().take(offsets.len()) {
        let all = offsets[i] == 0 && sizes.get(i) == from.dims.get(i);
        match *coord {
            Coord::At(n) => {
                *coord = Coord::At(n.checked_mul(*strides.get(i)?)?.checked_add(offsets[i])?);
            }
            _ if all => {}
            _ => return None,
        }
    }
    Some(Place { value: source, coords })
}

fn of_inserted_slice(cx: &Cx<'_, '_>, def: Op, place: &Place) -> Option<Place> {
    let module = cx.module();
    let (source, dest) = (module.operand(def, 0), module.operand(def, 1));
    let (from, to) = (Shape::of_value(cx, source), Shape::of_value(cx, dest));
    let offsets = list(module, def, "offsets")?;
    let skipped = to.rank().checked_sub(from.rank())?;
    if list(module, def, "strides")?.iter().any(|&stride| stride != 1) {
        return None;
    }
    let (mut inside, mut coords) = (true, Vec::new());
    for (i, &coord) in place.coords.iter().enumerate() {
        let size = i.checked_sub(skipped).map_or(1, |i| from.dims[i]);
        let offset = *offsets.get(i)?;
        match coord {
            Coord::At(n) if (offset..offset + size).contains(&n) => {
                coords.push(Coord::At(n - offset))
            }
            Coord::At(_) => return Some(Place { value: dest, coords: place.coords.clone() }),
            Coord::All(_) if offset == 0 && size == to.dims[i] => coords.push(coord),
            _ => inside = false,
        }
    }
    let kept = coords.get(skipped..).map(<[Coord]>::to_vec);
    // A dimension that the source does not have cannot be wanted whole.
    let whole = coords.iter().take(skipped).any(|coord| matches!(coord, Coord::All(_)));
    (inside && !whole).then(|| kept.map(|coords| Place { value: source, coords }))?
}

/// A part of repeated vectors that holds one of them whole is that vector, repeated less often.
fn extract_of_repeated(cx: &mut Cx<'_, '_>) -> Option<()> {
    let def = cx.module().def_op(cx.operand(0)).filter(|&def| def != cx.op)?;
    let source = repeated(cx, def)?;
    let taken = positions(cx, cx.op, 1)?.len();
    let (from, to) = (Shape::of_value(cx, source), Shape::of_value(cx, cx.operand(0)));
    if taken > to.rank().checked_sub(from.rank())? || !Shape::of(cx, cx.ty()).vector {
        return None;
    }
    if cx.type_of(source) == cx.ty() {
        return cx.replace(&[source]);
    }
    cx.become_op(cx.context.name("vector.broadcast"), &[source])
}

/// A part of a vector in another shape is a part of the vector.
fn extract_of_another_shape(cx: &mut Cx<'_, '_>) -> Option<()> {
    let cast: Name = cx.context.name("vector.shape_cast");
    let def = cx.def(0, cast)?;
    let source = cx.module().operand(def, 0);
    let coords = positions(cx, cx.op, 1)?;
    let (from, to) = (Shape::of_value(cx, source), Shape::of_value(cx, cx.operand(0)));
    let (left, ty) = (to.dims.get(..coords.len())?, cx.ty());
    let one = left.iter().all(|&dim| dim == 1) && !to.scalable[..coords.len()].contains(&true);
    if one && (Shape::of(cx, ty).vector || from.count() == Some(1)) {
        let value = reshaped(cx, source, ty);
        return cx.replace(&[value]);
    }
    let rest = &to.dims[coords.len()..];
    let leading = from.rank().checked_sub(rest.len())?;
    from.count()?;
    if from.dims[leading..] != *rest {
        return None;
    }
    let mut at = 0i64;
    for (&coord, &dim) in coords.iter().zip(left) {
        let Coord::At(n) = coord else { return None };
        at = at.checked_mul(dim)?.checked_add(n)?;
    }
    let mut found = Vec::new();
    for &dim in from.dims[..leading].iter().rev() {
        found.push(Coord::At(at.checked_rem(dim)?));
        at /= dim;
    }
    found.reverse();
    let value = extract(cx, source, &found, ty);
    cx.replace(&[value])
}

/// What takes the place of everything is the result.
fn insert_all(cx: &mut Cx<'_, '_>) -> Option<()> {
    let (value, ty) = (cx.operand(0), cx.ty());
    if cx.type_of(value) == ty {
        return cx.replace(&[value]);
    }
    let shape = Shape::of(cx, ty);
    let coords = positions(cx, cx.op, 2)?;
    let one =
        coords.iter().zip(&shape.dims).all(|(&coord, &dim)| coord == Coord::At(0) && dim == 1);
    let fixed = !shape.scalable.get(..coords.len())?.contains(&true);
    (one && fixed).then(|| cx.become_op(cx.context.name("vector.broadcast"), &[value]))?
}
