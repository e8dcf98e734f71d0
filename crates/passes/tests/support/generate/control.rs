//! Conditions, loops, blocks and calls.

use super::Generator;

impl Generator {
    pub(super) fn yield_in(&mut self, dialect: &str, results: bool) {
        match results {
            true => {
                let value = self.late(|g| &g.ints);
                self.line(&format!("\"{dialect}.yield\"({value}) : (i32) -> ()"));
            }
            false => self.line(&format!("\"{dialect}.yield\"() : () -> ()")),
        }
    }

    pub(super) fn scf_if(&mut self) {
        let condition = self.bool();
        self.either("scf.if", &format!("({condition})"), "", "(i1)", "scf");
    }

    pub(super) fn affine_if(&mut self) {
        let (at, k) = (self.affine_value(), self.random.below(5));
        let expression = self.expression(&["d0"]);
        let set = format!(" <{{condition = affine_set<(d0) : ({expression} - {k} >= 0)>}}>");
        self.either("affine.if", &format!("({at})"), &set, "(index)", "affine");
    }

    pub(super) fn either(
        &mut self,
        name: &str,
        operands: &str,
        attrs: &str,
        types: &str,
        dialect: &str,
    ) {
        let results = self.random.below(3) > 0;
        let both = results || self.random.below(2) == 0;
        let yes = self.nested(|g| {
            g.some_statements();
            g.yield_in(dialect, results);
        });
        let no = match both {
            true => self.nested(|g| {
                g.some_statements();
                g.yield_in(dialect, results);
            }),
            false => String::new(),
        };
        let given = if results { "i32" } else { "()" };
        let text = format!(
            "\"{name}\"{operands}{attrs} ({{\n{yes}  }}, {{\n{no}  }}) : {types} -> {given}"
        );
        match results {
            true => {
                let value = self.value(&text);
                self.ints.push(value);
            }
            false => self.line(&text),
        }
    }

    pub(super) fn scf_for(&mut self) {
        let low = match self.random.below(4) {
            0 => self.inside(),
            n => self.constant(n as i64 - 1, "index"),
        };
        let high = match self.random.below(2) {
            0 => self.inside(),
            _ => {
                let high = self.random.below(5) as i64;
                self.constant(high, "index")
            }
        };
        let step = self.random.below(3) as i64 + 1;
        let step = self.constant(step, "index");
        let carried = self.random.below(3) as usize;
        let inits: Vec<String> = (0..carried).map(|_| self.int()).collect();
        let (counter, args): (String, Vec<String>) =
            (self.fresh(), (0..carried).map(|_| self.fresh()).collect());
        let body = self.nested(|g| {
            g.indices.push(counter.clone());
            g.ints.extend(args.iter().cloned());
            g.some_statements();
            g.yield_all("scf", carried);
        });
        let args: String = args.iter().map(|arg| format!(", {arg}: i32")).collect();
        let given: String = inits.iter().map(|init| format!(", {init}")).collect();
        self.loop_line(
            &format!("\"scf.for\"({low}, {high}, {step}{given})"),
            &format!("^bb0({counter}: index{args}):\n{body}"),
            &format!("(index, index, index{})", ", i32".repeat(carried)),
            carried,
        );
    }

    pub(super) fn yield_all(&mut self, dialect: &str, count: usize) {
        let values: Vec<String> = (0..count).map(|_| self.late(|g| &g.ints)).collect();
        let types = vec!["i32"; count].join(", ");
        self.line(&format!("\"{dialect}.yield\"({}) : ({types}) -> ()", values.join(", ")));
    }

    /// A loop whose results are integers.
    pub(super) fn loop_line(&mut self, head: &str, body: &str, types: &str, results: usize) {
        let given = format!("({})", vec!["i32"; results].join(", "));
        let text = format!("{head} ({{\n  {body}  }}) : {types} -> {given}");
        match results {
            0 => self.line(&text),
            _ => {
                let name = self.fresh();
                self.line(&format!("{name}:{results} = {text}"));
                self.ints.extend((0..results).map(|i| format!("{name}#{i}")));
            }
        }
    }

    pub(super) fn affine_for(&mut self) {
        let carried = self.random.below(2) as usize;
        let inits: Vec<String> = (0..carried).map(|_| self.int()).collect();
        let (counter, args): (String, Vec<String>) =
            (self.fresh(), (0..carried).map(|_| self.fresh()).collect());
        let low = self.random.below(3);
        let (high, operand) = match self.random.below(2) {
            0 => (format!("() -> ({})", self.random.below(6)), None),
            _ => ("(d0) -> (d0 mod 5, 4)".to_owned(), Some(self.affine_value())),
        };
        let body = self.nested(|g| {
            g.indices.push(counter.clone());
            g.affine.push(counter.clone());
            g.ints.extend(args.iter().cloned());
            g.some_statements();
            g.yield_all("affine", carried);
        });
        let args: String = args.iter().map(|arg| format!(", {arg}: i32")).collect();
        let uppers = usize::from(operand.is_some());
        let operands: Vec<String> = operand.into_iter().chain(inits).collect();
        let types: Vec<&str> =
            vec!["index"; uppers].into_iter().chain(vec!["i32"; carried]).collect();
        let step = self.random.below(2) + 1;
        self.loop_line(
            &format!(
                "\"affine.for\"({}) <{{lowerBoundMap = affine_map<() -> ({low})>, \
                 operandSegmentSizes = array<i32: 0, {uppers}, {carried}>, step = {step} : index, \
                 upperBoundMap = affine_map<{high}>}}>",
                operands.join(", ")
            ),
            &format!("^bb0({counter}: index{args}):\n{body}"),
            &format!("({})", types.join(", ")),
            carried,
        );
    }

    /// A loop that counts down from a small number.
    pub(super) fn scf_while(&mut self) {
        let (start, three) = (self.int(), self.constant(3, "i32"));
        let start = self.value(&format!("\"arith.andi\"({start}, {three}) : (i32, i32) -> i32"));
        let carried = self.int();
        let names: Vec<String> = (0..4).map(|_| self.fresh()).collect();
        let [a, b, c, d] = &names[..] else { return };
        let before = self.nested(|g| {
            let zero = g.constant(0, "i32");
            let more = g.value(&format!(
                "\"arith.cmpi\"({a}, {zero}) <{{predicate = 4 : i64}}> : (i32, i32) -> i1"
            ));
            g.line(&format!("\"scf.condition\"({more}, {a}, {b}) : (i1, i32, i32) -> ()"));
        });
        let after = self.nested(|g| {
            let one = g.constant(-1, "i32");
            let less = g.value(&format!("\"arith.addi\"({c}, {one}) : (i32, i32) -> i32"));
            g.ints.push(d.clone());
            g.some_statements();
            let value = g.late(|g| &g.ints);
            g.line(&format!("\"scf.yield\"({less}, {value}) : (i32, i32) -> ()"));
        });
        let name = self.fresh();
        self.line(&format!(
            "{name}:2 = \"scf.while\"({start}, {carried}) ({{\n  ^bb0({a}: i32, {b}: i32):\n{before}  \
             }}, {{\n  ^bb0({c}: i32, {d}: i32):\n{after}  }}) : (i32, i32) -> (i32, i32)"
        ));
        self.ints.extend([format!("{name}#0"), format!("{name}#1")]);
    }

    /// A branch over two blocks that meet again.
    pub(super) fn diamond(&mut self) {
        let condition = self.bool();
        let label = self.next;
        self.next += 1;
        let (before, joined) = (self.int(), self.fresh());
        let direct = self.random.below(3) == 0;
        let no = if direct { format!("^j{label}") } else { format!("^n{label}") };
        let (sizes, given, types) = match direct {
            true => ("1, 0, 1", format!(", {before}"), ", i32"),
            false => ("1, 0, 0", String::new(), ""),
        };
        self.line(&format!(
            "\"cf.cond_br\"({condition}{given})[^y{label}, {no}] <{{operandSegmentSizes = \
             array<i32: {sizes}>}}> : (i1{types}) -> ()"
        ));
        for side in if direct { &["y"][..] } else { &["y", "n"][..] } {
            let known = self.known();
            self.out += &format!("^{side}{label}:\n");
            self.some_statements();
            let value = self.late(|g| &g.ints);
            self.line(&format!("\"cf.br\"({value})[^j{label}] : (i32) -> ()"));
            self.forget(known);
        }
        self.out += &format!("^j{label}({joined}: i32):\n");
        self.ints.push(joined);
    }

    pub(super) fn call(&mut self, other: u64) {
        let (a, b, c, n, m) = (self.int(), self.int(), self.bool(), self.index(), self.buffer());
        let name = self.fresh();
        self.line(&format!(
            "{name}:3 = \"func.call\"({a}, {b}, {c}, {n}, {m}) <{{callee = @f{other}}}> : (i32, i32, \
             i1, index, memref<8xi32>) -> (i32, i1, index)"
        ));
        self.ints.push(format!("{name}#0"));
        self.bools.push(format!("{name}#1"));
        self.indices.push(format!("{name}#2"));
    }
}
