//! Groups: nests that run one after the other in each row.
//!
//! ```text
//! m[r] = max over k of x[r, k];  e[r, k] = exp(x[r, k] - m[r]);  s[r] = sum over k of e[r, k];
//! y[r, k] = e[r, k] / s[r]
//!
//! for r: m; e[..]; s; y[r, ..]
//! ```
//!
//! What a nest wrote is read while it is in the first cache, and what only the group reads needs
//! memory for one row (`contract.rs`). Rows are loops that all nests have: each element that a nest
//! reads of one before it is of the same row. The order is checked against the dependences as every
//! other is.

use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::IteratorKind;

use crate::Options;
use crate::c::chain::begins_together;
use crate::c::lanes::LANES;
use crate::collapse::collapse_inner;
use crate::nest::{Nest, Tensor};
use crate::packing::{Tiled, strides};
use crate::storage::{Draft, Planned};

/// Nests that share rows.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// In the order in which they run.
    pub nests: Vec<Nest>,
    /// The same with memory for one row where only the group sees it.
    pub contracted: Vec<Nest>,
    /// The iterators of each nest that are the rows, outermost first.
    pub rows: Vec<Vec<usize>>,
    /// How each nest that is a sum of products is tiled.
    pub tiled: Vec<Option<Tiled>>,
    /// Whether rows are the steps of a recurrent layer: each reads what those before it wrote.
    pub is_recurrent: bool,
}

/// What all nests do of one row should stay in the first cache: elements of one nest.
const MOST_ELEMENTS: i64 = 16 * 1024;
/// Rows are not shorter if there are loops to take into them: a vector or two would be left.
const LEAST_ELEMENTS: i64 = 256;
/// Rows that take steps together: as many as read a tree while it is in the first cache, and few enough
/// that what they found stays in the second.
const TOGETHER: usize = 4 * LANES;
/// An extent that is not known is taken for this.
const USUAL: i64 = 512;
/// Groups of more tensors are not made: their pointers would not fit into the registers.
const MOST_TENSORS: usize = 20;

/// So many steps that have nothing to do with a group may stand between its nests.
const MOST_BETWEEN: usize = 8;

/// Makes groups of nests that follow each other.
pub(crate) fn group(draft: &mut Draft<'_>, options: &Options) {
    let mut steps = Vec::new();
    let mut open: Option<(Group, usize)> = None;
    for step in std::mem::take(&mut draft.steps) {
        let (nest, tiled) = match &step {
            Planned::Nest(nest) => (&**nest, None),
            Planned::Product(nest, tiled) => (&**nest, Some(&**tiled)),
            Planned::Group(_)
            | Planned::Winograd(_)
            | Planned::Recurrent(_)
            | Planned::Reference(_) => {
                steps.extend(
                    open.take()
                        .into_iter()
                        .flat_map(|(group, _)| group.closed(draft, options.exact)),
                );
                steps.push(step);
                continue;
            }
        };
        if let Some((group, between)) = &mut open {
            if group.join(nest, tiled, draft) {
                continue;
            }
            // Panels of the next product are packed before the group.
            if *between < MOST_BETWEEN && group.is_apart(nest, draft) {
                *between += 1;
                steps.push(step);
                continue;
            }
        }
        steps.extend(
            open.take().into_iter().flat_map(|(group, _)| group.closed(draft, options.exact)),
        );
        match Group::of(nest, tiled) {
            Some(group) => open = Some((group, 0)),
            None => steps.push(step),
        }
    }
    steps.extend(open.into_iter().flat_map(|(group, _)| group.closed(draft, options.exact)));
    draft.steps = steps;
}

impl Group {
    /// A group of one nest; nothing for a sum of products whose panels would pass by once more for
    /// each block of rows.
    fn of(nest: &Nest, tiled: Option<&Tiled>) -> Option<Group> {
        let map = &nest.generic.output.map;
        let rows = match tiled {
            None => {
                let coordinates = (0..map.results().len()).filter_map(|at| map.as_operand(at));
                coordinates.filter(|at| is_parallel(nest, *at)).collect()
            }
            Some(tiled) => product_rows(tiled)?,
        };
        let (nests, tiled) = (vec![nest.clone()], vec![tiled.cloned()]);
        Some(Group { nests, rows: vec![rows], tiled, ..Group::default() })
    }

    /// A nest that combines nothing as a group of its own, whose rows are all its loops but the one
    /// along which everything lies side by side; nothing where no loop is such, or no other is
    /// there.
    pub fn beside(nest: &Nest, tensors: &[Tensor]) -> Option<Group> {
        let inputs = nest.generic.inputs.iter().zip(&nest.inputs);
        let all = inputs.chain([(&nest.generic.output, &nest.output)]);
        let strides: Option<Vec<Vec<Expr>>> =
            all.map(|(access, tensor)| strides(access, &tensors[*tensor])).collect();
        let strides = strides?;
        let (written, read) = strides.split_last()?;
        let long = |at: usize| nest.generic.extents[at].as_int().is_none_or(|n| n >= LANES as i64);
        let inner = (0..written.len()).find(|at| {
            let step = |of: &Vec<Expr>| of[*at].as_int();
            step(written) == Some(1)
                && long(*at)
                && read.iter().all(|of| matches!(step(of), Some(0 | 1)))
        })?;
        let rows: Vec<usize> = nest.parallel().filter(|at| *at != inner).collect();
        let nests = vec![nest.clone()];
        (nest.is_parallel() && !rows.is_empty()).then(|| Group {
            contracted: nests.clone(),
            nests,
            rows: vec![rows],
            tiled: vec![None],
            ..Group::default()
        })
    }

    /// How many of the last rows are done at once: those of a register tile, or those that take the
    /// steps of a chain together.
    pub fn block(&self) -> usize {
        if self.is_recurrent {
            return 1;
        }
        let tile = self.tiled.iter().flatten().map(|tiled| tiled.tile.rows).next();
        let walks = || {
            self.nests.iter().zip(&self.rows).any(|(nest, rows)| {
                rows.last().is_some_and(|&row| {
                    let extent = nest.generic.extents[row].as_int();
                    extent.is_none_or(|extent| extent > 1) && begins_together(nest, row)
                })
            })
        };
        tile.unwrap_or_else(|| if walks() { TOGETHER } else { 1 })
    }

    /// Adds a nest that reads what the group writes; nothing changes where it has no rows of it.
    fn join(&mut self, nest: &Nest, tiled: Option<&Tiled>, draft: &Draft<'_>) -> bool {
        let Some(own) = self.rows_of(nest, draft) else { return false };
        let mut kept: Vec<usize> = (0..own.len()).filter(|row| own[*row].is_some()).collect();
        let members = || self.nests.iter().zip(&self.rows);
        while let Some(apart) = members()
            .find_map(|(nest, rows)| apart(nest, |row| Some(rows[row]), &kept))
            .or_else(|| apart(nest, |row| own[row], &kept))
        {
            kept.retain(|row| *row != apart);
        }
        let mut rows: Vec<Vec<usize>> =
            self.rows.iter().map(|rows| kept.iter().map(|&row| rows[row]).collect()).collect();
        rows.push(kept.iter().filter_map(|&row| own[row]).collect());
        let mut all = self.tiled.clone();
        all.push(tiled.cloned());
        // Tiles of products have the last row as theirs, and no others but the group's.
        let whole = rows.iter().zip(&all).all(|(rows, tiled)| {
            tiled.as_ref().is_none_or(|tiled| {
                product_rows(tiled).is_some_and(|mut own| {
                    let mut sorted = rows.clone();
                    own.sort_unstable();
                    sorted.sort_unstable();
                    own == sorted && rows.last() == tiled.product.rows.last()
                })
            })
        });
        let panels = tiled.map(|tiled| nest.inputs[tiled.product.columns_input]);
        let mut nests = self.nests.clone();
        nests.push(nest.clone());
        let fits =
            whole
                && !kept.is_empty()
                && !self.nests.iter().any(|own| Some(own.output) == panels)
                && nests.iter().zip(&rows).zip(&all).all(|((nest, rows), tiled)| {
                    elements(nest, rows, tiled.as_ref()) <= MOST_ELEMENTS
                })
                && crate::scop::arrays(&nests).0.len() <= MOST_TENSORS;
        if fits {
            *self = Group { nests, rows, tiled: all, ..Group::default() };
        }
        fits
    }

    /// Whether a nest may as well run before the group.
    fn is_apart(&self, nest: &Nest, draft: &Draft<'_>) -> bool {
        let buffer = |tensor: usize| draft.tensors[tensor].buffer;
        self.nests.iter().all(|own| {
            buffer(own.output) != buffer(nest.output)
                && nest.reads().all(|tensor| buffer(tensor) != buffer(own.output))
                && own.reads().all(|tensor| buffer(tensor) != buffer(nest.output))
        })
    }

    /// For each row the iterator of `nest` that it is; nothing if the nest reads nothing of the
    /// group, or in a way that rows cannot be told.
    fn rows_of(&self, nest: &Nest, draft: &Draft<'_>) -> Option<Vec<Option<usize>>> {
        let writer = |tensor: usize| self.nests.iter().position(|own| own.output == tensor);
        let buffer = |tensor: usize| draft.tensors[tensor].buffer;
        // Other tensors in the memory of the group's are not followed.
        let mixed = |a: usize, b: usize| a != b && buffer(a) == buffer(b);
        let reads: Vec<usize> = nest.reads().collect();
        let clash = self.nests.iter().any(|own| {
            reads.iter().any(|tensor| mixed(*tensor, own.output))
                || own.reads().any(|tensor| buffer(tensor) == buffer(nest.output))
                || buffer(own.output) == buffer(nest.output)
        });
        if clash || nest.tables.iter().any(|table| writer(*table).is_some()) {
            return None;
        }
        let count = self.rows[0].len();
        let (mut found, mut lost): (Vec<Option<usize>>, _) =
            (vec![None; count], vec![false; count]);
        let mut is_linked = false;
        for (access, tensor) in nest.generic.inputs.iter().zip(&nest.inputs) {
            let Some(from) = writer(*tensor) else { continue };
            is_linked = true;
            let written = &self.nests[from].generic.output.map;
            for (row, own) in self.rows[from].iter().enumerate() {
                let coordinate =
                    (0..written.results().len()).find(|at| written.as_operand(*at) == Some(*own));
                let iterator = coordinate.and_then(|at| access.map.as_operand(at));
                let extent = &self.nests[from].generic.extents[*own];
                match iterator.filter(|at| is_parallel(nest, *at)) {
                    Some(at)
                        if nest.generic.extents[at] == *extent
                            && found[row].is_none_or(|known| known == at) =>
                    {
                        found[row] = Some(at);
                    }
                    _ => lost[row] = true,
                }
            }
        }
        // Two rows are two loops.
        for row in 0..count {
            lost[row] |= (0..row).any(|other| found[other] == found[row]);
            lost[row] |= found[row].is_some_and(|at| !is_coordinate(nest, at));
        }
        found.iter_mut().zip(&lost).filter(|(_, lost)| **lost).for_each(|(own, _)| *own = None);
        is_linked.then_some(found)
    }

    /// The group as a step, or the nests as they were.
    fn closed(mut self, draft: &mut Draft<'_>, exact: bool) -> Vec<Planned> {
        // Rows that are too short take the loops around them in.
        let short = |group: &Group| {
            group.nests.iter().zip(&group.rows).any(|(nest, rows)| {
                elements(nest, rows, None) < LEAST_ELEMENTS.min(elements(nest, &[], None))
            })
        };
        let fits = |group: &Group| {
            let mut all = group.nests.iter().zip(&group.rows);
            all.all(|(nest, rows)| elements(nest, &rows[..rows.len() - 1], None) <= MOST_ELEMENTS)
        };
        let products = self.tiled.iter().flatten().count();
        while products == 0 && self.rows[0].len() > 1 && short(&self) && fits(&self) {
            self.rows.iter_mut().for_each(|rows| {
                rows.pop();
            });
        }
        let vectors = self
            .nests
            .iter()
            .zip(&self.rows)
            .all(|(nest, rows)| nest.generic.extents.len() > rows.len());
        if self.nests.len() == 1 || !vectors {
            let steps = self.nests.into_iter().zip(self.tiled);
            let steps = steps.map(|(nest, tiled)| match tiled {
                Some(tiled) => Planned::Product(Box::new(nest), Box::new(tiled)),
                None => Planned::Nest(Box::new(nest)),
            });
            return steps.collect();
        }
        let nests = self.nests.iter_mut().zip(&mut self.rows).zip(&self.tiled);
        for ((nest, rows), _) in nests.filter(|(_, tiled)| tiled.is_none()) {
            collapse_inner(nest, &mut draft.tensors, rows, exact);
        }
        vec![Planned::Group(Box::new(self))]
    }
}

fn is_parallel(nest: &Nest, iterator: usize) -> bool {
    nest.generic.kinds.get(iterator) == Some(&IteratorKind::Parallel)
}

/// Whether an iterator is a coordinate of the output, and of nothing else there.
fn is_coordinate(nest: &Nest, iterator: usize) -> bool {
    let map = &nest.generic.output.map;
    (0..map.results().len()).any(|at| map.as_operand(at) == Some(iterator))
}

/// A row along which results lie side by side while other loops go on within it.
fn apart(nest: &Nest, at: impl Fn(usize) -> Option<usize>, kept: &[usize]) -> Option<usize> {
    let map = &nest.generic.output.map;
    let last = map.results().len().checked_sub(1).and_then(|last| map.as_operand(last))?;
    let others = nest.parallel().any(|own| kept.iter().all(|row| at(*row) != Some(own)));
    kept.iter().copied().find(|row| others && at(*row) == Some(last))
}

/// The rows of a sum of products whose panels change with them: of a matrix each, not of one for
/// all.
fn product_rows(tiled: &Tiled) -> Option<Vec<usize>> {
    let product = &tiled.product;
    let fits = !product.batch.is_empty() && product.outer_columns.is_empty();
    fits.then(|| product.batch.iter().chain(&product.rows).copied().collect())
}

/// How many iterations a nest has for one row; of a sum of products how many elements.
fn elements(nest: &Nest, rows: &[usize], tiled: Option<&Tiled>) -> i64 {
    let inner = (0..nest.generic.extents.len()).filter(|at| !rows.contains(at));
    let inner = inner.filter(|at| tiled.is_none_or(|tiled| tiled.product.column == *at));
    inner.fold(1, |product, at| {
        product.saturating_mul(nest.generic.extents[at].as_int().unwrap_or(USUAL).max(1))
    })
}
