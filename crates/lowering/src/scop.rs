//! Loop nests as static control parts.
//!
//! A nest that combines iterations has up to three statements: `I` gives an element its initial
//! value, `S` combines one iteration with it, `F` applies what follows.

use tangram_affine::AffineMap;
use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::{Generic, Scalar};
use tangram_polyhedral::ScheduleTree;
use tangram_polyhedral::scop::{Array, Scop, Statement};
use tangram_presburger::{Budget, Relation, Tuple, Union};

use crate::LowerError;
use crate::nest::{Nest, Tensor};
use crate::parameters::Parameters;
use crate::relations::NestRows;

/// What a statement of a nest does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Gives an element its initial value.
    Initial,
    /// Computes an element, or combines an iteration with it.
    Update,
    /// Applies what follows to a combined element.
    Finish,
}

impl Role {
    /// The roles that a nest has statements for.
    pub fn of(nest: &Nest) -> Vec<Role> {
        let mut roles = Vec::new();
        if !nest.is_parallel() {
            roles.push(Role::Initial);
        }
        roles.push(Role::Update);
        if nest.finish.is_some() {
            roles.push(Role::Finish);
        }
        roles
    }

    /// The name of the statement's instances in the nest of this number.
    pub fn name(self, number: usize) -> String {
        let role = match self {
            Role::Initial => 'I',
            Role::Update => 'S',
            Role::Finish => 'F',
        };
        if number == 0 { role.to_string() } else { format!("{role}{number}") }
    }

    /// The iterators of the nest that are loops of the statement.
    pub fn iterators(self, nest: &Nest) -> Vec<usize> {
        match self {
            Role::Update => (0..nest.generic.extents.len()).collect(),
            _ => nest.parallel().collect(),
        }
    }
}

/// The parameters of nests: of extents, symbols, and the extents of their tensors.
pub(crate) fn parameters(nests: &[Nest], tensors: &[Tensor]) -> Parameters {
    let mut parameters = Parameters::default();
    for nest in nests {
        let own = nest.generic.extents.iter().chain(&nest.generic.symbols);
        own.for_each(|expr| parameters.add(expr));
        let all = nest.inputs.iter().chain(&nest.tables).chain([&nest.output]);
        all.flat_map(|tensor| &tensors[*tensor].extents).for_each(|expr| parameters.add(expr));
    }
    parameters
}

/// The name of a tensor's cells, and of its pointer.
pub(crate) fn array(tensor: usize, order: &[usize]) -> String {
    format!("x{}", order.iter().position(|own| *own == tensor).unwrap_or(order.len()))
}

/// The tensors of nests, each once: those that are written, then the others; and how many are
/// written.
pub(crate) fn arrays(nests: &[Nest]) -> (Vec<usize>, usize) {
    let mut all: Vec<usize> = Vec::new();
    let mut add = |tensor: usize| {
        if !all.contains(&tensor) {
            all.push(tensor);
        }
        all.len()
    };
    let written = nests.iter().map(|nest| add(nest.output)).last().unwrap_or(0);
    for tensor in nests.iter().flat_map(|nest| nest.inputs.iter().chain(&nest.tables)) {
        add(*tensor);
    }
    (all, written)
}

/// Makes a static control part of nests that run one after the other, or do so in each iteration
/// of a loop that is the first of all.
///
/// # Errors
/// [`LowerError::Loops`] if the budget ends or a nest is not affine.
pub(crate) fn scop(
    nests: &[Nest],
    tensors: &[Tensor],
    parameters: &Parameters,
    is_recurrent: bool,
    budget: &Budget,
) -> Result<Scop, LowerError> {
    let (order, _) = arrays(nests);
    let mut parts = Parts::default();
    let depth = nests.iter().map(|nest| nest.generic.extents.len()).max().unwrap_or(0);
    for (number, nest) in nests.iter().enumerate() {
        let order = &order;
        let builder = Builder { nest, number, depth, is_recurrent, tensors, parameters, order };
        for role in Role::of(nest) {
            builder.statement(role, &mut parts)?;
        }
    }
    let arrays = order.iter().map(|tensor| Array {
        name: array(*tensor, &order),
        extents: Vec::new(),
        local: false,
        kept: false,
        shared: false,
        integer: false,
    });
    let writes = Union::collect(parts.writes)?;
    let scop = Scop {
        context: Some(context(parameters)?),
        arrays: arrays.collect(),
        statements: parts.statements,
        reads: Union::collect(parts.reads)?,
        may_writes: writes.clone(),
        must_writes: writes,
        kills: Union::empty(),
        schedule: ScheduleTree::from_map(&Union::collect(parts.schedule)?, budget)?,
    };
    scop.check(budget)?;
    Ok(scop)
}

#[derive(Default)]
struct Parts {
    statements: Vec<Statement>,
    reads: Vec<Relation>,
    writes: Vec<Relation>,
    schedule: Vec<Relation>,
}

/// Bounds below which parameters do not fall. A size is not negative; a difference of sizes, of
/// which one is the least or greatest of others, may be.
pub(crate) fn context(parameters: &Parameters) -> Result<Relation, LowerError> {
    let mut part = tangram_presburger::Conjunction::default();
    let names = parameters.names();
    for (at, expr) in parameters.expressions().iter().enumerate() {
        let Some(least) = least(expr) else { continue };
        let mut row = vec![0_i128; 1 + names.len()];
        row[0] = -least;
        row[1 + at] = 1;
        part.inequalities.push(row);
    }
    let space = tangram_presburger::Space::set(names, Tuple::params());
    Ok(Relation::from_conjunctions(space, &[part])?)
}

/// A number that no value of a parameter is below, if there is one near 0.
fn least(expr: &Expr) -> Option<i128> {
    // A product of sizes may be beyond the numbers of bounds.
    if expr.is_never_negative() {
        return Some(0);
    }
    let (least, _) = expr.bounds(&|_| Some((0, i64::MAX)))?;
    (least.abs() < 1 << 32).then_some(least)
}

struct Builder<'a> {
    nest: &'a Nest,
    /// Which of the nests it is.
    number: usize,
    /// The loops of the deepest nest.
    depth: usize,
    /// Whether the first loop is around all nests.
    is_recurrent: bool,
    tensors: &'a [Tensor],
    parameters: &'a Parameters,
    order: &'a [usize],
}

impl Builder<'_> {
    fn statement(&self, role: Role, parts: &mut Parts) -> Result<(), LowerError> {
        let position = parts.statements.len();
        let generic = &self.nest.generic;
        let iterators = role.iterators(self.nest);
        let tuple = Tuple::new(role.name(self.number), iterators.iter().map(|at| format!("i{at}")));
        let not_affine = || LowerError::NotAffine;
        let rows = |outputs| NestRows::new(self.parameters, iterators.len(), outputs);
        let bounded = |rows: &mut NestRows<'_>| -> Option<()> {
            let mut numbered = iterators.iter().enumerate();
            numbered.try_for_each(|(at, own)| rows.iterates(at, &generic.extents[*own]))
        };
        let mut set = rows(0);
        bounded(&mut set).ok_or_else(not_affine)?;
        let domain = set.set(tuple.clone())?;

        // Where in the order of the statements, then the loops; reduced ones innermost.
        let mut loops: Vec<usize> = self.nest.parallel().collect();
        loops.extend(generic.reduced());
        let mut order = rows(2 + self.depth);
        bounded(&mut order).ok_or_else(not_affine)?;
        let mut exprs = tangram_affine::AffineExprs::new();
        let mut results = vec![exprs.constant(position as i64)];
        if self.is_recurrent {
            results.insert(0, exprs.dim(0));
        }
        for own in &loops {
            let at = iterators.iter().position(|other| other == own);
            results.push(match at {
                Some(at) => exprs.dim(at as u32),
                None => exprs.constant(0),
            });
        }
        results.resize(2 + self.depth, exprs.constant(0));
        let map = AffineMap::new(iterators.len() as u32, 0, &exprs, &results);
        for at in 0..results.len() {
            order.is_result(at, (&map, at), &[], None).ok_or_else(not_affine)?;
        }
        parts.schedule.push(order.relation(tuple.clone(), Tuple::anonymous(results.len()))?);

        let access = |map: &AffineMap, tensor: usize, inside: bool| {
            let extents = &self.tensors[tensor].extents;
            let to = Tuple { name: array(tensor, self.order), ..Tuple::anonymous(extents.len()) };
            let map = on_loops(map, &iterators);
            let made = || {
                let mut rows = rows(extents.len());
                bounded(&mut rows)?;
                for (at, extent) in extents.iter().enumerate() {
                    rows.is_result(at, (&map, at), &generic.symbols, inside.then_some(extent))?;
                }
                Some(rows)
            };
            let any = || {
                let mut rows = rows(extents.len());
                bounded(&mut rows)?;
                extents.iter().enumerate().try_for_each(|(at, extent)| rows.is_any(at, extent))?;
                Some(rows)
            };
            let rows = made().or_else(any).ok_or_else(not_affine)?;
            Ok::<Relation, LowerError>(rows.relation(tuple.clone(), to)?)
        };
        let written = access(&generic.output.map, self.nest.output, false)?;
        if !written.is_single_valued(&Budget::default())? {
            return Err(LowerError::NotAffine);
        }
        if role == Role::Finish || (role == Role::Update && !self.nest.is_parallel()) {
            parts.reads.push(written.clone());
        }
        parts.writes.push(written);
        for input in self.inputs(role) {
            let own = &generic.inputs[input];
            let read = access(&own.map, self.nest.inputs[input], own.outside.is_some())?;
            parts.reads.push(read);
        }
        if role == Role::Update {
            for table in &self.nest.tables {
                let extents = &self.tensors[*table].extents;
                let to =
                    Tuple { name: array(*table, self.order), ..Tuple::anonymous(extents.len()) };
                let mut rows = rows(extents.len());
                bounded(&mut rows).ok_or_else(not_affine)?;
                for (at, extent) in extents.iter().enumerate() {
                    rows.is_any(at, extent).ok_or_else(not_affine)?;
                }
                parts.reads.push(rows.relation(tuple.clone(), to)?);
            }
        }
        let name = role.name(self.number);
        parts.statements.push(Statement { name, domain, update: None });
        Ok(())
    }

    /// The inputs that a statement reads.
    fn inputs(&self, role: Role) -> Vec<usize> {
        let of = |body: &tangram_dialects::structured::Body| {
            let read = body.scalars().iter().filter_map(|scalar| match scalar {
                Scalar::Input(at) => Some(*at),
                _ => None,
            });
            let mut all: Vec<usize> = read.collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        match role {
            Role::Initial => Vec::new(),
            Role::Update => of(&self.nest.generic.body),
            Role::Finish => self.nest.finish.as_ref().map_or_else(Vec::new, |f| of(&f.body)),
        }
    }
}

/// The map over the loops of a statement, some of the iterators of a nest.
fn on_loops(map: &AffineMap, iterators: &[usize]) -> AffineMap {
    let mut exprs = tangram_affine::AffineExprs::new();
    let dims: Vec<_> = (0..map.dims())
        .map(|at| match iterators.iter().position(|own| *own == at) {
            Some(own) => exprs.dim(own as u32),
            None => exprs.constant(0),
        })
        .collect();
    let results = map.substitute(&mut exprs, &dims, &[]);
    AffineMap::new(iterators.len() as u32, map.symbols() as u32, &exprs, &results)
}

/// The iterators that occur in the map of an input.
pub(crate) fn loops_in(generic: &Generic, input: usize) -> Vec<usize> {
    let (dims, _) = generic.inputs[input].map.used();
    dims.iter().enumerate().filter(|(_, used)| **used).map(|(at, _)| at).collect()
}

/// How many elements a tensor has.
pub(crate) fn count(extents: &[Expr]) -> Option<Expr> {
    extents.iter().try_fold(Expr::int(1), |product, extent| product.try_mul(extent))
}
