//! Problems of parametric integer programming in PipLib's format.

use tangram_presburger::{Budget, Conjunction, Error, Relation, Space, Tuple};

/// Reads a problem: a set whose parameters are those of the context.
///
/// Parameters and unknowns are not negative unless the text says that they may be. Nothing
/// for a text with options that change the problem.
pub fn read(text: &str) -> Option<Result<Relation, Error>> {
    if text.contains('{') {
        let (context, set) = text.split_once("\n-1\n")?;
        return Some(written(context, set));
    }
    let (mut numbers, mut free) = (Vec::new(), (false, false));
    for line in text.lines().map(|line| line.split('#').next().unwrap_or("")) {
        for word in line.split_whitespace() {
            match (word.parse::<i128>(), word) {
                (Ok(number), _) => numbers.push(number),
                (_, "Urs_parms") => free.0 = true,
                (_, "Urs_unknowns") => free.1 = true,
                _ => return None,
            }
        }
    }
    let mut next = numbers.into_iter();
    let (context, width) = matrix(&mut next)?;
    // The column of a big parameter; -1 where there is none.
    if next.next()? != -1 {
        return None;
    }
    let (polyhedron, columns) = matrix(&mut next)?;
    let params = width - 2;
    Some(problem(&context, &polyhedron, params, columns - 2 - params, free))
}

/// Reads a problem written as two sets; unknowns are not negative.
fn written(context: &str, set: &str) -> Result<Relation, Error> {
    let budget = Budget::unlimited();
    let set = Relation::parse(set, &budget)?;
    let set = set.intersect_params(&Relation::parse(context, &budget)?, &budget)?;
    let (space, mut natural) = (set.space(), Conjunction::default());
    let first = 1 + space.params.len();
    for unknown in 0..space.output.dims.len() {
        let mut row = vec![0_i128; first + space.output.dims.len()];
        row[first + unknown] = 1;
        natural.inequalities.push(row);
    }
    set.intersect(&Relation::from_conjunctions(space.clone(), &[natural])?, &budget)
}

fn matrix(next: &mut impl Iterator<Item = i128>) -> Option<(Vec<Vec<i128>>, usize)> {
    let rows = next.next()?;
    let columns = usize::try_from(next.next()?).ok()?;
    let row = |_| (0..columns).map(|_| next.next()).collect();
    Some(((0..rows).map(row).collect::<Option<_>>()?, columns))
}

/// Makes the set of a context and a polyhedron, both as rows `[kind, coefficients.., constant]`.
fn problem(
    context: &[Vec<i128>],
    polyhedron: &[Vec<i128>],
    params: usize,
    unknowns: usize,
    free: (bool, bool),
) -> Result<Relation, Error> {
    let mut part = Conjunction::default();
    let mut add = |row: &[i128], order: Vec<usize>| {
        let mut new = vec![0; 1 + params + unknowns];
        new[0] = row[row.len() - 1];
        for (value, column) in row[1..row.len() - 1].iter().zip(order) {
            new[1 + column] = *value;
        }
        if row[0] == 0 { part.equalities.push(new) } else { part.inequalities.push(new) }
    };
    for row in context {
        add(row, (0..params).collect());
    }
    for row in polyhedron {
        add(row, (params..params + unknowns).chain(0..params).collect());
    }
    for (column, free) in
        (0..params + unknowns).map(|c| (c, if c < params { free.0 } else { free.1 }))
    {
        if !free {
            let mut row = vec![0; 1 + params + unknowns];
            row[1 + column] = 1;
            part.inequalities.push(row);
        }
    }
    let names = (0..params).map(|i| format!("p{i}")).collect();
    Relation::from_conjunctions(Space::set(names, Tuple::anonymous(unknowns)), &[part])
}
