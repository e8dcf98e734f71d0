//! `scf.for`, `scf.if`, `scf.while`, `scf.execute_region` and `scf.index_switch` become blocks and
//! branches of `cf`; `scf.parallel` and `scf.forall`
//! without outputs become nests of `scf.for` first.
//!
//! An operation with regions is taken out of its block: what follows it goes to a new block, its
//! regions' blocks move in between, and branches take the place of their terminators. The
//! outermost operation goes first, so that those in its regions then stand in the same region.

mod parallel;
mod switch;

use tangram_ir::{
    Attr, AttrData, Block, Context, Loc, Module, Name, Op, OpState, Point, Str, Traits, Type, Value,
};
use tangram_rewrite::conversion::{Conversion, ConversionTarget};
use tangram_rewrite::{FnPattern, NoMatch, PatternSet, Rewriter, Roots};

use super::{Matched, SLT, ULT, finish, predicate};

type Rewrite = fn(&Words, &mut Rewriter<'_>, Op) -> Matched;

/// The patterns.
const ROWS: [(&str, &str, Rewrite); 7] = [
    ("for-to-branches", "scf.for", convert_for),
    ("if-to-branches", "scf.if", convert_if),
    ("while-to-branches", "scf.while", convert_while),
    ("execute-region-to-blocks", "scf.execute_region", switch::convert_execute_region),
    ("index-switch-to-branches", "scf.index_switch", switch::convert_index_switch),
    ("parallel-to-for", "scf.parallel", parallel::convert_parallel),
    ("forall-to-for", "scf.forall", parallel::convert_forall),
];

/// What the patterns look for and make, interned once.
#[derive(Clone, Copy)]
struct Words {
    br: Name,
    cond_br: Name,
    cmpi: Name,
    addi: Name,
    switch: Name,
    index_cast: Name,
    counted_loop: Name,
    reduce: Name,
    reduce_return: Name,
    in_parallel: Name,
    constant: Name,
    /// The ends of regions.
    yields: Name,
    condition: Name,
    segments: Str,
    /// The sizes of a `cf.cond_br` that passes nothing on.
    alone: Attr,
    less: Attr,
    less_unsigned: Attr,
    boolean: Type,
}

impl Words {
    fn new(context: &Context) -> Words {
        let name = |name| context.name(name);
        let segments = context.str("operandSegmentSizes");
        Words {
            br: name("cf.br"),
            cond_br: name("cf.cond_br"),
            cmpi: name("arith.cmpi"),
            addi: name("arith.addi"),
            switch: name("cf.switch"),
            index_cast: name("arith.index_cast"),
            counted_loop: name("scf.for"),
            reduce: name("scf.reduce"),
            reduce_return: name("scf.reduce.return"),
            in_parallel: name("scf.forall.in_parallel"),
            constant: name("arith.constant"),
            yields: name("scf.yield"),
            condition: name("scf.condition"),
            segments,
            alone: context.dict([(segments, sizes(context, [1, 0, 0]))]),
            less: predicate(context, SLT),
            less_unsigned: predicate(context, ULT),
            boolean: context.int_type(1),
        }
    }
}

fn sizes(context: &Context, sizes: [usize; 3]) -> Attr {
    let bytes = sizes.into_iter().flat_map(|n| (n as i32).to_le_bytes()).collect();
    context.attr(AttrData::DenseArray { element: context.int_type(32), bytes })
}

/// The patterns.
pub fn patterns(context: &Context) -> PatternSet {
    let words = Words::new(context);
    let mut set = PatternSet::new();
    for (name, root, rewrite) in ROWS {
        let roots = Roots::Names(vec![context.name(root)]);
        let pattern =
            FnPattern::new(name, roots, move |rewriter, op| rewrite(&words, rewriter, op));
        let made = match name {
            "forall-to-for" => vec![words.counted_loop, words.yields, words.constant],
            "parallel-to-for" => vec![words.counted_loop, words.yields],
            "index-switch-to-branches" => vec![words.br, words.index_cast, words.switch],
            _ => vec![words.br, words.cond_br, words.cmpi, words.addi],
        };
        set.add(pattern.with_generated(made));
    }
    set
}

/// The conversion of everything below an operation. It fails where operations stand in regions
/// that may have one block only.
pub fn conversion(context: &Context) -> Conversion {
    let mut target = ConversionTarget::new();
    for (_, root, _) in ROWS {
        target.illegal(context.name(root));
    }
    // What writes to parts of tensors stays.
    target.dynamic(context.name("scf.forall"), |module, op| Some(module.result_count(op) > 0));
    target.unknown(|_, _| Some(true));
    Conversion::new(context, target, patterns(context).freeze())
}

/// An operation that is about to become branches.
struct Site<'a> {
    words: &'a Words,
    loc: Loc,
    /// The block that ends before it.
    before: Block,
    /// The block that starts after it.
    after: Block,
}

impl<'a> Site<'a> {
    fn new(words: &'a Words, rewriter: &mut Rewriter<'_>, op: Op) -> Result<Site<'a>, NoMatch> {
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
            (Some(before), Some(after)) => Ok(Site { words, loc, before, after }),
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
        let mut state = state(self.words.br, values, None, self.loc);
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
        let mut state = state(self.words.cond_br, &[flag], None, self.loc);
        state.operands.extend(yes_values.iter().chain(no_values).copied());
        state.attrs = match (yes_values.len(), no_values.len()) {
            (0, 0) => self.words.alone,
            (yes, no) => {
                let context = rewriter.module().context();
                context.dict([(self.words.segments, sizes(context, [1, yes, no]))])
            }
        };
        state.successors.extend([yes, no]);
        rewriter.create(Point::End(from), state);
    }
}

fn state(name: Name, operands: &[Value], result: Option<Type>, loc: Loc) -> OpState {
    let mut state = OpState::new(name, loc);
    state.operands.extend_from_slice(operands);
    state.results.extend(result);
    state
}

/// Takes the terminator named `name` off `block` and returns its operands.
fn take_end(rewriter: &mut Rewriter<'_>, block: Block, name: Name) -> Result<Vec<Value>, NoMatch> {
    let module = rewriter.module();
    let Some(end) = module.last_op(block).filter(|&op| module.name(op) == name) else {
        let name = module.context().name_text(name);
        return Err(rewriter.no_match(|| format!("expected `{name}` at the end of a region")));
    };
    let values = module.operands(end).collect();
    rewriter.erase(end);
    Ok(values)
}

fn types(module: &Module, values: impl Iterator<Item = Value>) -> Vec<Type> {
    values.map(|value| module.value_type(value)).collect()
}

fn malformed(rewriter: &Rewriter<'_>) -> NoMatch {
    rewriter.no_match(|| "expected a region with a block and its arguments".to_owned())
}

fn convert_if(words: &Words, rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let Some(flag) = module.operands(op).next() else { return Err(malformed(rewriter)) };
    let results = types(module, module.results(op));
    let site = Site::new(words, rewriter, op)?;
    let values: Vec<Value> =
        results.iter().map(|&ty| rewriter.add_argument(site.after, ty)).collect();
    let mut targets = [site.after; 2];
    for (i, target) in targets.iter_mut().enumerate() {
        if let Some(block) = site.inline(rewriter, op, i) {
            let given = take_end(rewriter, block, words.yields)?;
            site.branch(rewriter, block, site.after, &given);
            *target = block;
        }
    }
    finish(rewriter, op, &values)?;
    site.choose(rewriter, (site.before, flag), (targets[0], &[]), (targets[1], &[]));
    Ok(())
}

fn convert_for(words: &Words, rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let module = rewriter.module();
    let operands: Vec<Value> = module.operands(op).collect();
    let [low, high, step, inits @ ..] = &operands[..] else { return Err(malformed(rewriter)) };
    let unsigned = module.attr(op, "unsignedCmp").is_some();
    let less = if unsigned { words.less_unsigned } else { words.less };
    let site = Site::new(words, rewriter, op)?;
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
    let yielded = take_end(rewriter, body, words.yields)?;
    let sum = state(words.addi, &[args[0], *step], Some(carried[0]), site.loc);
    let sum = rewriter.create(Point::End(body), sum);
    let next = [&[rewriter.module().result(sum, 0)], &yielded[..]].concat();
    site.branch(rewriter, body, head, &next);
    let mut state = state(words.cmpi, &[args[0], *high], Some(words.boolean), site.loc);
    state.attrs = less;
    let flag = rewriter.create(Point::End(head), state);
    let flag = rewriter.module().result(flag, 0);
    finish(rewriter, op, &args[1..])?;
    site.branch(rewriter, site.before, head, &[&[*low], inits].concat());
    site.choose(rewriter, (head, flag), (body, &[]), (site.after, &[]));
    Ok(())
}

fn convert_while(words: &Words, rewriter: &mut Rewriter<'_>, op: Op) -> Matched {
    let inits: Vec<Value> = rewriter.module().operands(op).collect();
    let site = Site::new(words, rewriter, op)?;
    let (head, body) = (site.inline(rewriter, op, 0), site.inline(rewriter, op, 1));
    let (Some(head), Some(body)) = (head, body) else { return Err(malformed(rewriter)) };
    let tested = take_end(rewriter, head, words.condition)?;
    let [flag, given @ ..] = &tested[..] else { return Err(malformed(rewriter)) };
    let again = take_end(rewriter, body, words.yields)?;
    site.branch(rewriter, body, head, &again);
    finish(rewriter, op, given)?;
    site.branch(rewriter, site.before, head, &inits);
    site.choose(rewriter, (head, *flag), (body, given), (site.after, &[]));
    Ok(())
}
