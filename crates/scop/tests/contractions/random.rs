//! Random contractions: which loops there are, and what statements access.
//!
//! Nothing here knows what tiles can do. A nest has loops of a target and reduced ones in any order,
//! bounded by numbers, parameters and each other; operands vary with any of them, in either
//! direction, in strides and windows; arrays are shared between operands, nests and targets.

/// How often a program calls each function, each time with other sizes.
pub const CALLS: usize = 3;

/// A loop from a number, or from another loop, to an end.
#[derive(Clone)]
pub struct Loop {
    pub name: String,
    pub first: usize,
    /// The end, exclusive: its value in each call.
    pub ends: [usize; CALLS],
    /// The parameter that says so; else it is a number.
    pub parameter: Option<String>,
    /// The bound by another loop.
    pub bound: Option<(usize, Bound)>,
    /// How the head is written.
    pub style: usize,
}

/// How a loop `j` is bounded by one around it, `i`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `j = i`.
    From,
    /// `j = i + 1`.
    After,
    /// `j <= i`.
    To,
    /// `j < i`.
    Before,
    /// `j < end && j <= i + 2`.
    Trapezoid,
    /// `j < end - i`.
    Opposite,
}

/// `factor * i + .. + shift`, or from the end of the only loop: `end - 1 - i + shift`.
#[derive(Clone)]
pub struct Subscript {
    pub terms: Vec<(usize, usize)>,
    pub shift: usize,
    pub reversed: bool,
}

/// An element of an array.
#[derive(Clone)]
pub struct Access {
    pub array: usize,
    pub subscripts: Vec<Subscript>,
}

/// How an array is declared and accessed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `double A[20][30]`.
    Nested,
    /// `double A[n][m + 2]`.
    Variable,
    /// `double *A` with `A[i * 30 + j]`.
    Flat,
    /// `double *A` with `A[i * (m + 2) + j]`.
    FlatVariable,
}

/// An array; its extents are those of its accesses together.
pub struct Array {
    pub name: String,
    pub element: &'static str,
    pub layout: Layout,
    /// Whether accesses go through pointers to rows.
    pub rows: bool,
    pub extents: Vec<usize>,
    /// The subscripts of its only access, whose extents parameters give.
    pub only: Option<Vec<Subscript>>,
}

/// What stands beside the sum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    Nothing,
    /// In front of it, in loops of its own around nothing else.
    Ahead(usize),
    /// In front of the reduced loops, in the nest.
    Before(usize),
    /// Behind the reduced loops, in the nest.
    Behind(usize),
    /// The sum is kept in a variable.
    Variable(usize),
}

/// Loops around an update.
pub struct Nest {
    pub loops: Vec<Loop>,
    /// Positions of loops from the outermost on.
    pub order: Vec<usize>,
    pub reduced: Vec<usize>,
    pub target: Access,
    pub operands: Vec<Access>,
    pub expression: usize,
    pub beside: Beside,
    /// A condition on two loops.
    pub guard: Option<(usize, usize, usize)>,
}

/// A function of one or several nests.
pub struct Case {
    pub index: usize,
    pub element: &'static str,
    pub arrays: Vec<Array>,
    pub nests: Vec<Nest>,
    /// Whether variables of loops are declared in front of the part.
    pub early: bool,
    /// Whether arrays are global.
    pub global: bool,
}

pub struct Generator {
    pub rng: fastrand::Rng,
}

impl Generator {
    pub fn one_in(&mut self, count: usize) -> bool {
        self.rng.usize(..count) == 0
    }

    pub fn case(&mut self, index: usize) -> Case {
        let element = if self.one_in(3) { "float" } else { "double" };
        let (early, global) = (self.one_in(4), self.one_in(4));
        let (arrays, nests) = (Vec::new(), Vec::new());
        let mut case = Case { index, element, arrays, nests, early, global };
        let count = 1 + usize::from(self.one_in(4));
        for at in 0..count {
            let nest = self.nest(&mut case, at);
            case.nests.push(nest);
        }
        for array in 0..case.arrays.len() {
            self.shape(&mut case, array);
        }
        case
    }

    fn nest(&mut self, case: &mut Case, at: usize) -> Nest {
        let several = |rng: &mut fastrand::Rng| 1 + usize::from(rng.u8(..4) == 0);
        let batches = usize::from(self.one_in(5));
        let (rows, columns) = (several(&mut self.rng), several(&mut self.rng));
        let depth = 1 + usize::from(self.one_in(3)) + usize::from(self.one_in(5));
        let mut loops = Vec::new();
        let mut add = |generator: &mut Self, letter: char, count: usize, most: usize| {
            let own: Vec<usize> = (loops.len()..loops.len() + count).collect();
            for index in 0..count {
                let name = format!("{letter}{at}{index}");
                loops.push(generator.one_loop(name, most));
            }
            own
        };
        let batch = add(self, 'b', batches, 4);
        let row = add(self, 'i', rows, if rows + columns > 2 { 14 } else { 40 });
        let column = add(self, 'j', columns, if rows + columns > 2 { 14 } else { 40 });
        let reduced = add(self, 'p', depth, if depth == 1 { 90 } else { 9 });
        let mut order: Vec<usize> = (0..loops.len()).collect();
        self.rng.shuffle(&mut order);
        // Most people write sums innermost.
        if self.one_in(2) {
            order.sort_by_key(|own| reduced.contains(own));
        }
        if self.one_in(3) {
            self.bounded(&mut loops, &order);
        }
        let target_loops = [batch.clone(), row.clone(), column.clone()].concat();
        let subscripts = self.subscripts(&target_loops, &[]);
        let target = Access { array: self.array(case, "C", subscripts.len()), subscripts };
        let groups = [&row, &column, &row, &column];
        let mut operands: Vec<Access> = Vec::new();
        for (place, group) in groups.into_iter().enumerate() {
            let mut own = [batch.clone(), group.clone()].concat();
            if self.one_in(12) {
                own = (0..loops.len()).filter(|_| self.rng.bool()).collect();
                own.retain(|own| !reduced.contains(own));
            }
            let mut sums = reduced.clone();
            sums.retain(|_| !self.one_in(16));
            let subscripts = self.subscripts(&own, &sums);
            let array = self.operand_array(case, &operands, &target, place, subscripts.len());
            operands.push(Access { array, subscripts });
        }
        let beside = match self.rng.usize(..8) {
            0 => Beside::Ahead(self.rng.usize(..4)),
            1 | 2 => Beside::Before(self.rng.usize(..4)),
            3 => Beside::Behind(self.rng.usize(..4)),
            4 => Beside::Variable(self.rng.usize(..6)),
            _ => Beside::Nothing,
        };
        let guard = self.one_in(16).then(|| {
            let mut one = || self.rng.usize(..loops.len());
            (one(), one(), self.rng.usize(..4))
        });
        let expression = self.rng.usize(..16);
        Nest { loops, order, reduced, target, operands, expression, beside, guard }
    }

    fn one_loop(&mut self, name: String, most: usize) -> Loop {
        let first = if self.one_in(5) { self.rng.usize(..3) } else { 0 };
        let mut ends = [0; CALLS].map(|_| 1 + self.rng.usize(1..most.max(2)));
        ends[0] = most - self.rng.usize(..2.min(most));
        let parameter = match self.rng.u8(..2) {
            0 => {
                ends = [ends[0]; CALLS];
                None
            }
            // Nothing at all to do is the size that one forgets.
            _ => {
                if self.one_in(6) {
                    ends[CALLS - 1] = first.min(1);
                }
                Some(format!("n_{name}"))
            }
        };
        Loop { name, first, ends, parameter, bound: None, style: self.rng.usize(..12) }
    }

    /// Bounds a loop or two by others around them.
    fn bounded(&mut self, loops: &mut [Loop], order: &[usize]) {
        for _ in 0..1 + usize::from(self.one_in(4)) {
            let inner = self.rng.usize(1..order.len());
            let (outer, inner) = (order[self.rng.usize(..inner)], order[inner]);
            let bound = *self
                .rng
                .choice(&[
                    Bound::From,
                    Bound::After,
                    Bound::To,
                    Bound::Before,
                    Bound::Trapezoid,
                    Bound::Opposite,
                ])
                .unwrap_or(&Bound::To);
            loops[inner].bound = Some((outer, bound));
        }
        // What has no end of its own ends where the other one does.
        for at in order {
            if let Some((outer, bound)) = loops[*at].bound
                && bound != Bound::Trapezoid
            {
                let Loop { ends, parameter, .. } = loops[outer].clone();
                (loops[*at].ends, loops[*at].parameter) = (ends, parameter);
            }
        }
    }

    /// Subscripts that go through loops: one for each, or windows of two of them.
    fn subscripts(&mut self, one: &[usize], sums: &[usize]) -> Vec<Subscript> {
        let mut terms: Vec<Vec<(usize, usize)>> = one.iter().map(|at| vec![(1, *at)]).collect();
        for at in sums {
            let window = !terms.is_empty() && self.one_in(6);
            match window {
                // As in a convolution: `in[2 * y + u]`.
                true => {
                    let place = self.rng.usize(..terms.len());
                    let stride = if self.one_in(3) { 2 } else { 1 };
                    terms[place].iter_mut().for_each(|(factor, _)| *factor *= stride);
                    terms[place].push((1, *at));
                }
                false => terms.push(vec![(1, *at)]),
            }
        }
        if terms.is_empty() || self.one_in(24) {
            terms.push(Vec::new());
        }
        self.rng.shuffle(&mut terms);
        let subscript = |terms: Vec<(usize, usize)>| Subscript {
            shift: self.rng.usize(..8).saturating_sub(5),
            reversed: terms.len() == 1 && terms[0].0 == 1 && self.rng.u8(..12) == 0,
            terms,
        };
        terms.into_iter().map(subscript).collect()
    }

    fn array(&mut self, case: &mut Case, letter: &str, rank: usize) -> usize {
        let element = case.element;
        let array = Array {
            name: format!("{letter}{}_{}", case.arrays.len(), case.index),
            element,
            layout: Layout::Nested,
            rows: false,
            extents: vec![0; rank],
            only: None,
        };
        case.arrays.push(array);
        case.arrays.len() - 1
    }

    /// A new array or one that is there.
    fn operand_array(
        &mut self,
        case: &mut Case,
        operands: &[Access],
        target: &Access,
        place: usize,
        rank: usize,
    ) -> usize {
        let fits = |case: &Case, array: usize| case.arrays[array].extents.len() == rank;
        if let Some(operand) = operands.last()
            && fits(case, operand.array)
            && self.one_in(4)
        {
            return operand.array;
        }
        if fits(case, target.array) && self.one_in(12) {
            return target.array;
        }
        if let Some(nest) = case.nests.last()
            && fits(case, nest.target.array)
            && self.one_in(3)
        {
            return nest.target.array;
        }
        let array = self.array(case, ["A", "B", "D", "E"][place], rank);
        if self.one_in(24) {
            case.arrays[array].element = if case.element == "float" { "double" } else { "float" };
        }
        array
    }

    /// Chooses how an array is declared, once all accesses are known.
    fn shape(&mut self, case: &mut Case, array: usize) {
        let mut accesses = Vec::new();
        for nest in &case.nests {
            for access in nest.operands.iter().chain([&nest.target]) {
                if access.array == array {
                    accesses.push((nest, access));
                }
            }
        }
        let mut extents = vec![1; case.arrays[array].extents.len()];
        for (nest, access) in &accesses {
            for (extent, subscript) in extents.iter_mut().zip(&access.subscripts) {
                let longest = (0..CALLS).map(|call| subscript.end(&nest.loops, call)).max();
                *extent = (*extent).max(longest.unwrap_or(1)).max(1);
            }
        }
        let last = accesses.last().is_some_and(|(nest, _)| std::ptr::eq(*nest, &case.nests[0]));
        let only = match &accesses[..] {
            // Parameters of one nest name its extents.
            [(_, access)] if last => Some(access.subscripts.clone()),
            _ => None,
        };
        let layout = match (self.rng.usize(..6), only.is_some()) {
            (0, true) if !case.global => Layout::Variable,
            (1, true) if !case.global => Layout::FlatVariable,
            (2, _) => Layout::Flat,
            _ => Layout::Nested,
        };
        let rows = self.one_in(5);
        let own = &mut case.arrays[array];
        (own.extents, own.only, own.layout, own.rows) = (extents, only, layout, rows);
    }
}

impl Subscript {
    /// What follows the greatest value in a call; loops are bounded by each other within it.
    pub fn end(&self, loops: &[Loop], call: usize) -> usize {
        let longest =
            |(factor, at): &(usize, usize)| factor * loops[*at].ends[call].saturating_sub(1);
        self.terms.iter().map(longest).sum::<usize>() + self.shift + 1
    }
}
