//! Random programs of structured operations on tensors: fills, copies, transpositions,
//! broadcasts, loops over elements, tiles, and parts, paddings and reshapes among them.

use super::Kind;
use super::tensors::{self, Generator, Tensor};

pub const KIND: Kind = Kind { function, ..tensors::KIND };

/// A function of `(tensor<4x6xi32>, tensor<?x6xi32>, i32, index)`.
fn function(seed: u64) -> String {
    let mut g = Generator::new(seed);
    for _ in 0..8 {
        statement(&mut g);
    }
    g.finish(seed)
}

fn statement(g: &mut Generator) {
    match g.random.below(14) {
        0 | 1 => fill(g),
        2 => copy(g),
        3 | 4 => transpose(g),
        5 => broadcast(g),
        6 => add(g),
        7 | 8 => generic(g),
        9 => pack(g),
        10 => concat(g),
        11 => g.cast(),
        12 => pad_filled(g),
        _ => g.statement(),
    }
}

/// A tensor to write into: a new one, or one that is there.
fn init(g: &mut Generator, extents: &[i64], known: &[bool]) -> Tensor {
    let fits = |t: &&Tensor| t.extents == extents && t.known == known;
    if g.random.below(3) == 0
        && let Some(found) = g.tensors.iter().rev().find(fits).cloned()
    {
        return found;
    }
    let unknown: Vec<i64> =
        extents.iter().zip(known).filter(|(_, known)| !**known).map(|(&n, _)| n).collect();
    let sizes: Vec<String> = unknown.into_iter().map(|n| g.constant(n)).collect();
    let text = format!("tensor.empty({}) : TYPE", sizes.join(", "));
    g.add(&text, extents.to_vec(), known.to_vec());
    g.tensors[g.tensors.len() - 1].clone()
}

/// As much as `known` says, or less.
fn forget(g: &mut Generator, known: &[bool]) -> Vec<bool> {
    known.iter().map(|&known| known && g.random.below(4) > 0).collect()
}

fn write(g: &mut Generator, text: &str, output: &Tensor) {
    let text = text.replace("OUTS", &format!("outs({} : {})", output.name, output.ty()));
    g.add(&text, output.extents.clone(), output.known.clone());
}

fn ins(of: &Tensor) -> String {
    format!("ins({} : {})", of.name, of.ty())
}

fn fill(g: &mut Generator) {
    let of = g.tensor();
    let known = forget(g, &of.known);
    let (value, output) = (g.int(), init(g, &of.extents, &known));
    write(g, &format!("linalg.fill ins({value} : i32) OUTS -> TYPE"), &output);
}

fn copy(g: &mut Generator) {
    let of = g.tensor();
    let output = init(g, &of.extents, &of.known);
    write(g, &format!("linalg.copy {} OUTS -> TYPE", ins(&of)), &output);
}

fn permutation(g: &mut Generator, rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    for i in (1..rank).rev() {
        order.swap(i, g.random.below(i as u64 + 1) as usize);
    }
    order
}

fn text<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

fn transpose(g: &mut Generator) {
    let of = g.tensor();
    let order = permutation(g, of.extents.len());
    let extents: Vec<i64> = order.iter().map(|&i| of.extents[i]).collect();
    let known: Vec<bool> = order.iter().map(|&i| of.known[i]).collect();
    let output = init(g, &extents, &known);
    let line = format!("linalg.transpose {} OUTS permutation = [{}]", ins(&of), text(&order));
    write(g, &line, &output);
}

fn broadcast(g: &mut Generator) {
    let of = g.tensor();
    if of.extents.len() > 2 {
        return;
    }
    let at = g.random.below(of.extents.len() as u64 + 1) as usize;
    let (mut extents, mut known) = (of.extents.clone(), of.known.clone());
    extents.insert(at, 2);
    known.insert(at, true);
    let output = init(g, &extents, &known);
    let line = format!("linalg.broadcast {} OUTS dimensions = [{at}]", ins(&of));
    write(g, &line, &output);
}

fn add(g: &mut Generator) {
    let of = g.tensor();
    let same = |t: &&Tensor| t.extents == of.extents;
    let other = g.tensors.iter().rev().find(same).cloned().expect("itself");
    let output = init(g, &of.extents, &of.known);
    let inputs = format!("ins({}, {} : {}, {})", of.name, other.name, of.ty(), other.ty());
    write(g, &format!("linalg.add {inputs} OUTS -> TYPE"), &output);
}

/// `affine_map<(d0, d1) -> (d1, d0)>`.
fn map(order: &[usize]) -> String {
    let dims: Vec<String> = (0..order.len()).map(|i| format!("d{i}")).collect();
    let results: Vec<String> = order.iter().map(|i| format!("d{i}")).collect();
    format!("affine_map<({}) -> ({})>", dims.join(", "), results.join(", "))
}

/// A loop over the elements of a tensor, which are handed on, summed with what is there, or with
/// the place.
fn generic(g: &mut Generator) {
    let of = g.tensor();
    let rank = of.extents.len();
    let plain: Vec<usize> = (0..rank).collect();
    let order = if g.random.below(2) == 0 { plain.clone() } else { permutation(g, rank) };
    let extents: Vec<i64> = order.iter().map(|&i| of.extents[i]).collect();
    let known: Vec<bool> = order.iter().map(|&i| of.known[i]).collect();
    let (read, written, extents, known) = match g.random.below(3) {
        0 => (map(&order), map(&order), of.extents.clone(), of.known.clone()),
        _ => (map(&plain), map(&order), extents, known),
    };
    let known = forget(g, &known);
    let output = init(g, &extents, &known);
    let body = match g.random.below(5) {
        0 | 1 => "linalg.yield %in : i32".to_owned(),
        2 => "%s = arith.addi %in, %out : i32\nlinalg.yield %s : i32".to_owned(),
        3 => format!("linalg.yield {} : i32", g.int()),
        _ => format!(
            "%p = linalg.index {} : index\n%q = arith.index_cast %p : index to i32\n\
             %s = arith.addi %in, %q : i32\nlinalg.yield %s : i32",
            g.random.below(rank as u64)
        ),
    };
    let kinds = vec!["\"parallel\""; rank].join(", ");
    let line = format!(
        "linalg.generic {{indexing_maps = [{read}, {written}], iterator_types = [{kinds}]}} {} \
         OUTS {{\n^bb0(%in: i32, %out: i32):\n{body}\n}} -> TYPE",
        ins(&of)
    );
    write(g, &line, &output);
}

/// A tensor in tiles, half the time taken out of them again.
fn pack(g: &mut Generator) {
    let of = g.tensor();
    if of.extents.len() != 2 || of.known.contains(&false) {
        return;
    }
    let order = permutation(g, 2);
    let tiles = [2, g.random.below(3) as i64 + 1];
    let count = |i: usize| (of.extents[i] + tiles[i] - 1) / tiles[i];
    let mut extents: Vec<i64> = order.iter().map(|&i| count(i)).collect();
    extents.extend(tiles);
    let full = (0..2).all(|i| of.extents[i] % tiles[i] == 0);
    let output = init(g, &extents, &[true; 4]);
    let padding = match full && g.random.below(2) == 0 {
        true => String::new(),
        false => format!(" padding_value({} : i32)", g.int()),
    };
    let how = format!(
        "outer_dims_perm = [{}] inner_dims_pos = [0, 1] inner_tiles = [{}]",
        text(&order),
        text(&tiles)
    );
    let line = format!(
        "linalg.pack {}{padding} {how} into {} : {} -> TYPE",
        of.name,
        output.name,
        of.ty()
    );
    g.add(&line, extents, vec![true; 4]);
    if g.random.below(2) == 0 {
        return;
    }
    let packed = g.tensors[g.tensors.len() - 1].clone();
    let dest = init(g, &of.extents, &of.known);
    let line =
        format!("linalg.unpack {} {how} into {} : {} -> TYPE", packed.name, dest.name, packed.ty());
    g.add(&line, of.extents, of.known);
}

fn concat(g: &mut Generator) {
    let of = g.tensor();
    let along = g.random.below(of.extents.len() as u64) as usize;
    let count = g.random.below(2) as usize + 1;
    let (mut extents, mut known) = (of.extents.clone(), of.known.clone());
    extents[along] *= count as i64;
    known[along] &= g.random.below(2) == 0;
    let (names, types) = (vec![of.name.clone(); count], vec![of.ty(); count]);
    let line =
        format!("tensor.concat dim({along}) {} : ({}) -> TYPE", names.join(", "), types.join(", "));
    g.add(&line, extents, known);
}

/// A fill with the same value around it, or a part with it around in a fill.
fn pad_filled(g: &mut Generator) {
    let value = g.int();
    let output = init(g, &[3, 4], &[true, true]);
    write(g, &format!("linalg.fill ins({value} : i32) OUTS -> TYPE"), &output);
    let of = match g.random.below(2) {
        0 => g.tensors[g.tensors.len() - 1].clone(),
        _ => g.tensor(),
    };
    if of.extents.len() != 2 {
        return;
    }
    let extents: Vec<i64> = of.extents.iter().map(|n| n + 2).collect();
    let line = format!(
        "tensor.pad {} low[1, 0] high[1, 2] {{\n^bb0(%i: index, %j: index):\n\
         tensor.yield {value} : i32\n}} : {} to TYPE",
        of.name,
        of.ty()
    );
    g.add(&line, extents.clone(), of.known.clone());
    let padded = g.tensors[g.tensors.len() - 1].clone();
    if padded.known.contains(&false) || g.random.below(2) == 0 {
        return;
    }
    let whole: Vec<i64> = extents.iter().map(|n| n + 3).collect();
    let output = init(g, &whole, &[true, true]);
    write(g, &format!("linalg.fill ins({value} : i32) OUTS -> TYPE"), &output);
    let filled = g.tensors[g.tensors.len() - 1].clone();
    let line = format!(
        "tensor.insert_slice {} into {}[{}, 1] [{}] [1, 1] : {} into TYPE",
        padded.name,
        filled.name,
        g.random.below(3),
        text(&extents),
        padded.ty()
    );
    g.add(&line, whole, vec![true, true]);
}
