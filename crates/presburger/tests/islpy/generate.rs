//! Random relations as texts: the same in every run.

/// A linear congruential generator.
pub struct Source {
    pub state: u64,
    /// How many zeros follow the digits of constants.
    pub zeros: usize,
}

/// The numbers of parameters, inputs and outputs.
pub struct Shape {
    params: usize,
    inputs: usize,
    outputs: usize,
}

const NAMES: [&str; 6] = ["n", "m", "i", "j", "k", "l"];

impl Source {
    fn next(&mut self, low: i64, high: i64) -> i64 {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        low + ((self.state >> 33) % (high - low + 1) as u64) as i64
    }

    pub fn shape(&mut self) -> Shape {
        let mut size = |high| self.next(1, high) as usize;
        // Four dimensions with parameters take minutes.
        let (params, inputs) = (size(3) - 1, size(2));
        Shape { params, inputs, outputs: size(3 - inputs as i64) }
    }

    /// Writes steps within one or two dimensions: so many differences, each on a box.
    pub fn steps(&mut self, disjuncts: usize) -> String {
        let dims = &NAMES[2..2 + self.next(1, 2) as usize];
        let mut parts = Vec::new();
        for _ in 0..disjuncts {
            let ends: Vec<String> =
                dims.iter().map(|name| format!("{name} + {}", self.next(-1, 2))).collect();
            let mut facts: Vec<String> = dims.iter().map(|name| self.range(name, &["n"])).collect();
            if self.next(0, 2) == 0 {
                facts.push(format!("({}) mod 2 = 0", self.sum(dims, 1)));
            }
            let (from, to) = (dims.join(", "), ends.join(", "));
            parts.push(format!("[{from}] -> [{to}] : {}", facts.join(" and ")));
        }
        // Disjuncts over other numbers of dimensions are other spaces.
        format!("[n] -> {{ {} }}", parts.join("; "))
    }

    /// Writes a quasi-polynomial of the outputs of a relation of this shape, of degree 2 at most.
    pub fn polynomial(&mut self, shape: &Shape) -> String {
        let (params, dims) = NAMES.split_at(2);
        let params = &params[..shape.params];
        let outputs = &dims[shape.inputs..shape.inputs + shape.outputs];
        let all = [params, outputs].concat();
        let mut terms = vec![format!("{}", self.next(-4, 4))];
        for name in &all {
            let other = all[self.next(0, all.len() as i64 - 1) as usize];
            terms.push(format!("{}/{} * {name} * {other}", self.next(-3, 3), self.next(1, 3)));
        }
        if self.next(0, 1) == 0 {
            terms.push(format!("floor(({})/{})", self.sum(&all, 1), self.next(2, 3)));
        }
        let (params, outputs) = (params.join(", "), outputs.join(", "));
        format!("[{params}] -> {{ [{outputs}] -> {} }}", terms.join(" + "))
    }

    /// Writes a relation of so many disjuncts, most of them not empty.
    pub fn map(&mut self, shape: &Shape, disjuncts: usize) -> String {
        let (params, dims) = NAMES.split_at(2);
        let (inputs, rest) = dims.split_at(shape.inputs);
        let (params, outputs) = (&params[..shape.params], &rest[..shape.outputs]);
        let names = [params, inputs, outputs].concat();
        let mut parts = Vec::new();
        for _ in 0..disjuncts {
            let mut facts: Vec<String> =
                names[shape.params..].iter().map(|name| self.range(name, params)).collect();
            facts.push(format!("{} >= 0", self.sum(&names, 3)));
            if self.next(0, 1) == 0 {
                let (divisor, rest) = (self.next(2, 4), self.next(0, 1));
                facts.push(format!("({}) mod {divisor} = {rest}", self.sum(&names, 2)));
            }
            match self.next(0, 3) {
                0 => {
                    let (a, b) = (self.next(2, 4), self.next(2, 4));
                    let sum = self.sum(&names, 1);
                    facts.push(format!("(exists e: {a}*e <= {sum} <= {b}*e + 1)"));
                }
                1 => facts.push(format!("{} = 0", self.sum(&names, 1))),
                2 => {
                    let (left, right) = (self.sum(&names, 2), self.sum(&names, 1));
                    facts.push(format!("floor(({left})/3) <= {right} + 4"));
                }
                _ => {}
            }
            let tuple = |names: &[&str]| format!("[{}]", names.join(", "));
            let (left, right) = (tuple(inputs), tuple(outputs));
            parts.push(format!("{left} -> {right} : {}", facts.join(" and ")));
        }
        format!("[{}] -> {{ {} }}", params.join(", "), parts.join("; "))
    }

    fn range(&mut self, name: &str, params: &[&str]) -> String {
        let zeros = "0".repeat(self.zeros);
        let (low, high) = (self.next(-3, 1), self.next(3, 9));
        match params.get(self.next(0, 3) as usize) {
            Some(param) if self.next(0, 1) == 0 => format!("{low}{zeros} <= {name} <= {param}"),
            Some(param) => format!("{param} + {low}{zeros} <= {name} <= {high}{zeros}"),
            None => format!("{low}{zeros} <= {name} <= {high}{zeros}"),
        }
    }

    fn sum(&mut self, names: &[&str], size: i64) -> String {
        let terms = names.iter().map(|name| format!("{}*{name}", self.next(-size, size)));
        let terms: Vec<String> = terms.collect();
        format!("{} + {}{}", terms.join(" + "), self.next(0, 4), "0".repeat(self.zeros))
    }
}
