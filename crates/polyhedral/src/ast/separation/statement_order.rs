//! Comparing statements: whether the rest of a schedule runs one after the other.

use tangram_presburger::{Relation, Tuple, Union};

use crate::ast::basic_set::BasicSet;
use crate::ast::generate::build::{Builder, Next, Surroundings};
use crate::{Error, Node, NodeKind};

/// A statement, and the least and greatest values of the dimension that it may run at.
pub(in crate::ast) struct Timed<'a> {
    map: &'a Relation,
    cells: Vec<BasicSet>,
    low: Option<i128>,
    high: Option<i128>,
}

impl Builder<'_> {
    /// Finds what is asked of a statement each time that it is compared with another.
    pub fn timed<'a>(&self, map: &'a Relation, place: &Surroundings) -> Result<Timed<'a>, Error> {
        let cells = BasicSet::all_of(map)?;
        let col = self.col(place.depth);
        let (mut low, mut high) = (Some(i128::MAX), Some(i128::MIN));
        for cell in &cells {
            let mut cell = cell.clone();
            cell.join(&place.known.widened(cell.vars));
            let mut points = cell.relaxation(self.budget)?;
            if points.is_empty() {
                continue;
            }
            let mut row = vec![0; cell.cols()];
            row[col] = 1;
            let (least, most) = points.range(&row, self.budget)?;
            let (least, most) = (least.and_then(|v| v.to_i128()), most.and_then(|v| v.to_i128()));
            low = low.zip(least).map(|(a, b)| a.min(b));
            high = high.zip(most).map(|(a, b)| a.max(b));
        }
        Ok(Timed { map, cells, low, high })
    }

    /// Returns whether some instance of `a` runs after one of `b`, from this dimension on.
    pub fn runs_after(
        &self,
        a: &Timed<'_>,
        b: &Timed<'_>,
        place: &Surroundings,
        next: Next,
    ) -> Result<bool, Error> {
        if a.high.zip(b.low).is_some_and(|(high, low)| high < low) {
            return Ok(false);
        }
        if a.low.zip(b.high).is_some_and(|(low, high)| low > high) {
            return Ok(true);
        }
        match next {
            Next::Dimension { total } => self.later_point(a, b, place, total),
            Next::Member { band, member } => {
                let same = [a.low, a.high, b.low].iter().all(|v| v.is_some() && *v == b.high);
                if !same && self.later_point(a, b, place, place.depth + 1)? {
                    return Ok(true);
                }
                let pairs = a.map.inverse()?.apply_range(b.map, self.budget)?;
                self.later_in_band(&pairs.into(), band, member + 1)
            }
        }
    }

    /// Compares dimensions from the current one up to `total`, over the rationals.
    fn later_point(
        &self,
        a: &Timed<'_>,
        b: &Timed<'_>,
        place: &Surroundings,
        total: usize,
    ) -> Result<bool, Error> {
        let width = total - place.depth;
        let (outer, both) = (self.vars(place.depth), self.vars(total));
        for (a, b) in a.cells.iter().flat_map(|a| b.cells.iter().map(move |b| (a, b))) {
            // Columns: what both share, the dimensions of each, then what is inside of each.
            let inner = a.vars - both;
            let vars = both + width + inner + b.vars - both;
            let to: Vec<usize> = (0..both).chain((0..inner).map(|i| both + width + i)).collect();
            let mut pair = a.placed(vars, &to);
            let rest = (both..b.vars).map(|i| i + width + inner);
            let to: Vec<usize> =
                (0..outer).chain((outer..both).map(|i| i + width)).chain(rest).collect();
            pair.join(&b.placed(vars, &to));
            pair.join(&place.known.widened(vars));
            let mut points = pair.relaxation(self.budget)?;
            for dim in 0..width {
                if points.is_empty() {
                    break;
                }
                let mut row = vec![0; pair.cols()];
                (row[1 + outer + dim], row[1 + both + dim]) = (1, -1);
                match points.range(&row, self.budget)?.1 {
                    Some(most) if most < 0 => break,
                    Some(most) if most.is_zero() => points.add_equation(&row, self.budget)?,
                    _ => return Ok(true),
                }
            }
        }
        Ok(false)
    }

    /// Returns whether the first of a pair of instances can run after the second in a band.
    fn later_in_band(&self, pairs: &Union, band: Node, from: usize) -> Result<bool, Error> {
        let Some(tree) = self.tree else { return Ok(true) };
        let NodeKind::Band(data) = tree.kind(band) else { return Ok(true) };
        let mut pairs = pairs.clone();
        // Of the schedule, only what concerns these statements: there may be many others.
        let all = pairs.universe()?;
        let (first, second) = (all.domain(self.budget)?, all.range(self.budget)?);
        for member in &data.members[from..] {
            let order = Relation::lexicographic(
                Vec::new(),
                Tuple::anonymous(1),
                tangram_presburger::Order::Greater,
            );
            let schedule = member.schedule.intersect_domain(&first, self.budget)?;
            let back = member.schedule.intersect_domain(&second, self.budget)?.inverse()?;
            let later = schedule.apply_range(&order.into(), self.budget)?;
            let later = later.apply_range(&back, self.budget)?;
            if !pairs.intersect(&later, self.budget)?.is_empty(self.budget)? {
                return Ok(true);
            }
            let same = schedule.apply_range(&back, self.budget)?;
            pairs = pairs.intersect(&same, self.budget)?;
        }
        match tree.children(band).next() {
            Some(child) => self.later_below(&pairs, child),
            None => Ok(false),
        }
    }

    fn later_below(&self, pairs: &Union, node: Node) -> Result<bool, Error> {
        let Some(tree) = self.tree else { return Ok(true) };
        if pairs.is_empty(self.budget)? {
            return Ok(false);
        }
        let child = tree.children(node).next();
        let below = |pairs: &Union| child.map_or(Ok(false), |child| self.later_below(pairs, child));
        match tree.kind(node) {
            NodeKind::Band(_) => self.later_in_band(pairs, node, 0),
            NodeKind::Filter(filter) => {
                let pairs = pairs.intersect_domain(filter, self.budget)?;
                below(&pairs.intersect_range(filter, self.budget)?)
            }
            NodeKind::Sequence => {
                let filters: Vec<&Union> = tree
                    .children(node)
                    .filter_map(|child| match tree.kind(child) {
                        NodeKind::Filter(filter) => Some(filter),
                        _ => None,
                    })
                    .collect();
                for (index, filter) in filters.iter().enumerate() {
                    let later = pairs.intersect_domain(filter, self.budget)?;
                    for other in &filters[..index] {
                        if !later.intersect_range(other, self.budget)?.is_empty(self.budget)? {
                            return Ok(true);
                        }
                    }
                }
                self.later_in_children(pairs, node)
            }
            NodeKind::Set => self.later_in_children(pairs, node),
            NodeKind::Expansion { expansion, .. } => {
                let pairs = pairs.apply_domain(expansion, self.budget)?;
                below(&pairs.apply_range(expansion, self.budget)?)
            }
            // Added instances may have any place among the others.
            NodeKind::Extension(_) => Ok(true),
            NodeKind::Leaf => Ok(false),
            NodeKind::Domain(_) | NodeKind::Context(_) | NodeKind::Guard(_) | NodeKind::Mark(_) => {
                below(pairs)
            }
        }
    }

    fn later_in_children(&self, pairs: &Union, node: Node) -> Result<bool, Error> {
        let Some(tree) = self.tree else { return Ok(true) };
        for child in tree.children(node) {
            if self.later_below(pairs, child)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
