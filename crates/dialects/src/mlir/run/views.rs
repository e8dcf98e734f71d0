//! Buffers, their elements, and views of them.

use std::cell::RefCell;
use std::rc::Rc;

use tangram_ir::{AttrData, Op};

use super::slices::Part;
use super::{Datum, Elements, Machine, Result};
use crate::mlir::memref::layout::{extents, layout};

/// Elements of a buffer by indices: where they lie in it.
#[derive(Clone, Debug)]
pub struct View {
    memory: Rc<RefCell<Elements>>,
    offset: i64,
    extents: Vec<i64>,
    strides: Vec<i64>,
}

/// Numbers that a type says or not.
type Told = Vec<Option<i64>>;

/// The strides of rows one after the other.
fn row_major(extents: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; extents.len()];
    for i in (1..extents.len()).rev() {
        strides[i - 1] = strides[i] * extents[i];
    }
    strides
}

impl View {
    /// What `datum` is as a view, if it is a buffer.
    pub fn of(datum: &Datum) -> Option<View> {
        match datum {
            Datum::Buffer(memory) => {
                let extents = memory.borrow().extents.clone();
                let strides = row_major(&extents);
                Some(View { memory: memory.clone(), offset: 0, extents, strides })
            }
            Datum::View(view) => Some((**view).clone()),
            _ => None,
        }
    }

    /// A copy of all elements; `None` where some lie outside of the buffer.
    pub fn elements(&self) -> Option<Elements> {
        let whole = Part {
            offsets: vec![0; self.extents.len()],
            sizes: self.extents.clone(),
            strides: vec![1; self.extents.len()],
        };
        let memory = self.memory.borrow();
        let element = |at: Vec<i64>| memory.data.get(self.position(&at)?).cloned();
        let data: Option<Vec<Datum>> = whole.points().into_iter().map(element).collect();
        Some(Elements { extents: self.extents.clone(), data: data? })
    }

    /// Where an element lies.
    fn position(&self, at: &[i64]) -> Option<usize> {
        let inside = at.len() == self.extents.len()
            && at.iter().zip(&self.extents).all(|(at, extent)| (0..*extent).contains(at));
        let steps = at.iter().zip(&self.strides).map(|(at, stride)| at * stride);
        usize::try_from(self.offset + steps.sum::<i64>()).ok().filter(|_| inside)
    }

    /// One dimension from another element on, up to where it ended.
    pub(super) fn advanced(&self, by: i64) -> Option<View> {
        let (&[extent], &[stride]) = (&self.extents[..], &self.strides[..]) else { return None };
        let offset = self.offset.checked_add(by.checked_mul(stride)?)?;
        Some(View { offset, extents: vec![extent.checked_sub(by)?], ..self.clone() })
    }

    fn part(&self, part: &Part) -> Option<View> {
        let fits = part.offsets.iter().zip(&part.sizes).zip(&part.strides).zip(&self.extents).all(
            |(((&offset, &size), &stride), &extent)| {
                let last = offset + (size - 1) * stride;
                size >= 0 && (size == 0 || [offset, last].iter().all(|at| (0..extent).contains(at)))
            },
        );
        let steps = part.offsets.iter().zip(&self.strides).map(|(at, stride)| at * stride);
        let strides = part.strides.iter().zip(&self.strides).map(|(by, stride)| by * stride);
        fits.then(|| View {
            memory: self.memory.clone(),
            offset: self.offset + steps.sum::<i64>(),
            extents: part.sizes.clone(),
            strides: strides.collect(),
        })
    }

    /// With the dimensions of each group joined, which lie one after the other.
    fn joined(&self, groups: &[Vec<i64>]) -> Option<View> {
        let (mut extents, mut strides) = (Vec::new(), Vec::new());
        for group in groups {
            let mut open: Option<(i64, i64)> = None;
            for &at in group {
                let (extent, stride) = (self.extents[at as usize], self.strides[at as usize]);
                open = match open {
                    _ if extent == 1 && open.is_some() => open,
                    None | Some((1, _)) => Some((extent, stride)),
                    Some((n, by)) if by == extent * stride => Some((n * extent, stride)),
                    Some(_) => return None,
                };
            }
            let (extent, stride) = open.unwrap_or((1, 1));
            extents.push(extent);
            strides.push(stride);
        }
        Some(View { extents, strides, ..self.clone() })
    }

    /// With dimensions split in groups of `sizes`.
    fn split(&self, groups: &[Vec<i64>], sizes: &[i64]) -> Option<View> {
        let mut strides = vec![1; sizes.len()];
        for ((group, &extent), &stride) in groups.iter().zip(&self.extents).zip(&self.strides) {
            let mut stride = stride;
            for &at in group.iter().rev() {
                strides[at as usize] = stride;
                stride *= sizes[at as usize];
            }
            if group.iter().map(|&at| sizes[at as usize]).product::<i64>() != extent {
                return None;
            }
        }
        let fits = sizes.iter().all(|&size| size >= 0);
        fits.then(|| View { extents: sizes.to_vec(), strides, ..self.clone() })
    }
}

impl Machine<'_> {
    pub(super) fn view(&self, op: Op, datum: &Datum) -> Result<View> {
        View::of(datum).ok_or_else(|| self.unsupported(op))
    }

    pub(super) fn read(&self, op: Op, buffer: &Datum, at: &[i64]) -> Result<Datum> {
        let view = self.view(op, buffer)?;
        let position = view.position(at).ok_or_else(|| self.undefined(op))?;
        let element = view.memory.borrow().data.get(position).cloned();
        element.ok_or_else(|| self.undefined(op))
    }

    pub(super) fn write(
        &self,
        op: Op,
        buffer: &Datum,
        at: &[i64],
        value: &Datum,
    ) -> Result<Vec<Datum>> {
        let view = self.view(op, buffer)?;
        let position = view.position(at).ok_or_else(|| self.undefined(op))?;
        let mut memory = view.memory.borrow_mut();
        *memory.data.get_mut(position).ok_or_else(|| self.undefined(op))? = value.clone();
        Ok(Vec::new())
    }

    /// An operation on buffers and their elements.
    pub(super) fn buffers(&mut self, op: Op, operands: &[Datum]) -> Result<Vec<Datum>> {
        match (self.module.name_text(op), operands) {
            ("memref.alloc" | "memref.alloca", sizes) => {
                let elements = self.blank(op, sizes)?;
                Ok(vec![Datum::Buffer(Rc::new(RefCell::new(elements)))])
            }
            ("memref.dealloc" | "memref.prefetch", _) => Ok(Vec::new()),
            ("memref.load", [buffer, indices @ ..]) => {
                let at = self.ints(op, indices)?;
                Ok(vec![self.read(op, buffer, &at)?])
            }
            ("memref.store", [value, buffer, indices @ ..]) => {
                let at = self.ints(op, indices)?;
                self.write(op, buffer, &at, value)
            }
            ("memref.atomic_rmw", [value, buffer, indices @ ..]) => {
                let at = self.ints(op, indices)?;
                let old = self.read(op, buffer, &at)?;
                let kind =
                    self.module.attr(op, "kind").and_then(|a| self.module.context().as_i64(a));
                // MLIR's number of `assign`; sums and the like are not needed by tests so far.
                if kind != Some(3) {
                    return Err(self.unsupported(op));
                }
                self.write(op, buffer, &at, value)?;
                Ok(vec![old])
            }
            ("memref.copy", [from, to]) => self.copy(op, from, to),
            ("memref.dim", [buffer, index]) => {
                let extents = self.view(op, buffer)?.extents;
                self.extent(op, &extents, index)
            }
            ("memref.rank", [buffer]) => {
                Ok(vec![Datum::Int(self.view(op, buffer)?.extents.len() as i128)])
            }
            ("memref.get_global", []) => self.global(op),
            ("memref.extract_strided_metadata", [buffer]) => {
                let view = self.view(op, buffer)?;
                let base = View { extents: vec![], strides: vec![], offset: 0, ..view.clone() };
                let numbers = std::iter::once(view.offset).chain(view.extents).chain(view.strides);
                let numbers = numbers.map(|n| Datum::Int(n.into()));
                Ok(std::iter::once(Datum::View(Rc::new(base))).chain(numbers).collect())
            }
            ("memref.alloca_scope", []) => {
                Ok(self.region(op, self.module.region(op, 0), Vec::new())?.1)
            }
            (_, [buffer, rest @ ..]) => {
                let view = self.view(op, buffer)?;
                let view = self.viewed(op, &view, rest)?;
                self.check(op, &view)?;
                Ok(vec![Datum::View(Rc::new(view))])
            }
            _ => Err(self.unsupported(op)),
        }
    }

    /// What a view of a buffer is.
    fn viewed(&self, op: Op, view: &View, rest: &[Datum]) -> Result<View> {
        let groups = || -> Result<Vec<Vec<i64>>> {
            let context = self.module.context();
            let attr = self.module.attr(op, "reassociation").map(|attr| context.attr_data(attr));
            let Some(AttrData::Array(items)) = attr else { return Err(self.unsupported(op)) };
            let groups: Option<_> = items.iter().map(|&item| context.as_i64s(item)).collect();
            groups.ok_or_else(|| self.unsupported(op))
        };
        let made = match self.module.name_text(op) {
            "memref.cast" | "memref.assume_alignment" | "memref.memory_space_cast" => {
                Some(view.clone())
            }
            "memref.subview" => {
                let part = view.part(&self.part(op, rest)?);
                part.map(|part| self.shown(op, part)).transpose()?
            }
            "memref.reinterpret_cast" => {
                let Part { offsets, sizes: extents, strides } = self.part(op, rest)?;
                Some(View { memory: view.memory.clone(), offset: offsets[0], extents, strides })
            }
            "memref.collapse_shape" => view.joined(&groups()?),
            "memref.expand_shape" => {
                let sizes =
                    self.mixed(op, "static_output_shape", &mut self.ints(op, rest)?.into_iter())?;
                view.split(&groups()?, &sizes)
            }
            "memref.transpose" => {
                let map = self.map(op, "permutation")?;
                let places = (0..view.extents.len()).map(|i| map.as_operand(i));
                let places: Option<Vec<usize>> = places.collect();
                let places = places.ok_or_else(|| self.unsupported(op))?;
                let (extents, strides) =
                    places.into_iter().map(|at| (view.extents[at], view.strides[at])).unzip();
                Some(View { extents, strides, ..view.clone() })
            }
            _ => return Err(self.unsupported(op)),
        };
        made.ok_or_else(|| self.undefined(op))
    }

    /// A part without the dimensions that its type drops.
    fn shown(&self, op: Op, mut part: View) -> Result<View> {
        let (extents, strides) = self.told(op)?;
        let mut at = 0;
        while at < part.extents.len() && part.extents.len() > extents.len() {
            let fits = |told: &[Option<i64>], n: i64| {
                told.get(at).is_some_and(|told| told.is_none_or(|told| told == n))
            };
            let stays = fits(&extents, part.extents[at]) && fits(&strides, part.strides[at]);
            // A dimension that may stay or go is one that the type names.
            if part.extents[at] == 1 && !(stays && extents[at] == Some(1)) {
                part.extents.remove(at);
                part.strides.remove(at);
            } else {
                at += 1;
            }
        }
        Ok(part)
    }

    /// The extents and strides that the type of the result says.
    fn told(&self, op: Op) -> Result<(Told, Told)> {
        let (context, ty) = (self.module.context(), self.module.result(op, 0));
        let ty = self.module.value_type(ty);
        let told = extents(context, ty).zip(layout(context, ty));
        let (extents, layout) = told.ok_or_else(|| self.unsupported(op))?;
        Ok((extents, layout.strides))
    }

    /// What the type of the result says of a view has to hold.
    fn check(&self, op: Op, view: &View) -> Result<()> {
        let (extents, strides) = self.told(op)?;
        let (context, ty) = (self.module.context(), self.module.result(op, 0));
        let offset = layout(context, self.module.value_type(ty)).and_then(|layout| layout.offset);
        let holds = |told: &[Option<i64>], found: &[i64]| {
            told.len() == found.len()
                && told.iter().zip(found).all(|(told, n)| told.is_none_or(|told| told == *n))
        };
        // The stride of a dimension of one element is never walked.
        let walked =
            strides.iter().zip(&view.extents).map(|(&n, &extent)| n.filter(|_| extent > 1));
        let walked: Vec<Option<i64>> = walked.collect();
        let same = holds(&extents, &view.extents)
            && holds(&walked, &view.strides)
            && offset.is_none_or(|offset| offset == view.offset);
        if same { Ok(()) } else { Err(self.undefined(op)) }
    }

    fn copy(&self, op: Op, from: &Datum, to: &Datum) -> Result<Vec<Datum>> {
        let (from, to) = (self.view(op, from)?, self.view(op, to)?);
        let elements = from.elements().ok_or_else(|| self.undefined(op))?;
        if from.extents != to.extents {
            return Err(self.undefined(op));
        }
        let whole = Part {
            offsets: vec![0; to.extents.len()],
            strides: vec![1; to.extents.len()],
            sizes: to.extents.clone(),
        };
        let target = Datum::View(Rc::new(to));
        for (value, at) in elements.data.iter().zip(whole.points()) {
            self.write(op, &target, &at, value)?;
        }
        Ok(Vec::new())
    }

    /// A global buffer, with the elements it starts with.
    fn global(&mut self, op: Op) -> Result<Vec<Datum>> {
        let (module, context) = (self.module, self.module.context());
        let name = module.attr(op, "name").map(|attr| context.attr_data(attr));
        let Some(AttrData::Symbol(path)) = name else { return Err(self.unsupported(op)) };
        let name = path.first().map(|&name| context.text(name));
        let global = module.ops(module.body()).find(|&global| {
            let own = module.attr(global, "sym_name").and_then(|attr| context.as_text(attr));
            own.is_some() && own == name
        });
        let global = global.ok_or_else(|| self.unsupported(op))?;
        if let Some(datum) = self.globals.get(&global) {
            return Ok(vec![datum.clone()]);
        }
        let mut elements = self.blank(op, &[])?;
        let initial = module.attr(global, "initial_value");
        let numbers = initial.and_then(|attr| {
            crate::mlir::fold::number::integers(context, attr, elements.data.len())
        });
        let numbers = numbers.ok_or_else(|| self.unsupported(op))?;
        elements.data = numbers.into_iter().map(Datum::Int).collect();
        let datum = Datum::Buffer(Rc::new(RefCell::new(elements)));
        self.globals.insert(global, datum.clone());
        Ok(vec![datum])
    }
}
