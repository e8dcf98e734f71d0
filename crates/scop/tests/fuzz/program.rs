//! Random loop nests in C: affine bounds and conditions, several statements, arrays, scalars.
//!
//! Elements are unsigned, so that arithmetic is exact and no order of operations goes
//! unnoticed. With parameters from 0 to 7 every subscript stays within the extents.

use std::fmt::Write;

use super::random::Random;

/// What stands in front of a part.
const START: &str = "#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define min(x, y) ((x) < (y) ? (x) : (y))
#define max(x, y) ((x) > (y) ? (x) : (y))
";

/// Writes a function `name(n, m, A, B, x, y, F)` with one part.
pub fn program(random: &mut Random, name: &str) -> String {
    let mut writer = Writer { random, text: String::new(), statements: 0, locals: 0 };
    let nests = 1 + writer.random.below(2);
    for _ in 0..nests {
        writer.nest(&mut Scope::default(), 1);
    }
    format!(
        "void {name}(int n, int m, unsigned A[80][80], unsigned B[80][80], unsigned x[80], unsigned y[80], unsigned *F)
{{
  unsigned s = 1;
#pragma scop
{}#pragma endscop
  x[79] = s;
}}
",
        writer.text
    )
}

/// Definitions that the programs use before they are rewritten.
pub fn start() -> &'static str {
    START
}

#[derive(Default, Clone)]
struct Scope {
    loops: Vec<String>,
    locals: Vec<String>,
    /// Pointers into arrays, to at least 65 elements.
    rows: Vec<String>,
    /// Whether only the values decide what runs here: then `continue` and pointers are refused.
    unknown: bool,
}

struct Writer<'a> {
    random: &'a mut Random,
    text: String,
    statements: usize,
    locals: usize,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth));
    }

    fn nest(&mut self, scope: &mut Scope, depth: usize) {
        let inner = scope.loops.len();
        let choice = self.random.below(10);
        if inner == 0 || (inner < 3 && self.statements < 3 && choice < 4) {
            self.for_loop(scope, depth);
        } else if inner > 0 && choice == 4 {
            let unknown = self.random.one_in(3);
            let condition =
                if unknown { self.data_condition(scope) } else { self.condition(scope) };
            let mut scope = scope.clone();
            scope.unknown |= unknown;
            let scope = &mut scope;
            self.line(depth, &format!("if ({condition}) {{"));
            self.body(&mut scope.clone(), depth + 1);
            if !unknown && self.random.one_in(4) {
                let other = self.condition(scope);
                self.line(depth, &format!("}} else if ({other}) {{"));
                self.body(&mut scope.clone(), depth + 1);
            }
            if self.random.one_in(2) {
                self.line(depth, "} else {");
                self.body(&mut scope.clone(), depth + 1);
            }
            self.line(depth, "}");
        } else if inner > 0 && !scope.unknown && choice == 5 && self.random.one_in(2) {
            let condition = self.condition(scope);
            self.line(depth, &format!("if ({condition}) {{"));
            self.statement(scope, depth + 1);
            let jump = if self.random.one_in(3) { "break;" } else { "continue;" };
            self.line(depth + 1, jump);
            self.line(depth, "}");
            self.statement(scope, depth);
        } else if inner > 0 && choice == 6 && self.random.one_in(2) {
            self.switch(scope, depth);
        } else {
            self.statement(scope, depth);
        }
    }

    fn switch(&mut self, scope: &Scope, depth: usize) {
        let i = self.random.pick(&scope.loops).clone();
        self.line(depth, &format!("switch (({i} + 30) % 4) {{"));
        self.line(depth, "case 0:");
        self.statement(scope, depth + 1);
        self.line(depth, "  break;\n  case 3: case 1:");
        self.statement(scope, depth + 1);
        self.line(depth + 1, "break;");
        if self.random.one_in(2) {
            self.line(depth, "default:");
            self.statement(scope, depth + 1);
        }
        self.line(depth, "}");
    }

    fn body(&mut self, scope: &mut Scope, depth: usize) {
        let count = 1 + self.random.below(2);
        for _ in 0..count {
            self.nest(scope, depth);
        }
    }

    fn for_loop(&mut self, scope: &Scope, depth: usize) {
        let mut scope = scope.clone();
        let name = ["i", "j", "k"][scope.loops.len()].to_owned();
        let (low, high) = (self.low(&scope), self.high(&scope));
        let head = match self.random.below(12) {
            0 => format!("for (int {name} = {high} - 1; {name} >= {low}; {name}--) {{"),
            1 => format!("for (int {name} = {low}; {name} < {high}; {name} += 2) {{"),
            2 => format!("for (int {name} = {high} + 1; {name} > {low}; {name} -= 3) {{"),
            3 => {
                let element = self.random.pick(&["short", "long", "signed char", "long long"]);
                format!("for ({element} {name} = {low}; {name} < {high}; ++{name}) {{")
            }
            4 => {
                let element = self.random.pick(&["unsigned char", "unsigned short"]);
                format!("for ({element} {name} = 1; {name} < {high}; {name}++) {{")
            }
            _ => format!("for (int {name} = {low}; {name} < {high}; {name}++) {{"),
        };
        self.line(depth, &head);
        scope.loops.push(name);
        if !scope.unknown && self.random.one_in(8) {
            let row = format!("r{}", self.locals);
            self.locals += 1;
            let i = self.random.pick(&scope.loops).clone();
            let at = self.subscript(&scope);
            let value = match self.random.below(4) {
                0 => format!("F + ({i} + 30) * (n + 9)"),
                1 => format!("&x[{i} + 3]"),
                2 => format!("y + {i}"),
                // Whoever starts at a fixed row could mean to go through all of them.
                _ if at == "30" => format!("B[{i} + 30]"),
                _ => format!("A[{at}]"),
            };
            self.line(depth + 1, &format!("unsigned *{row} = {value};"));
            scope.rows.push(row);
        }
        if self.random.one_in(6) {
            let local = format!("t{}", self.locals);
            self.locals += 1;
            let value = self.read(&scope);
            if self.random.one_in(3) {
                let other = self.read(&scope);
                self.line(depth + 1, &format!("unsigned {local}[2];"));
                self.line(depth + 1, &format!("{local}[0] = {value};"));
                self.line(depth + 1, &format!("{local}[1] = {other} + 3;"));
                scope.locals.extend([format!("{local}[0]"), format!("{local}[1]")]);
            } else {
                self.line(depth + 1, &format!("unsigned {local} = {value} + 5;"));
                scope.locals.push(local);
            }
        }
        self.body(&mut scope, depth + 1);
        self.line(depth, "}");
    }

    fn low(&mut self, scope: &Scope) -> String {
        match (scope.loops.last().cloned(), self.random.below(6)) {
            (Some(outer), 0) => outer,
            (Some(outer), 1) => format!("({outer} + 1)"),
            (Some(outer), 2) => format!("max({outer} - 2, 0)"),
            (Some(outer), 3) => format!("floord({outer} - 1, 2)"),
            (_, 4) => "(m - 3)".into(),
            (_, choice) => (choice % 2).to_string(),
        }
    }

    fn high(&mut self, scope: &Scope) -> String {
        match (scope.loops.last().cloned(), self.random.below(8)) {
            (Some(outer), 0) => format!("({outer} + 3)"),
            (Some(outer), 1) => format!("(n - {outer})"),
            (Some(outer), 2) => format!("min(n, {outer} + 2)"),
            (Some(outer), 3) => format!("((n + {outer}) / 2 + 1)"),
            (_, 4) => ["4", "(n % 4 + 2)", "min(n, m)", "(m / 2 + 2)"][self.random.below(4)].into(),
            (_, choice) => ["n", "m"][choice % 2].into(),
        }
    }

    fn condition(&mut self, scope: &Scope) -> String {
        let i = self.random.pick(&scope.loops).clone();
        let j = self.random.pick(&scope.loops).clone();
        match self.random.below(10) {
            7 => format!("n % 3 == {i} % 3"),
            8 => format!("({i} + 2 * {j}) % 4 <= 1"),
            0 => format!("{i} <= {j} + 1"),
            1 => format!("{i} + {j} < n"),
            2 => format!("({i} + 8) % 2 == 0"),
            3 => format!("({i} + 9) % 3 != 1 && {j} > 0"),
            4 => "n > m".into(),
            5 => format!("{i} < 2 || {j} >= 4"),
            6 => format!("{i} == {j}"),
            _ => format!("!({i} == m - 2)"),
        }
    }

    /// A condition that only the values decide.
    fn data_condition(&mut self, scope: &Scope) -> String {
        let place = self.read(scope);
        match self.random.below(3) {
            0 => format!("{place} % 3 == 0"),
            1 => format!("{place} > {} && n > 2", self.read(scope)),
            _ => format!("{place} & 4"),
        }
    }

    fn statement(&mut self, scope: &Scope, depth: usize) {
        self.statements += 1;
        if self.random.one_in(12) {
            return self.uncertain(scope, depth);
        }
        let place = self.place(scope);
        let (a, b) = (self.read(scope), self.read(scope));
        let factor = 2 * self.random.below(4) + 3;
        let line = match self.random.below(8) {
            5 => format!("s {} {a};", self.random.pick(&["+=", "^=", "-="])),
            6 => format!("++{place};"),
            7 => {
                let i = self.random.pick(&scope.loops);
                // A narrow value wraps where a wide one does not.
                format!("{place} += (unsigned)({i} * 8192) * ({i} - {factor}) / 3 + ~{i};")
            }
            4 => {
                let condition = self.condition(scope);
                format!("{place} = {condition} ? {a} : {b} + {factor};")
            }
            0 => format!("{place} += {a} * {factor};"),
            1 => format!("{place} = {factor} * {place} + {a} - {b};"),
            2 => format!("{place} = {a} * {factor} + {b} + {};", self.statements),
            _ => format!("{place} ^= {a} + {factor} * {b};"),
        };
        self.line(depth, &line);
    }

    /// A statement whose places or iterations only the values decide.
    fn uncertain(&mut self, scope: &Scope, depth: usize) {
        let (a, b, place) = (self.read(scope), self.read(scope), self.place(scope));
        let line = match self.random.below(3) {
            0 => format!("x[{a} % 70] += {b};"),
            1 => format!("{place} = y[{a} % 70] + {b};"),
            _ => format!("for (unsigned q = 0; q < {a} % 4; q++) {place} += x[q] + {b};"),
        };
        self.line(depth, &line);
    }

    /// Something that can be written.
    fn place(&mut self, scope: &Scope) -> String {
        if !scope.rows.is_empty() && self.random.one_in(4) {
            let row = self.random.pick(&scope.rows).clone();
            let i = self.random.pick(&scope.loops).clone();
            return format!("{row}[{i} + {}]", 25 + self.random.below(3));
        }
        match self.random.below(10) {
            0 => "s".into(),
            1 if !scope.locals.is_empty() => self.random.pick(&scope.locals).clone(),
            2 | 3 => format!("F[{}]", self.flat(scope)),
            choice if choice < 6 => {
                let (array, at) = (["x", "y"][choice % 2], self.subscript(scope));
                match self.random.below(6) {
                    0 => format!("*({array} + ({at}))"),
                    1 => format!("({array} + 3)[({at}) - 3]"),
                    _ => format!("{array}[{at}]"),
                }
            }
            choice => {
                let array = ["A", "B"][choice % 2];
                format!("{array}[{}][{}]", self.subscript(scope), self.subscript(scope))
            }
        }
    }

    /// A subscript of an array in one dimension, with extents that may be too small.
    fn flat(&mut self, scope: &Scope) -> String {
        let i = self.random.pick(&scope.loops).clone();
        let j = self.random.pick(&scope.loops).clone();
        match self.random.below(9) {
            5 => format!("(50 - {i}) * (n + 9) + {j}"),
            6 => format!("({i} + 30) * (n + 9) + {j} - 1"),
            7 => format!("(({i} + 3) * m + {j} + 5) * n + {i} + 3"),
            8 => format!("({i} + 30) * (n + 9) + ({} ? {j} : {j} + 1)", self.condition(scope)),
            0 => format!("({i} + 30) * m + {j} + 30"),
            1 => format!("({i} + 31) * (n + 9) + {j} + 1"),
            2 => format!("(n + 9) * ({j} + 30) + 2 * {i} + 30"),
            _ => format!("({i} + 30) * (n + 9) + {j}"),
        }
    }

    fn read(&mut self, scope: &Scope) -> String {
        if !scope.locals.is_empty() && self.random.one_in(3) {
            return self.random.pick(&scope.locals).clone();
        }
        self.place(scope)
    }

    /// An affine place; distances are small, so that many accesses meet.
    fn subscript(&mut self, scope: &Scope) -> String {
        let i = self.random.pick(&scope.loops).clone();
        let j = self.random.pick(&scope.loops).clone();
        match self.random.below(20) {
            0 => "30".into(),
            8 => format!("{i} < {j} ? {j} + 30 : {i} + 31"),
            9 => format!("50 - 2 * {i}"),
            1 => format!("{i} + 29"),
            2 => format!("{i} + 31"),
            3 => format!("{i} + {j} + 30"),
            4 => format!("30 + {i} - {j}"),
            5 => format!("n - {i} + 30"),
            6 => format!("2 * {i} + 30"),
            7 => format!("({i} + 60) / 2"),
            _ => format!("{i} + 30"),
        }
    }
}
