//! What an operation on transposed data is on the data itself, and how its result is transposed.
//!
//! ```text
//! concatenate(transpose(x) { axes = p }, transpose(y) { axes = p }) { axis = a }
//! transpose(concatenate(x, y) { axis = p[a] }) { axes = p }
//! ```
//!
//! Axes are those of the transposed data: axis `a` of it is axis `p[a]` of the data.

use tangram_ir::{Attr, Module, Op, Traits};

use super::super::present;
use crate::attrs::Attrs;

/// Reductions, which take a list of axes and may drop them.
const REDUCTIONS: [&str; 10] = [
    "nn.sum",
    "nn.mean",
    "nn.max",
    "nn.min",
    "nn.prod",
    "nn.reduce_l1",
    "nn.reduce_l2",
    "nn.reduce_log_sum",
    "nn.reduce_log_sum_exp",
    "nn.reduce_sum_square",
];

/// An operation before a transpose that stood behind it.
pub(super) struct Moved {
    /// Its attributes there.
    pub(super) attrs: Attr,
    /// The order in which its result has to be transposed.
    pub(super) order: Vec<i64>,
}

/// Returns whether operations of these traits work on single elements, whatever their axes are.
pub(super) fn is_pointwise(traits: Traits) -> bool {
    traits.contains(Traits::PURE) && traits.intersects(Traits::ELEMENTWISE | Traits::BROADCASTING)
}

/// Returns whether there is a form of `op` before a transpose, for some attributes.
pub(super) fn may_move(module: &Module, op: Op) -> bool {
    let name = module.name_text(op);
    let speaks_of_axes = matches!(
        name,
        "nn.concatenate"
            | "nn.softmax"
            | "nn.log_softmax"
            | "nn.pad"
            | "nn.strided_slice"
            | "nn.squeeze"
            | "nn.expand_dims"
    );
    let pointwise = module.def(op).is_some_and(|def| is_pointwise(def.traits));
    pointwise || speaks_of_axes || REDUCTIONS.contains(&name)
}

/// `op` where its data, transposed by `order`, is what it was before; `None` if that is another
/// operation, or its axes are computed at run time.
pub(super) fn moved(module: &Module, op: Op, order: &[i64]) -> Option<Moved> {
    let name = module.name_text(op);
    let kept = |attrs| Some(Moved { attrs, order: order.to_vec() });
    if module.def(op).is_some_and(|def| is_pointwise(def.traits)) {
        return kept(module.attrs(op));
    }
    let axes = Axes { module, op, order };
    match name {
        "nn.concatenate" => kept(axes.with_axis(None)?),
        _ if module
            .operands(op)
            .enumerate()
            .skip(1)
            .any(|(i, _)| present(module, op, i).is_some()) =>
        {
            None
        }
        "nn.softmax" | "nn.log_softmax" => kept(axes.softened()?),
        "nn.pad" => kept(axes.padded()?),
        "nn.strided_slice" => kept(axes.sliced()?),
        "nn.squeeze" => axes.squeezed(),
        "nn.expand_dims" => axes.expanded(),
        _ if REDUCTIONS.contains(&name) => axes.reduced(),
        _ => None,
    }
}

/// The axes that an operation speaks of, in the order of a transpose.
struct Axes<'a> {
    module: &'a Module,
    op: Op,
    order: &'a [i64],
}

impl Axes<'_> {
    fn attrs(&self) -> Attrs<'_> {
        Attrs::new(self.module.context(), self.module.attrs(self.op))
    }

    fn rank(&self) -> i64 {
        self.order.len() as i64
    }

    /// The axis of the data.
    fn of(&self, axis: i64) -> Option<i64> {
        let axis = if axis < 0 { axis + self.rank() } else { axis };
        self.order.get(usize::try_from(axis).ok()?).copied()
    }

    fn all_of(&self, axes: &[i64]) -> Option<Vec<i64>> {
        axes.iter().map(|&axis| self.of(axis)).collect()
    }

    /// The attributes with another value for one of them.
    fn with(&self, name: &str, value: Attr) -> Attr {
        let context = self.module.context();
        let old = context.entries(self.module.attrs(self.op)).iter().copied();
        context.dict(old.chain([(context.str(name), value)]))
    }

    fn with_list(&self, name: &str, list: &[i64]) -> Attr {
        self.with(name, self.module.context().i64s_attr(list))
    }

    /// The attributes with the axis of the data; `absent` is the one that is meant if none is said.
    fn with_axis(&self, absent: Option<i64>) -> Option<Attr> {
        let axis = self.of(self.attrs().int("axis").or(absent)?)?;
        Some(self.with("axis", self.module.context().i64_attr(axis)))
    }

    fn softened(&self) -> Option<Attr> {
        if self.attrs().flag("flatten") { None } else { self.with_axis(Some(-1)) }
    }

    fn padded(&self) -> Option<Attr> {
        let widths = self.attrs().ints("pad_width")?;
        if let Some(axes) = self.attrs().ints("axes") {
            return Some(self.with_list("axes", &self.all_of(&axes)?));
        }
        let rank = self.order.len();
        let mut own = (widths.len() == 2 * rank).then(|| vec![0; 2 * rank])?;
        for (i, &axis) in self.order.iter().enumerate() {
            let axis = usize::try_from(axis).ok()?;
            (own[axis], own[axis + rank]) = (widths[i], widths[i + rank]);
        }
        Some(self.with_list("pad_width", &own))
    }

    fn sliced(&self) -> Option<Attr> {
        let attrs = self.attrs();
        let begins = attrs.ints("begin")?;
        let axes = attrs.ints("axes").unwrap_or_else(|| (0..begins.len() as i64).collect());
        Some(self.with_list("axes", &self.all_of(&axes)?))
    }

    fn squeezed(&self) -> Option<Moved> {
        let gone = self.all_of(&self.attrs().ints("axis")?)?;
        Some(Moved { attrs: self.with_list("axis", &gone), order: self.without(&gone) })
    }

    /// The order of the axes that stay, counted anew.
    fn without(&self, gone: &[i64]) -> Vec<i64> {
        let kept: Vec<i64> = self.order.iter().copied().filter(|a| !gone.contains(a)).collect();
        let place = |axis: &i64| kept.iter().filter(|other| *other < axis).count() as i64;
        kept.iter().map(place).collect()
    }

    /// New dimensions keep their places, so that a transpose in the old order undoes this one.
    fn expanded(&self) -> Option<Moved> {
        let listed = self.attrs().ints("axis")?;
        let rank = self.rank() + listed.len() as i64;
        let new: Vec<i64> = listed.iter().map(|&a| if a < 0 { a + rank } else { a }).collect();
        let old: Vec<i64> = (0..rank).filter(|axis| !new.contains(axis)).collect();
        let mut from = self.order.iter();
        let place = |axis: i64| {
            if new.contains(&axis) {
                Some(axis)
            } else {
                old.get(usize::try_from(*from.next()?).ok()?).copied()
            }
        };
        let order = (0..rank).map(place).collect::<Option<_>>()?;
        Some(Moved { attrs: self.module.attrs(self.op), order })
    }

    fn reduced(&self) -> Option<Moved> {
        let attrs = self.attrs();
        let listed = attrs.ints("axis").filter(|axes| !axes.is_empty())?;
        let gone = self.all_of(&listed)?;
        let keeps = attrs.bool("keepdims").unwrap_or(true);
        let order = if keeps { self.order.to_vec() } else { self.without(&gone) };
        Some(Moved { attrs: self.with_list("axis", &gone), order })
    }
}
