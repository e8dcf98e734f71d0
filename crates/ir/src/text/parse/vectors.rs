//! What the text of operations on vectors and on elements leaves out.

use smallvec::smallvec;
use tangram_affine::{AffineExprs, AffineMap, Node};

use super::custom::{Draft, Types};
use super::operations::Pending;
use super::{Kind, Parsed, Parser};
use crate::attributes::{Attr, AttrData};
use crate::payload::Payload;
use crate::types::TypeData;

/// `(d0, d1, d2) -> (d1, d2)`: the last `results` of `dims` dimensions.
fn minor_identity(dims: u32, results: u32) -> AffineMap {
    let mut exprs = AffineExprs::new();
    let results: Vec<_> = (dims.saturating_sub(results)..dims).map(|i| exprs.dim(i)).collect();
    AffineMap::new(dims, 0, &exprs, &results)
}

impl<'a> Parser<'a> {
    /// `{ arith.addf {fastmath = ...} }`, if it is there.
    pub(super) fn payload(&mut self, draft: &mut Draft<'a>, args: &[&'static str]) -> Parsed<()> {
        if !self.accept(b'{') {
            return Ok(());
        }
        let token = self.expect_kind(Kind::Word, "the name of an operation")?;
        let mut entries = Vec::new();
        if self.accept(b'{') {
            self.entries(&mut entries)?;
        }
        self.expect(b'}', "after the operation")?;
        let name = self.context.name(self.spelling(token));
        if let Some(def) = self.context.def(name) {
            self.settle_defaults(def, &mut entries);
        }
        let (attrs, takes_init) = (self.context.dict_of(&mut entries), args.contains(&"init"));
        let terminator = args.first().copied().unwrap_or("");
        draft.payload = Some(Payload { name, attrs, terminator, takes_init });
        Ok(())
    }

    /// `(%in: f32, %init: f32)`: the arguments of the region that follows.
    pub(super) fn mapper_args(&mut self, draft: &mut Draft<'a>) -> Parsed<()> {
        self.expect(b'(', "before the arguments of the region")?;
        self.list(b')', |p| {
            let token = p.expect_kind(Kind::Percent, "an argument")?;
            p.expect(b':', "before the type of the argument")?;
            let ty = p.ty()?;
            let loc = p.argument_loc()?;
            draft.arg_locs.extend(loc.map(|loc| (draft.region_args.len(), loc)));
            draft.region_args.push((token, ty));
            Ok(())
        })
    }

    /// The map, the bounds and the type of the mask of a transfer.
    pub(super) fn transfer_types(
        &mut self,
        draft: &mut Draft<'a>,
        pending: &Pending<'a>,
    ) -> Parsed<()> {
        let (base, vector) = (self.group_number(draft, "base"), self.group_number(draft, "mask"));
        let mask = vector;
        let first = |types: Option<&Option<Types>>| {
            types.and_then(|types| types.as_ref()?.first().copied())
        };
        let of_vector = if base == 0 { draft.results.first() } else { draft.types.first() };
        let (shaped, of_vector) = (first(draft.types.get(base)), first(of_vector));
        let shape = shaped.and_then(|ty| match self.context.type_data(ty) {
            TypeData::Tensor(tensor) => Some((tensor.dims.len(), tensor.element)),
            TypeData::MemRef { dims, element, .. } => Some((dims.len(), *element)),
            _ => None,
        });
        let data = of_vector.map(|ty| self.context.type_data(ty));
        let (Some((rank, element)), Some(TypeData::Vector { dims, scalable, .. })) = (shape, data)
        else {
            let message = "expected a tensor or buffer, and a vector".to_owned();
            return self.error(pending.name, "transfer-type", message);
        };
        let inner = match self.context.type_data(element) {
            TypeData::Vector { dims, .. } => dims.len(),
            _ => 0,
        };
        let given = draft.attr(self.context, "permutation_map");
        let map = match given.map(|attr| self.context.as_affine_map(attr).cloned()) {
            Some(map) => map,
            // The vector of a place without dimensions has one element.
            None if rank == 0 && **dims == [1] => Some(AffineMap::constant(0)),
            None => {
                let results = dims.len().checked_sub(inner).filter(|&results| results <= rank);
                results.map(|results| minor_identity(rank as u32, results as u32))
            }
        };
        let Some(map) = map else {
            let message = format!("expected `permutation_map` from {rank} dimensions, found none");
            return self.error(pending.name, "transfer-map", message);
        };
        if draft.attr(self.context, "in_bounds").is_none() {
            let attr = self.context.array_attr(&vec![Attr::FALSE; map.results().len()]);
            self.set_attr(draft, "in_bounds", attr);
        }
        let (dims, scalable) = mask_shape(&map, dims, scalable);
        let data = TypeData::Vector { dims, scalable, element: self.context.int_type(1) };
        draft.types[mask] = Some(smallvec![self.context.ty(data)]);
        if given.is_none() {
            let attr = self.context.attr(AttrData::AffineMap(map));
            self.set_attr(draft, "permutation_map", attr);
        }
        Ok(())
    }

    /// The type of the product of all pairs, or of a vector with a scalar.
    pub(super) fn outer_types(
        &mut self,
        draft: &mut Draft<'a>,
        pending: &Pending<'a>,
    ) -> Parsed<()> {
        let data = |i: usize| {
            let ty = draft.types.get(i)?.as_ref()?.first().copied()?;
            Some((ty, self.context.type_data(ty)))
        };
        let (Some((left, TypeData::Vector { dims, scalable, element })), Some((_, right))) =
            (data(0), data(1))
        else {
            let message = "expected a vector as the first factor".to_owned();
            return self.error(pending.name, "outer-type", message);
        };
        let ty = match right {
            TypeData::Vector { dims: more, scalable: flags, .. } => {
                let data = TypeData::Vector {
                    dims: dims.iter().chain(more).copied().collect(),
                    scalable: scalable.iter().chain(flags).copied().collect(),
                    element: *element,
                };
                self.context.ty(data)
            }
            _ => left,
        };
        draft.types[2] = Some(smallvec![ty]);
        draft.set_results(&[ty]);
        Ok(())
    }
}

/// The shape of the mask over what is transferred: in the order of memory, without dimensions
/// that are broadcast.
fn mask_shape(map: &AffineMap, dims: &[i64], scalable: &[bool]) -> (Box<[i64]>, Box<[bool]>) {
    let mut places: Vec<(u32, usize)> = Vec::new();
    for (i, &result) in map.results().iter().enumerate() {
        if let Node::Dim(d) = map.node(result)
            && places.iter().all(|place| place.0 != d)
        {
            places.push((d, i));
        }
    }
    places.sort_unstable();
    if places.is_empty() {
        return ([1].into(), [false].into());
    }
    let dim = |&(_, i): &(u32, usize)| dims.get(i).copied().unwrap_or(1);
    let flag = |&(_, i): &(u32, usize)| scalable.get(i).copied().unwrap_or(false);
    (places.iter().map(dim).collect(), places.iter().map(flag).collect())
}
