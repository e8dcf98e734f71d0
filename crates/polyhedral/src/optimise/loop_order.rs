//! Orders of a band's loops that could be fast, best first.

use super::cost::{Along, Costs, Form, costs, shortness};
use super::rates::Rates;
use super::stride::AccessStride;

/// Orders are tried in turn; those behind these many are not worth a check.
const MOST: usize = 6;

/// What is known about a member of a band.
#[derive(Debug)]
pub(super) struct Loop {
    /// Accesses along it.
    pub along: Vec<Along>,
    /// Whether its iterations are free of each other, wherever the loop stands.
    pub free: bool,
    /// How many iterations it has, if these are fewer than run side by side.
    pub short: Option<i128>,
    /// How many it has, if these are few beside vectors.
    pub few: Option<i128>,
    /// Members whose bounds depend on it, or it on theirs.
    pub related: Vec<usize>,
}

/// An order of loops.
#[derive(Debug)]
pub(super) struct LoopOrder {
    /// The members from the outermost on.
    pub order: Vec<usize>,
    /// For each of these how many iterations run side by side.
    pub factors: Vec<i128>,
    /// Members that use again what the innermost loop goes through, other than short ones.
    pub again: Vec<usize>,
    /// Whether the innermost loop has to be parallel.
    pub vector: bool,
    pub costs: Costs,
}

impl Loop {
    /// Whether all accesses go to the next element or stay, and one goes.
    pub(super) fn is_smooth(&self) -> bool {
        let far =
            |along: &Along| matches!(along.step, Some(AccessStride::Near(_) | AccessStride::Far));
        !self.along.iter().any(far) && self.goes()
    }

    /// Whether no access jumps, and some go further than to the next element.
    fn is_near(&self) -> bool {
        let near = |along: &Along| matches!(along.step, Some(AccessStride::Near(_)));
        self.along.iter().all(|along| along.step != Some(AccessStride::Far))
            && self.along.iter().any(near)
    }

    fn goes(&self) -> bool {
        self.along.iter().any(|along| along.step == Some(AccessStride::Next))
    }

    /// Whether each iteration writes where the one before did.
    fn waits(&self) -> bool {
        self.along.iter().any(|along| along.write && along.step == Some(AccessStride::Same))
    }

    /// Counts the sums that its iterations add to.
    fn sums(&self) -> i128 {
        let own =
            self.along.iter().filter(|along| along.write && along.step == Some(AccessStride::Same));
        own.count() as i128
    }

    /// Whether its next iteration uses again what `inner` goes through.
    fn reuses(&self, inner: &Self) -> bool {
        let mut pairs = self.along.iter().zip(&inner.along);
        pairs.any(|(own, inner)| {
            own.step == Some(AccessStride::Same) && inner.step == Some(AccessStride::Next)
        })
    }
}

impl LoopOrder {
    /// Whether statements would stand under conditions in the innermost loop, beside one that runs in all
    /// iterations: they run in one iteration of a loop whose iterations are side by side there. Of two
    /// loops, what starts a sum shares its pass over a matrix with the sum.
    pub(super) fn has_guards(&self, loops: &[Loop]) -> bool {
        let moves = |member: usize, statement: usize| {
            let mut own = loops[member].along.iter().filter(|along| along.statement == statement);
            own.any(|along| along.step.is_some())
        };
        let Some((inner, outer)) = self.order.split_last() else { return false };
        let jammed = outer.iter().zip(&self.factors).filter(|(_, factor)| **factor > 1);
        let jammed: Vec<usize> = jammed.map(|(member, _)| *member).collect();
        let runs_in_all = |statement: usize| jammed.iter().all(|member| moves(*member, statement));
        let (whole, guarded): (Vec<usize>, Vec<usize>) =
            self.costs.keys().filter(|at| moves(*inner, **at)).partition(|at| runs_in_all(**at));
        outer.len() > 1 && whole.len() == 1 && !guarded.is_empty()
    }
}

/// Lists orders of loops from the one on that should be the fastest.
pub(super) fn loop_orders(rates: &Rates, loops: &[Loop]) -> Vec<LoopOrder> {
    let mut loop_orders = Vec::new();
    for (at, inner) in loops.iter().enumerate().filter(|(_, inner)| inner.is_smooth()) {
        let others = (0..loops.len()).filter(|other| *other != at);
        let reusing: Vec<usize> = others.clone().filter(|o| loops[*o].reuses(inner)).collect();
        let waits = inner.waits();
        // Sums that wait for themselves gain from others beside them, whatever these read.
        let side: Vec<usize> =
            others.filter(|o| reusing.contains(o) || (waits && loops[*o].free)).collect();
        let sets = std::iter::once(Vec::new()).chain(side.iter().map(|a| vec![*a])).chain(
            side.iter()
                .enumerate()
                .flat_map(|(index, a)| side[..index].iter().map(move |b| vec![*b, *a])),
        );
        for set in sets {
            // Sums side by side are only those of loops that are free of each other.
            if waits && (set.is_empty() || set.iter().any(|member| !loops[*member].free)) {
                continue;
            }
            let plan = plan(rates, loops, at, &set, &reusing, !waits);
            loop_orders.extend(is_jammed(loops, &plan, &set).then_some(plan));
        }
    }
    // Vectors do not run these, but lines of the cache are used whole.
    for (at, inner) in loops.iter().enumerate().filter(|(_, inner)| inner.is_near()) {
        if !inner.waits() && loops.len() > 1 {
            loop_orders.push(plan(rates, loops, at, &[], &[], false));
        }
    }
    let total = |plan: &LoopOrder| plan.costs.values().sum::<f64>();
    loop_orders.sort_by(|a, b| total(a).total_cmp(&total(b)));
    loop_orders.truncate(MOST);
    loop_orders
}

/// Says whether all of `set` run side by side in an order: code generation leaves a member alone
/// whose iterations are not free if bounds of loops inside depend on it.
fn is_jammed(loops: &[Loop], plan: &LoopOrder, set: &[usize]) -> bool {
    set.iter().filter(|member| !loops[**member].free).all(|member| {
        let mut inside = plan.order.iter().skip_while(|own| *own != member).skip(1);
        !inside.any(|own| loops[*member].related.contains(own))
    })
}

fn plan(
    rates: &Rates,
    loops: &[Loop],
    inner: usize,
    set: &[usize],
    reusing: &[usize],
    vector: bool,
) -> LoopOrder {
    let bound = |member: &usize| set.contains(member) && !loops[*member].free;
    let others = (0..loops.len()).filter(|member| *member != inner);
    let (mut order, last): (Vec<usize>, Vec<usize>) = others.partition(|member| !bound(member));
    // Iterations that are not free run side by side directly around the innermost loop only.
    order.extend(last);
    order.push(inner);
    // One loop of sums side by side has as many as hide what each waits for itself.
    let sums = loops[inner].sums();
    let jam = match set {
        [_] if sums > 0 => rates.jam.max(rates.chains / sums),
        _ => rates.jam,
    };
    let factor = |member: usize| match set.contains(&member) {
        true => loops[member].short.unwrap_or(jam).max(1),
        false => 1,
    };
    let jammed: Vec<_> = set
        .iter()
        .map(|member| (loops[*member].along.as_slice(), factor(*member), loops[*member].free))
        .collect();
    let more = shortness(rates, loops[inner].few, vector);
    let mut costs = costs(rates, &loops[inner].along, vector, &jammed, Form::Generated);
    costs.values_mut().for_each(|cost| *cost *= more);
    LoopOrder {
        factors: order.iter().map(|member| factor(*member)).collect(),
        again: reusing.iter().copied().filter(|at| loops[*at].short.is_none()).collect(),
        vector,
        costs,
        order,
    }
}
