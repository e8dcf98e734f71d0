//! Layouts of tensors in memory and in the slots of vectors, against enumeration.
//!
//! A compiler for vectors of many slots says where the elements of a tensor are by relations that
//! take positions apart: `p = x + 4 y + 16 z` with bounds of each, remainders by the number of slots,
//! diagonals of matrices. Every digit follows from the position, so nothing has to be searched.

use std::collections::{BTreeMap, BTreeSet};

use tangram_presburger::{Budget, Relation};

/// Many times what each takes, and far less than a search takes.
const STEPS: u64 = 2_000_000;

/// Inputs with their outputs.
type Pairs = BTreeMap<Vec<i64>, BTreeSet<Vec<i64>>>;

/// A linear congruential generator.
struct Draw(u64);

impl Draw {
    fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        low + ((self.0 >> 33) % (high - low + 1) as u64) as i64
    }

    fn extents(&mut self, most: usize) -> Vec<i64> {
        (0..self.between(2, most as i64)).map(|_| self.between(2, 4)).collect()
    }

    /// An order of the dimensions.
    fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.between(0, last as i64) as usize);
        }
        order
    }
}

/// All indices of a tensor.
fn indices(extents: &[i64]) -> Vec<Vec<i64>> {
    extents.iter().fold(vec![Vec::new()], |all, extent| {
        let grown = |start: &Vec<i64>| {
            let start = start.clone();
            (0..*extent).map(move |i| [start.clone(), vec![i]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(grown).collect()
    })
}

/// How far apart neighbours are along each dimension, the last of `order` next to each other, with
/// `gap` places left out after each row.
fn strides(extents: &[i64], order: &[usize], gap: i64) -> Vec<i64> {
    let mut strides = vec![0; extents.len()];
    let mut next = 1;
    for dim in order.iter().rev() {
        strides[*dim] = next;
        next = next * extents[*dim] + gap;
    }
    strides
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|dim| format!("i{dim}")).collect()
}

fn sum(strides: &[i64]) -> String {
    let terms = strides.iter().enumerate().map(|(dim, stride)| format!("{stride}*i{dim}"));
    terms.collect::<Vec<_>>().join(" + ")
}

fn at(strides: &[i64], index: &[i64]) -> i64 {
    strides.iter().zip(index).map(|(stride, i)| stride * i).sum()
}

fn within(extents: &[i64]) -> String {
    let bound = extents.iter().enumerate().map(|(dim, extent)| format!("0 <= i{dim} < {extent}"));
    bound.collect::<Vec<_>>().join(" and ")
}

/// From one order of a tensor in memory to another one, both with gaps.
fn reordered(draw: &mut Draw) -> (String, Pairs) {
    let extents = draw.extents(4);
    let [from, to] = [(); 2].map(|()| {
        let order = draw.order(extents.len());
        let gap = draw.between(0, 2);
        strides(&extents, &order, gap)
    });
    let text = format!(
        "{{ [p] -> [q] : exists {}: {} and p = {} and q = {} }}",
        names(extents.len()).join(", "),
        within(&extents),
        sum(&from),
        sum(&to)
    );
    let mut pairs = Pairs::new();
    for index in indices(&extents) {
        pairs.entry(vec![at(&from, &index)]).or_default().insert(vec![at(&to, &index)]);
    }
    (text, pairs)
}

/// From vectors and their slots to the elements there, which are repeated if there is room.
fn packed(draw: &mut Draw) -> (String, Pairs) {
    let extents = draw.extents(3);
    let order = draw.order(extents.len());
    let strides = strides(&extents, &order, 0);
    let size: i64 = extents.iter().product();
    let (slots, period) = (1 << draw.between(2, 4), draw.between(size, size + 3));
    let every = period.min(slots);
    let text = format!(
        "{{ [v, s] -> [{}] : {} and (s - ({sum})) mod {every} = 0 and v = floor(({sum})/{slots}) \
         and 0 <= s < {slots} }}",
        names(extents.len()).join(", "),
        within(&extents),
        sum = sum(&strides)
    );
    let mut pairs = Pairs::new();
    for index in indices(&extents) {
        let place = at(&strides, &index);
        for slot in (0..slots).filter(|slot| (slot - place).rem_euclid(every) == 0) {
            pairs.entry(vec![place.div_euclid(slots), slot]).or_default().insert(index.clone());
        }
    }
    (text, pairs)
}

/// From the elements of a matrix to the diagonals, one in each vector.
fn diagonal(draw: &mut Draw) -> (String, Pairs) {
    let (rows, cols) = (draw.between(2, 5), draw.between(2, 6));
    let [tall, wide] = [rows, cols].map(|size| if size > 4 { 8 } else { 4 });
    let slots = tall * draw.between(1, 2);
    let to_slots = draw.between(0, 1) == 1;
    let (a, b) = if to_slots { ("r, c", "v, s") } else { ("v, s", "r, c") };
    let text = format!(
        "{{ [{a}] -> [{b}] : 0 <= r < {rows} and 0 <= c < {cols} and 0 <= v < {tall} and \
         0 <= s < {slots} and (s - r) mod {tall} = 0 and (v + s - c) mod {wide} = 0 }}"
    );
    let mut pairs = Pairs::new();
    for at in indices(&[rows, cols, tall, slots]) {
        let [r, c, v, s] = at[..] else { unreachable!("four extents") };
        if (s - r).rem_euclid(tall) == 0 && (v + s - c).rem_euclid(wide) == 0 {
            let (from, to) = (at[..2].to_vec(), at[2..].to_vec());
            let (from, to) = if to_slots { (from, to) } else { (to, from) };
            pairs.entry(from).or_default().insert(to);
        }
    }
    (text, pairs)
}

/// From channels of an image to pixels between its pixels.
fn shuffled(draw: &mut Draw) -> (String, Pairs) {
    let (high, wide, by) = (draw.between(1, 3), draw.between(1, 3), draw.between(2, 3));
    let channels = by * by * draw.between(1, 2);
    let (area, row) = (high * wide, wide * by);
    let text = format!(
        "{{ [p] -> [q] : exists x, y, k: 0 <= y < {high} and 0 <= x < {wide} and \
         0 <= k < {channels} and p = x + {wide}y + {area}k and q = {by}x + (k mod {by}) + \
         {row}({by}y + floor((k mod {square})/{by})) + {block}*floor(k/{square}) }}",
        square = by * by,
        block = area * by * by,
    );
    let mut pairs = Pairs::new();
    for at in indices(&[channels, high, wide]) {
        let [k, y, x] = at[..] else { unreachable!("three extents") };
        let inner = k % (by * by);
        let to = by * x + k % by + row * (by * y + inner / by) + area * by * by * (k / (by * by));
        pairs.entry(vec![x + wide * y + area * k]).or_default().insert(vec![to]);
    }
    (text, pairs)
}

/// Compares a relation with pairs, on all outputs that come up.
fn check(what: &str, found: &Relation, pairs: &Pairs) {
    let outputs: BTreeSet<&Vec<i64>> = pairs.values().flatten().collect();
    let dims = pairs.keys().next().map_or(0, Vec::len);
    let greatest: Vec<i64> =
        (0..dims).map(|dim| pairs.keys().map(|key| key[dim]).max().unwrap_or_default()).collect();
    let room: Vec<i64> = greatest.iter().map(|last| last + 2).collect();
    for input in indices(&room) {
        for output in &outputs {
            let point: Vec<i64> = [&input[..], &output[..]].concat();
            let expected = pairs.get(&input).is_some_and(|all| all.contains(*output));
            assert_eq!(found.contains(&point), Ok(expected), "{point:?} of {what}: {found}");
        }
    }
}

/// Puts layouts of a kind to reading, and to least and greatest outputs; returns how many outputs
/// were given up.
fn judge(kind: fn(&mut Draw) -> (String, Pairs), count: usize) -> usize {
    let (mut draw, mut open) = (Draw(18), 0);
    for _ in 0..count {
        let (text, pairs) = kind(&mut draw);
        let budget = Budget::steps(STEPS);
        let found = Relation::parse(&text, &budget).unwrap_or_else(|e| panic!("{text}: {e}"));
        check(&text, &found, &pairs);
        for least in [true, false] {
            let budget = Budget::steps(STEPS);
            let ends = if least { found.lexmin(&budget) } else { found.lexmax(&budget) };
            let ends = match ends {
                Ok(ends) => ends,
                Err(error) => {
                    println!("{text}, least {least}: {error}");
                    open += 1;
                    continue;
                }
            };
            let end = |all: &BTreeSet<Vec<i64>>| {
                let end = if least { all.first() } else { all.last() };
                end.cloned().into_iter().collect::<BTreeSet<_>>()
            };
            let expected = pairs.iter().map(|(input, all)| (input.clone(), end(all))).collect();
            check(&format!("{text}, least {least}"), &ends, &expected);
        }
    }
    open
}

#[test]
fn orders_in_memory_follow_from_each_other() {
    assert_eq!(judge(reordered, 15), 0);
}

#[test]
fn slots_say_what_is_in_them() {
    assert_eq!(judge(packed, 15), 0);
}

#[test]
fn diagonals_say_where_elements_are() {
    assert_eq!(judge(diagonal, 15), 0);
}

#[test]
fn shuffled_pixels_say_where_they_were() {
    assert_eq!(judge(shuffled, 15), 0);
}

#[test]
#[ignore = "takes minutes"]
fn many_layouts_are_what_enumeration_says() {
    let kinds = [reordered, packed, diagonal, shuffled];
    let open = kinds.map(|kind| judge(kind, 250));
    println!("given up: {open:?} of 500 each");
    assert!(open.iter().sum::<usize>() <= 40, "{open:?}");
}
