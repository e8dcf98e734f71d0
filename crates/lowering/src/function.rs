//! Nests as functions of C, with an order of their loops.

use rustc_hash::{FxHashMap, FxHashSet};
use tangram_affine::symbolic::Expr;
use tangram_dialects::structured::Scalar;
use tangram_ir::Op;
use tangram_machine::Machine;
use tangram_polyhedral::ast::{Ast, AstOptions};
use tangram_polyhedral::contraction::{Cut, KERNEL, TileLoops};
use tangram_polyhedral::optimise::Recipe;
use tangram_polyhedral::schedule_tree::ScheduleTree;
use tangram_polyhedral::scop::Scop;
use tangram_presburger::Budget;

use crate::bounds::Excluded;
use crate::c::kernel::Kernel;
use crate::c::lanes::{self, LANES, Lanes, Window};
use crate::c::tile::{self, TILE};
use crate::c::transposed::{self, Transposed};
use crate::c::{self, RETURNED, UNNAMED, preamble};
use crate::collapse::{collapse, without_unit_loops};
use crate::contraction::factors;
use crate::group::Group;
use crate::nest::{Nest, Tensor};
use crate::packing::{Tiled, second_cache};
use crate::parameters::Parameters;
use crate::program::{Buffer, Call, Program, ProgramStep, Storage};
use crate::ranges::proven_reads;
use crate::scop::{Role, arrays, count, parameters, scop};
use crate::storage::{Draft, Planned};
use crate::winograd::{SIDE, Winograd};
use crate::{LowerError, Options, function_cache};

/// What the rows of a block of tiles may take of memory, in bytes: half of the second cache, since
/// panels pass through it as well.
fn row_block(machine: &Machine) -> i64 {
    i64::try_from(second_cache(machine) / 2).unwrap_or(i64::MAX).max(64 * 1024)
}

/// Operations of nests for which no order was found, with the reason.
type Refused = Vec<(Op, LowerError)>;

/// Makes a program of a draft; returns the functions that those of its nests call, too.
///
/// # Errors
/// The operations of nests for which no order was found, with the reason.
pub(crate) fn program(
    mut draft: Draft<'_>,
    options: &Options,
) -> Result<(Program, Vec<Kernel>), Refused> {
    let mut functions = Functions {
        options,
        names: FxHashMap::default(),
        kernels: Vec::new(),
        excluded: Vec::new(),
        source: String::new(),
    };
    let (mut steps, mut refused) = (Vec::new(), Vec::new());
    for planned in std::mem::take(&mut draft.steps) {
        let tensors = &mut draft.tensors;
        let called = match &planned {
            Planned::Reference(op) => {
                steps.push(ProgramStep::Reference(*op));
                continue;
            }
            Planned::Nest(nest) => {
                let mut nest = nest.clone();
                without_unit_loops(&mut nest, true);
                collapse(&mut nest, tensors, options.exact);
                functions.nest(&nest, tensors)
            }
            Planned::Product(nest, tiled) => functions.product(nest, tiled, tensors),
            Planned::Winograd(plan) => {
                let weights = functions.winograd_weights(plan, tensors);
                let weights = weights.map(|call| steps.push(ProgramStep::Call(call)));
                weights.and_then(|()| functions.winograd(plan, tensors))
            }
            Planned::Group(group) => functions.group(group, tensors),
            Planned::Recurrent(_) => Err(LowerError::NotAffine),
        };
        match called {
            Ok(call) => steps.push(ProgramStep::Call(call)),
            Err(error) => refused.extend(planned.ops().into_iter().map(|op| (op, error.clone()))),
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let values = draft.stored();
    let source = functions.source();
    let (setup, steps) = prepared(steps, &mut draft.buffers);
    let (assumed, excluded) = (Vec::new(), functions.excluded);
    let (buffers, reasons) = (draft.buffers, draft.reasons);
    let program = Program { buffers, values, setup, steps, source, assumed, excluded, reasons };
    Ok((program, functions.kernels))
}

/// Takes out what depends on constants alone.
fn prepared(steps: Vec<ProgramStep>, buffers: &mut [Buffer]) -> (Vec<Call>, Vec<ProgramStep>) {
    let mut writers = vec![0; buffers.len()];
    for step in &steps {
        if let ProgramStep::Call(call) = step {
            call.writes.iter().for_each(|at| writers[call.buffers[*at]] += 1);
        }
    }
    let (mut setup, mut left) = (Vec::new(), Vec::new());
    for step in steps {
        let ProgramStep::Call(call) = step else {
            left.push(step);
            continue;
        };
        let is_constant = |(at, buffer): (usize, &usize)| match buffers[*buffer].storage {
            Storage::Constant(_) | Storage::Prepared => true,
            Storage::Arena => call.writes.contains(&at) && writers[*buffer] == 1,
            _ => false,
        };
        if call.arguments.is_empty() && call.buffers.iter().enumerate().all(is_constant) {
            for at in &call.writes {
                buffers[call.buffers[*at]].storage = Storage::Prepared;
            }
            setup.push(call);
        } else {
            left.push(ProgramStep::Call(call));
        }
    }
    (setup, left)
}

/// A function, and the kernels that it calls.
type Text = (String, Vec<Kernel>);

/// A function that has a name.
struct Named {
    name: String,
    /// Sizes that it is not for.
    excluded: Excluded,
}

/// The functions of a program, each once.
struct Functions<'a> {
    options: &'a Options,
    /// Functions by what they compute.
    names: FxHashMap<String, Named>,
    kernels: Vec<Kernel>,
    /// Sizes that the functions are not for.
    excluded: Vec<Vec<Expr>>,
    source: String,
}

impl Functions<'_> {
    fn source(&self) -> String {
        if self.source.is_empty() {
            return String::new();
        }
        let kernels: String = self.kernels.iter().map(|kernel| kernel.text.as_str()).collect();
        format!("{}\n{kernels}{}", preamble(), self.source)
    }

    fn add(&mut self, kernels: Vec<Kernel>) {
        for kernel in kernels {
            if !self.kernels.iter().any(|own| own.name == kernel.name && own.text == kernel.text) {
                self.kernels.push(kernel);
            }
        }
    }

    /// Calls the function of a nest.
    fn nest(&mut self, nest: &Nest, tensors: &[Tensor]) -> Result<Call, LowerError> {
        if let Some(group) = Group::beside(nest, tensors) {
            return self.group(&group, tensors);
        }
        let nests = std::slice::from_ref(nest);
        self.call(nests, "", tensors, |options, parameters, part, budget| {
            if let Some(transposed) = Transposed::of(nest, &options.machine, tensors) {
                let shared = tile::shared(nest);
                let cuts = shared.iter().map(|at| Cut::Every(transposed.size(*at))).collect();
                let loops = transposed.order(&shared).into_iter().map(|at| (at, 1)).collect();
                let (name, statements) = (TILE.to_owned(), statements(nests, &[shared]));
                let ast = outlined(part, &TileLoops { name, statements, cuts, loops }, budget)?;
                return Ok(transposed::function(nest, &transposed, tensors, parameters, &ast));
            }
            if nest.is_parallel() {
                let mut recipe = Recipe::default();
                recipe.machine = options.machine.clone();
                let write = |tree: &ScheduleTree, budget: &Budget| {
                    let (context, style) = (part.context.as_ref(), AstOptions::default());
                    let ast = Ast::of_tree(tree, context, &style, budget)?;
                    Ok((c::function(nest, tensors, parameters, &ast), Vec::new()))
                };
                let best = part.optimise(&recipe, budget);
                // Loops whose schedule takes too many steps keep the order of the definition.
                let text =
                    best.map_err(LowerError::from).and_then(|best| write(&best.tree, budget));
                return text.or_else(|_| write(&part.schedule, &Budget::steps(options.steps)));
            }
            let lanes = Lanes::of(nest, &[], tensors, options.exact);
            let window = Window::of(nest, lanes, &options.machine, tensors);
            let shared = tile::shared(nest);
            let is_lane = |iterator: usize| lanes == Lanes::Parallel(iterator);
            let size = |iterator: &usize| match window {
                Some(window) if is_lane(*iterator) => i128::from(window.lanes),
                None if is_lane(*iterator) => LANES as i128,
                Some(window) if window.iterator == *iterator => window.count as i128,
                _ => 1,
            };
            let cuts = shared.iter().map(size).map(Cut::Every).collect();
            let mut loops: Vec<(usize, i128)> = (0..shared.len()).map(|at| (at, 1)).collect();
            // What lies side by side is read one after the other.
            loops.sort_by_key(|(at, _)| is_lane(shared[*at]));
            let (name, statements) = (TILE.to_owned(), statements(nests, &[shared]));
            let ast = outlined(part, &TileLoops { name, statements, cuts, loops }, budget)?;
            Ok(lanes::function(nest, (lanes, window), tensors, parameters, &ast))
        })
    }

    /// Calls the function of nests that share rows.
    fn group(&mut self, group: &Group, tensors: &[Tensor]) -> Result<Call, LowerError> {
        let rows = format!("{:?} {:?} {}", group.rows, group.tiled, group.is_recurrent);
        // The order is checked with memory for all rows: one after the other then needs that of one.
        let (whole, nests) = (&group.nests, &group.contracted);
        let whole = (&whole[..], group.is_recurrent);
        self.call_of(nests, whole, &rows, tensors, |options, parameters, part, budget| {
            let mut cuts = vec![Cut::Every(1); group.rows[0].len()];
            let block = Cut::Every(group.block() as i128);
            cuts.iter_mut().next_back().into_iter().for_each(|cut| *cut = block);
            let loops = (0..cuts.len()).map(|at| (at, 1)).collect();
            let (name, statements) = (TILE.to_owned(), statements(&group.nests, &group.rows));
            let ast = outlined(part, &TileLoops { name, statements, cuts, loops }, budget)?;
            Ok(c::group::function((group, options.exact), tensors, parameters, &ast)?)
        })
    }

    /// Calls the function of a sum of products.
    fn product(
        &mut self,
        nest: &Nest,
        tiled: &Tiled,
        tensors: &[Tensor],
    ) -> Result<Call, LowerError> {
        let nests = std::slice::from_ref(nest);
        self.call(nests, "tiles", tensors, |options, parameters, part, budget| {
            let loops = tile_loops(nest, tiled, tensors, &options.machine);
            let ast = outlined(part, &loops, budget)?;
            let columns = columns_dimension(nest, tiled, &loops.loops);
            Ok(tile::function(nest, tiled, tensors, parameters, (&ast, columns))?)
        })
    }

    /// Calls the function of a convolution by Winograd's algorithm.
    fn winograd(&mut self, plan: &Winograd, tensors: &[Tensor]) -> Result<Call, LowerError> {
        let (stages, rows) = (plan.stages(), plan.rows());
        let whole = std::slice::from_ref(&plan.nest);
        let way = format!("winograd {:?} {:?}", plan.tile, plan.block);
        self.call_of(&stages, (whole, false), &way, tensors, |_, parameters, part, budget| {
            let mut cuts = vec![Cut::Every(1); plan.outer.len()];
            cuts.extend(plan.block.map(|windows| Cut::Every((SIDE * windows) as i128)));
            let loops = (0..cuts.len()).map(|at| (at, 1)).collect();
            let (name, statements) = (TILE.to_owned(), statements(whole, &[rows]));
            let ast = outlined(part, &TileLoops { name, statements, cuts, loops }, budget)?;
            Ok(c::winograd::function(plan, tensors, parameters, &ast)?)
        })
    }

    /// Calls the function that transforms the weights of a convolution.
    fn winograd_weights(
        &mut self,
        plan: &Winograd,
        tensors: &[Tensor],
    ) -> Result<Call, LowerError> {
        let packing = plan.packing();
        let nests = std::slice::from_ref(&packing);
        let parameters = parameters(nests, tensors);
        let (order, _) = arrays(nests);
        let key = format!("weights {}", key(&packing, &order, tensors, &parameters));
        let name = match self.names.get(&key) {
            Some(named) => named.name.clone(),
            None => {
                let (text, kernels) = c::winograd::weights(plan, tensors, &parameters);
                written_of(&parameters)?;
                self.add(kernels);
                self.named(key, &text, Excluded::default())
            }
        };
        Ok(Call {
            function: name,
            arguments: parameters.expressions().to_vec(),
            buffers: order.iter().map(|tensor| tensors[*tensor].buffer).collect(),
            ops: packing.ops.clone(),
            writes: vec![0],
            work: Vec::new(),
        })
    }

    /// Adds the text of a function, and gives it a name.
    fn named(&mut self, key: String, text: &str, excluded: Excluded) -> String {
        let name = format!("tangram_{}", self.names.len());
        let head = format!("static TANGRAM_HOT {RETURNED} {UNNAMED}");
        self.source.push('\n');
        self.source.push_str(&text.replace(&head, &format!("TANGRAM_HOT {RETURNED} {name}")));
        self.names.insert(key, Named { name: name.clone(), excluded });
        name
    }

    /// The text of the function that computes `what`: kept from before, or made now.
    fn written(
        &self,
        what: &str,
        make: impl FnOnce() -> Result<(Text, Excluded), LowerError>,
    ) -> Result<(Text, Excluded), LowerError> {
        let Some(texts) = &self.options.texts else { return make() };
        let key = function_cache::key(what, self.options);
        if let Some(found) = texts.find(&key).and_then(|text| function_cache::unpacked(&text)) {
            return Ok(found);
        }
        let ((text, kernels), excluded) = make()?;
        texts.keep(&key, &function_cache::packed(&text, &kernels, &excluded));
        Ok(((text, kernels), excluded))
    }

    /// Calls the function of `nests`.
    fn call(
        &mut self,
        nests: &[Nest],
        way: &str,
        tensors: &[Tensor],
        write: impl FnOnce(&Options, &Parameters, &Scop, &Budget) -> Result<Text, LowerError>,
    ) -> Result<Call, LowerError> {
        self.call_of(nests, (nests, false), way, tensors, write)
    }

    /// Calls the function of `nests`, whose dependences are those of `whole`; `write` makes its
    /// text if there is none yet.
    fn call_of(
        &mut self,
        nests: &[Nest],
        (whole, is_recurrent): (&[Nest], bool),
        way: &str,
        tensors: &[Tensor],
        write: impl FnOnce(&Options, &Parameters, &Scop, &Budget) -> Result<Text, LowerError>,
    ) -> Result<Call, LowerError> {
        let parameters = parameters(whole, tensors);
        let (order, written) = arrays(nests);
        // Nests that differ in nothing but their tensors are known before any set is made.
        let keys = nests.iter().map(|nest| key(nest, &order, tensors, &parameters));
        let key: String = [way.to_owned()].into_iter().chain(keys).collect();
        if !self.names.contains_key(&key) {
            let ((text, kernels), excluded) = self.written(&key, || {
                let budget = Budget::steps(self.options.steps);
                let excluded = Excluded::of(whole, tensors, &parameters, &budget)?;
                let part = scop(whole, tensors, &parameters, is_recurrent, &budget)?;
                let text = write(self.options, &parameters, &part, &budget)?;
                written_of(&parameters)?;
                Ok((text, excluded))
            })?;
            self.add(kernels);
            self.named(key.clone(), &text, excluded);
        }
        let named = &self.names[&key];
        let excluded = named.excluded.expressions(&parameters).ok_or(LowerError::NotAffine)?;
        let name = named.name.clone();
        for all in excluded {
            if !self.excluded.contains(&all) {
                self.excluded.push(all);
            }
        }
        let buffers = order.iter().map(|tensor| tensors[*tensor].buffer).collect();
        let arguments = parameters.expressions().to_vec();
        let mut ops: Vec<Op> = nests.iter().flat_map(|nest| nest.ops.iter().copied()).collect();
        let mut seen = FxHashSet::default();
        ops.retain(|op| seen.insert(*op));
        let work = nests.iter().flat_map(|nest| work(nest, tensors)).collect();
        let writes = (0..written).collect();
        Ok(Call { function: name, arguments, buffers, ops, writes, work })
    }
}

/// About what a nest takes: its iterations, and the factors of a product, which pass by once at least,
/// with the cycles of 1,024 of them. A matrix times one vector waits for its elements.
fn work(nest: &Nest, tensors: &[Tensor]) -> Vec<(Expr, i64)> {
    let mut work = Vec::from_iter(count(&nest.generic.extents).map(|all| (all, cycles(nest))));
    for at in factors(nest).into_iter().flatten() {
        let tensor = &tensors[nest.inputs[at]];
        let each = 1024 * (tensor.element.size_bits() as i64 / 8) / BYTES_PER_CYCLE;
        work.extend(count(&tensor.extents).map(|all| (all, each)));
    }
    work
}

/// What comes from memory in a cycle: some 20 GB a second on one thread.
const BYTES_PER_CYCLE: i64 = 8;

/// About how many cycles 1,024 iterations take: products and sums with 32 in a cycle, elements with
/// 8, elementary functions with one.
fn cycles(nest: &Nest) -> i64 {
    if factors(nest).is_some() {
        return 32;
    }
    let calls = nest.generic.body.scalars().iter();
    let calls = calls.filter(|scalar| matches!(scalar, Scalar::Unary(..) | Scalar::Lookup(..)));
    128 + 512 * calls.count() as i64
}

/// The loops over tiles: blocks of rows that stay in a cache while all panels pass by.
fn tile_loops(nest: &Nest, tiled: &Tiled, tensors: &[Tensor], machine: &Machine) -> TileLoops {
    let product = &tiled.product;
    let shared = tile::shared(nest);
    let at = |iterator: usize| shared.iter().position(|own| *own == iterator).unwrap_or(0);
    let (row, column) = (product.rows.last().copied().unwrap_or(0), product.column);
    let mut cuts = vec![Cut::Every(1); shared.len()];
    let rows = tiled.tile.rows;
    cuts[at(row)] = match tiled.whole_tiles(nest) {
        Some(whole) => Cut::Even { size: rows as i128, whole: whole as i128 },
        None => Cut::Every(rows as i128),
    };
    cuts[at(column)] = Cut::Every(tiled.tile.columns() as i128);
    let access = &nest.generic.inputs[product.rows_input];
    let steps = crate::packing::steps(access, &tensors[nest.inputs[product.rows_input]]);
    // The outermost loop over rows is blocked, if not the rows of tiles themselves.
    let blocked = product.rows.iter().rev().nth(1).copied().unwrap_or(row);
    let step = steps[blocked].as_ref().and_then(Expr::as_int).unwrap_or(4096).max(1);
    let bytes = step.saturating_mul((product.element.bytes() / product.element.group()) as i64);
    let own = if blocked == row { rows as i64 } else { 1 };
    let block = i128::from((row_block(machine) / bytes.max(1) / own).max(1));
    let mut loops = Vec::new();
    let outer = product.batch.iter().chain(&product.outer_columns);
    loops.extend(outer.map(|iterator| (at(*iterator), 1)));
    let others = product.rows.iter().filter(|iterator| **iterator != row && **iterator != blocked);
    loops.extend(others.map(|iterator| (at(*iterator), 1)));
    if block > 1 || blocked != row {
        loops.push((at(blocked), block));
    }
    loops.push((at(column), 1));
    if blocked != row && block > 1 {
        loops.push((at(blocked), 1));
    }
    loops.push((at(row), 1));
    let statements = statements(std::slice::from_ref(nest), &[shared]);
    TileLoops { name: TILE.to_owned(), statements, cuts, loops }
}

/// The dimension of the loop over panels.
fn columns_dimension(nest: &Nest, tiled: &Tiled, loops: &[(usize, i128)]) -> u32 {
    let shared = tile::shared(nest);
    let column = shared.iter().position(|at| *at == tiled.product.column);
    let dimension = loops.iter().position(|(at, _)| Some(*at) == column);
    dimension.and_then(|at| u32::try_from(at).ok()).unwrap_or(0)
}

/// The statements of nests, with the places of the loops that they share.
fn statements(nests: &[Nest], shared: &[Vec<usize>]) -> Vec<(usize, Vec<usize>)> {
    let all = nests.iter().zip(shared).flat_map(|(nest, shared)| {
        Role::of(nest).into_iter().map(move |role| {
            let own = role.iterators(nest);
            shared.iter().filter_map(|at| own.iter().position(|other| other == at)).collect()
        })
    });
    all.enumerate().collect()
}

/// Loops over tiles, checked against the dependences of the instances in them.
fn outlined(part: &Scop, tiles: &TileLoops, budget: &Budget) -> Result<Ast, LowerError> {
    let constraints = part.constraints(budget)?;
    let tree = part.outlined(tiles, &constraints, budget)?;
    let mut options = AstOptions::default();
    options.outlined = Some(KERNEL);
    Ok(Ast::of_tree(&tree, part.context.as_ref(), &options, budget)?)
}

/// Whether all sizes in a text are over the parameters of its function.
fn written_of(parameters: &Parameters) -> Result<(), LowerError> {
    match parameters.unknown() {
        None => Ok(()),
        Some(size) => Err(LowerError::Size(size.to_string())),
    }
}

/// What a nest computes, without the numbers of its tensors.
fn key(nest: &Nest, order: &[usize], tensors: &[Tensor], parameters: &Parameters) -> String {
    let of = |tensor: &usize| order.iter().position(|own| own == tensor);
    let text = |exprs: &[Expr]| -> Vec<Option<String>> {
        exprs.iter().map(|expr| parameters.known(expr)).collect()
    };
    let shapes: Vec<_> = order
        .iter()
        .map(|tensor| (tensors[*tensor].element, text(&tensors[*tensor].extents)))
        .collect();
    let generic = &nest.generic;
    let places: Vec<_> =
        nest.inputs.iter().chain(&nest.tables).chain([&nest.output]).map(of).collect();
    let accesses: Vec<_> = generic.inputs.iter().map(|a| (a.map.to_string(), a.outside)).collect();
    let bodies = [Some(&generic.body), nest.finish.as_ref().map(|finish| &finish.body)];
    let proven = bodies.into_iter().flatten().map(|body| proven_reads(nest, body, tensors));
    let proven: Vec<_> = proven.map(|reads| reads.contains(&true).then_some(reads)).collect();
    format!(
        "{shapes:?} {:?} {:?} {places:?} {accesses:?} {} {:?} {:?} {:?} {:?} {proven:?}",
        text(&generic.extents),
        text(&generic.symbols),
        generic.output.map,
        generic.kinds,
        generic.body,
        generic.reduction,
        nest.finish,
    )
}
