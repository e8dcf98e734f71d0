//! Chains: bodies that are one piece of code many times, each on the result of the one before.
//!
//! ```text
//! t1 = roots[i]; t9 = step(t1); t17 = step(t9); ...        a walk from the root of a tree to a leaf
//!
//! for each lane:  state = t1
//! for each step:  for each lane: state = step(state)       until no state changes
//! for each lane:  t = state
//! ```
//!
//! As one line after the other, each waits for the one before. Lanes are side by side in each step
//! instead, so that a processor has as many to go on with. What a step maps to itself, all that follow
//! do: a chain of integers ends where no lane changes.
//!
//! Lanes are rows of a block where all begin with one state, the loop over such states outside: a tree
//! is read once for a block of rows, not all trees for each.

use std::fmt::Write;

use tangram_dialects::structured::{Body, Scalar, ScalarId};

use super::body::{Scalars, c_type};
use super::lanes::LANES;
use crate::nest::Nest;

/// Chains of fewer pieces stay as they are.
const LEAST: usize = 4;
/// Pieces of more scalars are not looked for.
const LONGEST: usize = 32;

/// A chain in a body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Chain {
    /// The first scalar of the first piece, and how many a piece has.
    start: usize,
    length: usize,
    /// How many pieces there are.
    count: usize,
    /// What the first piece begins with, and what it gives.
    state: usize,
    gives: usize,
}

impl Chain {
    /// The longest chain of a body, if it has one.
    pub fn of(body: &Body) -> Option<Chain> {
        let scalars = body.scalars();
        let starts = 1..scalars.len().saturating_sub(2 * LEAST);
        let chains = starts.flat_map(|start| {
            let most = LONGEST.min((scalars.len() - start) / LEAST);
            (2..=most).filter_map(move |length| Chain::at(body, start, length))
        });
        // Of chains of equal pieces the first begins where the piece does.
        chains
            .filter(|chain| chain.is_alone(body))
            .max_by_key(|chain| (chain.count * chain.length, std::cmp::Reverse(chain.start)))
    }

    fn at(body: &Body, start: usize, length: usize) -> Option<Chain> {
        let (state, gives) = link(body, start, length)?;
        let mut chain = Chain { start, length, count: 1, state, gives };
        while chain.has_piece(body, chain.count) {
            chain.count += 1;
        }
        (chain.count >= LEAST).then_some(chain)
    }

    /// Whether what stands in the place of piece `number` is one.
    fn has_piece(&self, body: &Body, number: usize) -> bool {
        let scalars = body.scalars();
        let moved = number * self.length;
        (self.start..self.start + self.length).all(|at| {
            let place = |id: ScalarId| {
                let own = id.0 as usize;
                ScalarId(match own {
                    _ if own >= self.start => own + moved,
                    _ if own == self.state => self.gives + moved - self.length,
                    _ => own,
                } as u32)
            };
            let expected = scalars[at].with_operands(place);
            scalars.get(at + moved).is_some_and(|found| *found == expected)
        })
    }

    /// What the last piece gives.
    fn last(&self) -> usize {
        self.gives + (self.count - 1) * self.length
    }

    /// Whether nothing behind the chain reads of it but what the last piece gives.
    fn is_alone(&self, body: &Body) -> bool {
        let end = self.start + self.count * self.length;
        let inside = |id: &ScalarId| (self.start..end).contains(&(id.0 as usize));
        let is_last = |id: &ScalarId| id.0 as usize == self.last();
        let behind = body.scalars()[end..].iter().flat_map(Scalar::operands).chain(body.value());
        behind.filter(inside).all(|id| is_last(&id))
    }
}

/// What the piece of `length` scalars from `start` on begins with, and what of it the next one begins
/// with: the one place where the two differ by more than where they stand.
fn link(body: &Body, start: usize, length: usize) -> Option<(usize, usize)> {
    let mut link = None;
    for at in start..start + length {
        let (one, next) = (body.scalars().get(at)?, body.scalars().get(at + length)?);
        let (own, following) = (one.operands(), next.operands());
        if own.len() != following.len() {
            return None;
        }
        for (a, b) in own.iter().zip(&following).map(|(a, b)| (a.0 as usize, b.0 as usize)) {
            match a < start {
                false if b != a + length => return None,
                false => {}
                true if a == b => {}
                true if !(start..start + length).contains(&b) => return None,
                true if link.is_some_and(|known| known != (a, b)) => return None,
                true => link = Some((a, b)),
            }
        }
    }
    link
}

/// Whether a nest is a chain whose first state is one for all values of an iterator: lanes along it
/// begin at one place of what they look up, and go on near each other.
pub(crate) fn begins_together(nest: &Nest, iterator: usize) -> bool {
    let body = &nest.generic.body;
    let Some(chain) = Chain::of(body).filter(|_| nest.is_parallel()) else { return false };
    let before = closure(body, [chain.state], |_| true);
    before.iter().zip(body.scalars()).filter(|(is_before, _)| **is_before).all(|(_, scalar)| {
        match scalar {
            Scalar::Input(at) | Scalar::Inside(at) => {
                !nest.generic.inputs[*at].map.used().0[iterator]
            }
            Scalar::Index(at) => *at != iterator,
            _ => true,
        }
    })
}

/// The loop over iterator `lane` of a nest that combines nothing, from the first to before the last,
/// in blocks of lanes that take each step of a chain together; `store` says how a value is kept.
pub(super) fn in_steps(
    scalars: &Scalars<'_>,
    (lane, first, end): (usize, &str, &str),
    store: impl Fn(&str) -> String,
) -> Option<String> {
    let body = &scalars.nest.generic.body;
    let chain = Chain::of(body)?;
    let types = scalars.types(body);
    let element = types[chain.state];
    if types[chain.gives] != element {
        return None;
    }
    let ty = c_type(element);
    let lines = scalars.declarations(body);
    let text = |wanted: &[bool]| -> String {
        let wanted = lines.iter().filter(|(at, _)| wanted[*at]);
        wanted.map(|(_, line)| format!("                {line}\n")).collect()
    };
    let head = |text: &str| {
        format!(
            "            for (int64_t l = 0; l < lanes; l++) {{\n                \
             const int64_t i{lane} = block + l;\n{text}            }}\n"
        )
    };
    let before = closure(body, [chain.state], |_| true);
    let begin = text(&before) + &format!("                state[l] = t{};\n", chain.state);
    // Whatever a piece reads from in front of it is made anew: it is read, or counted.
    let piece = closure(body, [chain.gives], |at| at != chain.state);
    let known = format!("                const {ty} t{} = state[l];\n", chain.state);
    let mut step = known + &text(&without(&piece, chain.state));
    let ends = element.is_int();
    if ends {
        let _ = writeln!(step, "                changed |= t{} ^ t{};", chain.gives, chain.state);
    }
    let _ = writeln!(step, "                state[l] = t{};", chain.gives);
    let last = chain.last();
    let value = body.value()?;
    let behind = closure(body, [value.0 as usize], |at| at != last);
    let mut rest = format!("                const {ty} t{last} = state[l];\n");
    rest.push_str(&text(&without(&behind, last)));
    let _ = writeln!(rest, "                {}", store(&format!("t{}", value.0)));
    let mut out = format!(
        "        for (int64_t block = {first}; block < {end}; block += {LANES}) {{\n            \
         const int64_t lanes = tg_min({end} - block, {LANES});\n            \
         {ty} state[{LANES}];\n{}            \
         for (int64_t step = 0; step < {}; step++) {{\n",
        head(&begin),
        chain.count
    );
    if ends {
        let _ = writeln!(out, "            {ty} changed = 0;");
    }
    out.push_str(&head(&step));
    if ends {
        out.push_str("            if (changed == 0)\n                break;\n");
    }
    out.push_str("            }\n");
    out.push_str(&head(&rest));
    out.push_str("        }\n");
    Some(out)
}

/// The scalars that `ends` are made of, as far as `goes_on` says.
fn closure<const N: usize>(
    body: &Body,
    ends: [usize; N],
    goes_on: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut reached = vec![false; body.scalars().len()];
    let mut left: Vec<usize> = ends.to_vec();
    while let Some(at) = left.pop() {
        if std::mem::replace(&mut reached[at], true) || !goes_on(at) {
            continue;
        }
        left.extend(body.scalars()[at].operands().iter().map(|id| id.0 as usize));
    }
    reached
}

fn without(reached: &[bool], known: usize) -> Vec<bool> {
    let mut wanted = reached.to_vec();
    wanted[known] = false;
    wanted
}

#[cfg(test)]
mod tests {
    use tangram_dialects::structured::{Body, Scalar, ScalarId};
    use tangram_tensor::DType;

    use super::Chain;

    /// `count` steps that each look a place up in two tables, then a cast.
    fn walk(count: usize) -> Body {
        let mut body = Body::default();
        let row = body.push(Scalar::Index(0));
        let mut state = body.input(0);
        for _ in 0..count {
            let place = body.push(Scalar::Cast(DType::I64, state));
            let column = body.push(Scalar::Lookup(0, vec![row, place]));
            state = body.push(Scalar::Lookup(1, vec![column]));
        }
        let value = body.push(Scalar::Cast(DType::F32, state));
        body.result(value);
        body
    }

    #[test]
    fn equal_pieces_are_a_chain() {
        let chain = Chain::of(&walk(7));
        let expected = Chain { start: 2, length: 3, count: 7, state: 1, gives: 4 };
        assert_eq!(chain, Some(expected));
        assert_eq!(Chain::of(&walk(3)), None);
    }

    #[test]
    fn what_is_read_from_the_middle_is_no_chain() {
        let mut body = walk(7);
        let value = body.push(Scalar::Cast(DType::F32, ScalarId(7)));
        body.result(value);
        let chain = Chain::of(&body).expect("the rest");
        assert!(chain.count < 7 && chain.start >= 7, "{chain:?}");
    }
}
