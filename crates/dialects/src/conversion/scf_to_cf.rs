//! `scf.for`, `scf.if` and `scf.while` become blocks and branches of `cf`.
//!
//! An operation with regions is taken out of its block: what follows it goes to a new block, its
//! regions' blocks move in between, and branches take the place of their terminators. The
//! outermost operation goes first, so that those in its regions then stand in the same region.

use tangram_ir::{
    AttrData, Block, Context, Diagnostic, Loc, Module, Op, OpState, Point, Traits, Type, Value,
};
use tangram_rewrite::conversion::{ConversionConfig, ConversionReport, ConversionTarget, convert};
use tangram_rewrite::{FnPattern, Listener, NoMatch, PatternSet, Rewriter, Roots};

type Matched = Result<(), NoMatch>;
type Rewrite = fn(&mut Rewriter<'_>, Op) -> Matched;

/// The patterns.
pub fn patterns(context: &Context) -> PatternSet {
    let made = ["cf.br", "cf.cond_br", "arith.cmpi", "arith.addi"].map(|name| context.name(name));
    let mut set = PatternSet::new();
    let rows: [(&str, &str, Rewrite); 3] = [
        ("for-to-branches", "scf.for", convert_for),
        ("if-to-branches", "scf.if", convert_if),
        ("while-to-branches", "scf.while", convert_while),
    ];
    for (name, root, rewrite) in rows {
        let roots = Roots::Names(vec![context.name(root)]);
        set.add(Box::new(FnPattern::new(name, roots, rewrite).with_generated(made)));
    }
    set
}

/// Converts everything below `root`.
///
/// # Errors
/// Operations that cannot be converted: those in regions that may have one block only. The module
/// is as it was before then.
pub fn run(
    module: &mut Module,
    root: Op,
    listener: &mut dyn Listener,
) -> Result<ConversionReport, Vec<Diagnostic>> {
    let context = module.context_arc().clone();
    let mut target = ConversionTarget::new();
    for name in ["scf.for", "scf.if", "scf.while"] {
        target.illegal(context.name(name));
    }
    target.unknown(|_, _| Some(true));
    let set = patterns(&context).freeze::<&str>(&[], &[]);
    convert(module, root, &target, &set, &ConversionConfig::default(), listener)
}

/// An operation that is about to become branches.
struct Site {
    loc: Loc,
    /// The block that ends before it.
    before: Block,
    /// The block that starts after it.
    after: Block,
}

impl Site {
    fn new(rewriter: &mut Rewriter<'_>, op: Op) -> Result<Site, NoMatch> {
        let module = rewriter.module();
        let parent = module.parent(op);
        if parent.is_none_or(|parent| module.has_traits(parent, Traits::SINGLE_BLOCK)) {
            return Err(
                rewriter.no_match(|| "the region around may have one block only".to_owned())
            );
        }
        let (loc, before, next) = (module.loc(op), module.block(op), module.next(op));
        let after = next.and_then(|next| rewriter.split_block(next));
        match (before, after) {
            (Some(before), Some(after)) => Ok(Site { loc, before, after }),
            _ => Err(rewriter.no_match(|| "no operation follows".to_owned())),
        }
    }

    /// Moves the block of region `i` of `op` before the block that follows.
    fn inline(&self, rewriter: &mut Rewriter<'_>, op: Op, i: usize) -> Option<Block> {
        let module = rewriter.module();
        let (from, to) = (*module.regions(op).get(i)?, module.block_region(self.after)?);
        let block = module.first_block(from)?;
        rewriter.inline_region(from, to, Some(self.after));
        Some(block)
    }

    fn branch(&self, rewriter: &mut Rewriter<'_>, from: Block, to: Block, values: &[Value]) {
        let mut state = state(rewriter.module(), "cf.br", values, None, self.loc);
        state.successors.push(to);
        rewriter.create(Point::End(from), state);
    }

    /// Goes to one of two blocks, each with its values.
    fn choose(
        &self,
        rewriter: &mut Rewriter<'_>,
        (from, flag): (Block, Value),
        (yes, yes_values): (Block, &[Value]),
        (no, no_values): (Block, &[Value]),
    ) {
        let module = rewriter.module();
        let operands = [&[flag], yes_values, no_values].concat();
        let mut state = state(module, "cf.cond_br", &operands, None, self.loc);
        let sizes = module.i32s_attr([1, yes_values.len(), no_values.len()]);
        let context = module.context();
        state.attrs = context.dict([(context.str("operandSegmentSizes"), sizes)]);
        state.successors.extend([yes, no]);
        rewriter.create(Point::End(from), state);
    }
}

fn state(
    module: &Module,
    name: &str,
    operands: &[Value],
    result: Option<Type>,
    loc: Loc,
) -> OpState {
    let mut state = OpState::new(module.context().name(name), loc);
    state.operands.extend_from_slice(operands);
    state.results.extend(result);
    state
}

/// Takes the terminator named `name` off `block` and returns its operands.
fn take_end(rewriter: &mut Rewriter<'_>, block: Block, name: &str) -> Result<Vec<Value>, NoMatch> {
    let module = rewriter.module();
    let Some(end) = module.last_op(block).filter(|&op| module.name_text(op) == name) else {
        return Err(rewriter.no_match(|| format!("expected `{name}` at the end of a region")));
    };
    let values = module.operands(end).collect();
    rewriter.erase(end);
    Ok(values)
}

fn types(module: &Module, values: impl Iterator<Item = Value>) -> Vec<Type> {
    values.map(|value| module.value_type(value)).collect()
}

/// Replaces `op` and says so if that is not possible.
fn finish(rewriter: &mut Rewriter<'_>, op: Op, values: &[Value]) -> Matched {
    rewriter.replace(op, values).map_err(|error| NoMatch::because(error.message))
}

fn malformed(rewriter: &Rewriter<'_>) -> NoMatch {
    rewriter.no_match(|| "expected a region with a block and its arguments".to_owned())
}

fn convert_if(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let Some(flag) = module.operands(op).next() else { return Err(malformed(rewriter)) };
    let results = types(module, module.results(op));
    let site = Site::new(rewriter, op)?;
    let values: Vec<Value> =
        results.iter().map(|&ty| rewriter.add_argument(site.after, ty)).collect();
    let mut targets = [site.after; 2];
    for (i, target) in targets.iter_mut().enumerate() {
        if let Some(block) = site.inline(rewriter, op, i) {
            let given = take_end(rewriter, block, "scf.yield")?;
            site.branch(rewriter, block, site.after, &given);
            *target = block;
        }
    }
    finish(rewriter, op, &values)?;
    site.choose(rewriter, (site.before, flag), (targets[0], &[]), (targets[1], &[]));
    Ok(())
}

fn convert_for(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let operands: Vec<Value> = module.operands(op).collect();
    let [low, high, step, inits @ ..] = &operands[..] else { return Err(malformed(rewriter)) };
    // `slt` or `ult`, MLIR's numbers of the comparisons.
    let predicate = if module.attr(op, "unsignedCmp").is_some() { 6 } else { 2 };
    let site = Site::new(rewriter, op)?;
    let Some(body) = site.inline(rewriter, op, 0) else { return Err(malformed(rewriter)) };
    let module = rewriter.module();
    let old = module.args(body).to_vec();
    if old.len() != 1 + inits.len() {
        return Err(malformed(rewriter));
    }
    let carried = types(module, old.iter().copied());
    let Some(region) = module.block_region(body) else { return Err(malformed(rewriter)) };
    let head = rewriter.create_block(region, Some(body), &carried);
    let args = rewriter.module().args(head).to_vec();
    for (i, (&old, &new)) in old.iter().zip(&args).enumerate().rev() {
        rewriter.replace_uses(old, new);
        rewriter.erase_argument(body, i);
    }
    let yielded = take_end(rewriter, body, "scf.yield")?;
    let sum = state(rewriter.module(), "arith.addi", &[args[0], *step], Some(carried[0]), site.loc);
    let sum = rewriter.create(Point::End(body), sum);
    let next = [&[rewriter.module().result(sum, 0)], &yielded[..]].concat();
    site.branch(rewriter, body, head, &next);
    let flag = compare(rewriter, head, predicate, [args[0], *high], site.loc);
    finish(rewriter, op, &args[1..])?;
    site.branch(rewriter, site.before, head, &[&[*low], inits].concat());
    site.choose(rewriter, (head, flag), (body, &[]), (site.after, &[]));
    Ok(())
}

/// `arith.cmpi` at the end of `block`.
fn compare(
    rewriter: &mut Rewriter<'_>,
    block: Block,
    predicate: i128,
    operands: [Value; 2],
    loc: Loc,
) -> Value {
    let module = rewriter.module();
    let context = module.context();
    let mut state = state(module, "arith.cmpi", &operands, Some(context.int_type(1)), loc);
    let predicate = context.attr(AttrData::Integer { value: predicate, ty: context.int_type(64) });
    state.attrs = context.dict([(context.str("predicate"), predicate)]);
    let op = rewriter.create(Point::End(block), state);
    rewriter.module().result(op, 0)
}

fn convert_while(rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let inits: Vec<Value> = rewriter.module().operands(op).collect();
    let site = Site::new(rewriter, op)?;
    let (head, body) = (site.inline(rewriter, op, 0), site.inline(rewriter, op, 1));
    let (Some(head), Some(body)) = (head, body) else { return Err(malformed(rewriter)) };
    let tested = take_end(rewriter, head, "scf.condition")?;
    let [flag, given @ ..] = &tested[..] else { return Err(malformed(rewriter)) };
    let again = take_end(rewriter, body, "scf.yield")?;
    site.branch(rewriter, body, head, &again);
    finish(rewriter, op, given)?;
    site.branch(rewriter, site.before, head, &inits);
    site.choose(rewriter, (head, *flag), (body, given), (site.after, &[]));
    Ok(())
}
