//! Random contractions as C functions, with calls that print what they compute.

use std::fmt::Write;

use super::random::{Access, Array, Beside, Bound, CALLS, Case, Layout, Loop, Nest, Subscript};

/// What is in front of all functions. Numbers that are none have no bits of their own.
pub const START: &str = "\
int printf(const char *, ...);
void *malloc(unsigned long);
void free(void *);
static void fill(void *at, unsigned long count, int is_float)
{
    for (unsigned long i = 0; i < count; i++) {
        double x = ((double)(i * 2654435761u % 1000 + 1) / 400 - 1.2) / 4;
        if (is_float) ((float *)at)[i] = x; else ((double *)at)[i] = x;
    }
}
static void *make(unsigned long count, int is_float)
{
    void *at = malloc(count * (is_float ? sizeof(float) : sizeof(double)));
    fill(at, count, is_float);
    return at;
}
static unsigned long hash(const void *at, unsigned long count, int is_float)
{
    const unsigned size = is_float ? sizeof(float) : sizeof(double);
    unsigned long hash = 5381;
    for (unsigned long i = 0; i < count; i++) {
        const unsigned char *x = (const unsigned char *)at + i * size;
        double value = is_float ? ((const float *)at)[i] : ((const double *)at)[i];
        for (unsigned byte = 0; byte < size; byte++)
            hash = hash * 33 + (value == value ? x[byte] : 1);
    }
    return hash;
}
";

impl Loop {
    fn end(&self) -> String {
        self.parameter.clone().unwrap_or_else(|| self.ends[0].to_string())
    }

    /// Writes the head of a loop; `early`: its variable is declared already.
    fn head(&self, all: &[Self], early: bool) -> String {
        let Self { name, first, .. } = self;
        let ty = match self.style {
            _ if early => "",
            0 => "long ",
            _ => "int ",
        };
        let mut end = format!("{name} < {}", self.end());
        let mut low = first.to_string();
        if let Some((outer, bound)) = self.bound {
            let outer = &all[outer].name;
            match bound {
                Bound::From => low.clone_from(outer),
                Bound::After => low = format!("{outer} + 1"),
                Bound::To => end = format!("{name} <= {outer}"),
                Bound::Before => end = format!("{name} < {outer}"),
                Bound::Trapezoid => end = format!("{end} && {name} <= {outer} + 2"),
                Bound::Opposite => end = format!("{name} < {} - {outer}", self.end()),
            }
        } else if self.style == 1 {
            return format!("for ({ty}{name} = {} - 1; {name} >= {low}; {name}--)", self.end());
        } else if self.style == 2 {
            end = format!("{name} <= {} - 1", self.end());
        } else if self.style == 3 && self.first > 0 {
            return format!("for ({ty}{name} = {low}; {end}; {name} += 2)");
        }
        format!("for ({ty}{name} = {low}; {end}; {name}++)")
    }
}

impl Subscript {
    fn text(&self, loops: &[Loop]) -> String {
        if let ([(_, at)], true) = (&self.terms[..], self.reversed) {
            let Loop { name, .. } = &loops[*at];
            return format!("{} - 1 - {name} + {}", loops[*at].end(), self.shift);
        }
        let mut all: Vec<String> = Vec::new();
        for (factor, at) in &self.terms {
            let name = &loops[*at].name;
            all.push(if *factor == 1 { name.clone() } else { format!("{factor} * {name}") });
        }
        if self.shift > 0 || all.is_empty() {
            all.push(self.shift.to_string());
        }
        all.join(" + ")
    }

    /// Writes an extent that parameters give, and at least 1.
    fn extent(&self, loops: &[Loop]) -> String {
        let mut all = Vec::new();
        for (factor, at) in &self.terms {
            let end = loops[*at].end();
            all.push(if *factor == 1 { end } else { format!("{factor} * {end}") });
        }
        all.push((self.shift + 1).to_string());
        all.join(" + ")
    }

    fn extent_value(&self, loops: &[Loop], call: usize) -> usize {
        let all = self.terms.iter().map(|(factor, at)| factor * loops[*at].ends[call]);
        all.sum::<usize>() + self.shift + 1
    }
}

impl Array {
    fn is_float(&self) -> u8 {
        u8::from(self.element == "float")
    }

    /// Writes the extents; `nest` is that of its only access.
    fn extents(&self, nest: &Nest) -> Vec<String> {
        match (self.layout, &self.only) {
            (Layout::Variable | Layout::FlatVariable, Some(subscripts)) => {
                subscripts.iter().map(|own| own.extent(&nest.loops)).collect()
            }
            _ => self.extents.iter().map(usize::to_string).collect(),
        }
    }

    fn count(&self, nest: &Nest, call: usize) -> usize {
        match (self.layout, &self.only) {
            (Layout::Variable | Layout::FlatVariable, Some(subscripts)) => {
                subscripts.iter().map(|own| own.extent_value(&nest.loops, call)).product()
            }
            _ => self.extents.iter().product(),
        }
    }

    fn is_flat(&self) -> bool {
        matches!(self.layout, Layout::Flat | Layout::FlatVariable)
    }

    fn declared(&self, nest: &Nest, global: bool) -> String {
        let Self { element, name, .. } = self;
        let extents = self.extents(nest);
        match (global, self.is_flat()) {
            (true, true) => {
                format!("static {element} {name}[{}]", self.extents.iter().product::<usize>())
            }
            (false, true) => format!("{element} *{name}"),
            (_, false) => {
                let shape: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
                format!("{}{element} {name}{shape}", if global { "static " } else { "" })
            }
        }
    }
}

/// Writes a nest; `early`: variables of loops are declared in front of it.
struct Writer<'a> {
    case: &'a Case,
    nest: &'a Nest,
    text: String,
    /// Arrays that a pointer to a row stands for: the access it was made for, and its name.
    rows: Vec<(String, String)>,
}

impl Writer<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(depth));
    }

    /// Writes an access up to its last subscript.
    fn row(&self, access: &Access) -> (String, String) {
        let array = &self.case.arrays[access.array];
        let texts: Vec<String> =
            access.subscripts.iter().map(|own| own.text(&self.nest.loops)).collect();
        let name = &array.name;
        let (last, others) = texts.split_last().expect("a subscript");
        if !array.is_flat() {
            let others: String = others.iter().map(|text| format!("[{text}]")).collect();
            return (format!("{name}{others}"), last.clone());
        }
        let extents = array.extents(self.nest);
        let mut text = String::new();
        for (own, extent) in others.iter().zip(extents.iter().skip(1)) {
            text = match text.is_empty() {
                true => format!("({own}) * ({extent})"),
                false => format!("({text} + {own}) * ({extent})"),
            };
        }
        (if text.is_empty() { name.clone() } else { format!("{name} + {text}") }, last.clone())
    }

    fn element(&self, access: &Access) -> String {
        let (row, last) = self.row(access);
        if let Some((_, name)) = self.rows.iter().find(|(own, _)| *own == row) {
            return format!("{name}[{last}]");
        }
        let array = &self.case.arrays[access.array];
        match row.split_once(" + ") {
            Some((name, start)) if array.is_flat() => format!("{name}[{start} + {last}]"),
            _ => format!("{row}[{last}]"),
        }
    }

    /// Declares pointers to the rows that are known below the loop at a depth.
    fn pointers(&mut self, depth: usize) {
        let known = &self.nest.order[..=depth];
        for access in self.nest.operands.iter().chain([&self.nest.target]) {
            let array = &self.case.arrays[access.array];
            let (_, others) = access.subscripts.split_last().expect("a subscript");
            let loops: Vec<usize> =
                others.iter().flat_map(|own| &own.terms).map(|(_, at)| *at).collect();
            if !array.rows || loops.is_empty() || loops.iter().any(|at| !known.contains(at)) {
                continue;
            }
            let (row, _) = self.row(access);
            if self.rows.iter().any(|(own, _)| *own == row) {
                continue;
            }
            let name = format!("r{}_{}", self.rows.len(), array.name);
            let line = format!("{} *{name} = {row};", array.element);
            self.line(depth + 2, &line);
            self.rows.push((row, name));
        }
    }

    fn value(&self) -> String {
        let all: Vec<String> = self.nest.operands.iter().map(|own| self.element(own)).collect();
        let [a, b, d, e] = &all[..] else { return String::new() };
        match self.nest.expression {
            0 => format!("alpha * {a} * {b}"),
            1 => format!("{a} * {b} * alpha"),
            2 => format!("{b} * {a}"),
            3 => format!("({a} + alpha) * {b}"),
            4 => format!("{a} * alpha * {b} + {d} * {e}"),
            5 => format!("{a} - {b} / alpha"),
            6 => format!("-{a} * {b}"),
            7 => format!("({a} - {b}) * ({a} - {b})"),
            8 => format!("{a} * {b} * {d}"),
            9 => format!("2 * {a} * {b} + beta"),
            10 => format!("({a} + {d}) * ({b} - {e})"),
            11 => format!("(n_zero + 1) * {a} * {b}"),
            12 => a.clone(),
            _ => format!("{a} * {b}"),
        }
    }

    /// Writes the update of a place.
    fn update(&self, c: &str) -> String {
        let value = self.value();
        match self.nest.expression % 5 {
            0 => format!("{c} = {c} + {value};"),
            1 => format!("{c} -= {value};"),
            2 => format!("{c} = {value} + {c};"),
            _ => format!("{c} += {value};"),
        }
    }

    fn beside(&self, c: &str, which: usize) -> String {
        match which {
            0 => format!("{c} = 0;"),
            1 => format!("{c} *= beta;"),
            2 => format!("{c} = {c} / beta + alpha;"),
            _ => format!("{c} = {c} > 0 ? {c} : 0;"),
        }
    }

    fn write(mut self) -> String {
        let nest = self.nest;
        let early = self.case.early;
        let inside = nest.order.iter().position(|at| nest.reduced.contains(at));
        let split = inside.unwrap_or(nest.order.len());
        let is_inside = nest.order[split..].iter().all(|at| nest.reduced.contains(at));
        let beside = match nest.beside {
            Beside::Before(_) | Beside::Behind(_) | Beside::Variable(_)
                if !is_inside || split == 0 =>
            {
                Beside::Nothing
            }
            own => own,
        };
        let target = self.element(&nest.target);
        if let Beside::Ahead(which) = beside {
            self.ahead(which, early);
        }
        let mut opened = 0;
        let mut c = target.clone();
        for (depth, at) in nest.order.iter().enumerate() {
            if depth == split {
                c = self.element(&nest.target);
                match beside {
                    Beside::Before(which) => self.line(depth + 1, &self.beside(&c, which)),
                    Beside::Variable(which) => {
                        let start = if which % 2 == 0 { "0".to_owned() } else { c.clone() };
                        let line = format!("{} s = {start};", self.case.element);
                        self.line(depth + 1, &line);
                    }
                    _ => {}
                }
            }
            let head = format!("{} {{", nest.loops[*at].head(&nest.loops, early));
            self.line(depth + 1, &head);
            opened += 1;
            self.pointers(depth);
        }
        let in_variable = matches!(beside, Beside::Variable(_));
        let place = if in_variable { "s".to_owned() } else { self.element(&nest.target) };
        let mut line = self.update(&place);
        if let Some((a, b, which)) = nest.guard {
            let [a, b] = [a, b].map(|at| &nest.loops[at].name);
            let test = ["!=", "<=", "<", "=="][which];
            line = format!("if ({a} {test} {b}) {line}");
        }
        self.line(opened + 1, &line);
        for depth in (0..opened).rev() {
            self.line(depth + 1, "}");
            if depth != split {
                continue;
            }
            match beside {
                Beside::Behind(which) => self.line(depth + 1, &self.beside(&c, which)),
                Beside::Variable(which) => {
                    let value = match which {
                        0 | 1 => "s".to_owned(),
                        2 | 3 => "alpha * s".to_owned(),
                        4 => format!("beta * {c} + alpha * s"),
                        _ => format!("s / ({c} + 2)"),
                    };
                    self.line(depth + 1, &format!("{c} = {value};"));
                }
                _ => {}
            }
        }
        self.text
    }

    /// Writes what happens to all elements in front of the nest.
    fn ahead(&mut self, which: usize, early: bool) {
        let nest = self.nest;
        let bounds = |at: &usize| {
            nest.loops[*at].bound.is_some_and(|(outer, _)| nest.reduced.contains(&outer))
        };
        let own: Vec<usize> =
            nest.order.iter().copied().filter(|at| !nest.reduced.contains(at)).collect();
        if own.iter().any(bounds) {
            return;
        }
        for (depth, at) in own.iter().enumerate() {
            self.line(depth + 1, &nest.loops[*at].head(&nest.loops, early));
        }
        let line = self.beside(&self.element(&nest.target), which);
        self.line(own.len() + 1, &line);
    }
}

/// Writes the function of a case, and the calls of it.
pub fn written(case: &Case, index: usize) -> (String, String) {
    let mut parameters = vec!["int n_zero".to_owned()];
    let mut early = Vec::new();
    let mut body = String::new();
    for nest in &case.nests {
        for own in &nest.loops {
            early.push(own.name.clone());
            let parameter = own.parameter.iter().map(|name| format!("int {name}"));
            parameters
                .extend(parameter.filter(|own| !parameters.contains(own)).collect::<Vec<_>>());
        }
        body += &Writer { case, nest, text: String::new(), rows: Vec::new() }.write();
    }
    let element = case.element;
    parameters.extend(["alpha", "beta"].map(|name| format!("{element} {name}")));
    let mut global = String::new();
    let first = &case.nests[0];
    for array in &case.arrays {
        let declared = array.declared(first, case.global);
        match case.global {
            true => {
                let _ = writeln!(global, "{declared};");
            }
            false => parameters.push(declared),
        }
    }
    let early = match case.early {
        true => format!("    int {};\n", early.join(", ")),
        false => String::new(),
    };
    let function = format!(
        "{global}void f{index}({})\n{{\n{early}#pragma scop\n{body}#pragma endscop\n}}\n",
        parameters.join(", ")
    );
    (function, calls(case, index, &parameters))
}

fn calls(case: &Case, index: usize, parameters: &[String]) -> String {
    let mut text = String::new();
    for call in 0..CALLS {
        let mut arguments = Vec::new();
        for parameter in parameters.iter().filter_map(|own| own.strip_prefix("int ")) {
            let named = |own: &&Loop| own.parameter.as_deref() == Some(parameter);
            let found = case.nests.iter().flat_map(|nest| &nest.loops).find(named);
            arguments.push(found.map_or(0, |own| own.ends[call]).to_string());
        }
        arguments.extend(["1.25", "0.75"].map(str::to_owned));
        let _ = writeln!(text, "    {{");
        let mut shown = String::new();
        for array in &case.arrays {
            let (name, is_float) = (&array.name, array.is_float());
            let count = match case.global {
                true => format!("sizeof {name} / sizeof({})", array.element),
                false => array.count(&case.nests[0], call).to_string(),
            };
            let place = match case.global {
                true => format!("&{name}"),
                false => format!("p_{name}"),
            };
            let _ = match case.global {
                true => writeln!(text, "        fill(&{name}, {count}, {is_float});"),
                false => writeln!(text, "        void *p_{name} = make({count}, {is_float});"),
            };
            if !case.global {
                arguments.push(place.clone());
            }
            let _ = writeln!(
                shown,
                "        printf(\"f{index} call {call} {name} %lu\\n\", hash({place}, {count}, {is_float}));"
            );
            if !case.global {
                let _ = writeln!(shown, "        free({place});");
            }
        }
        let _ = write!(text, "        f{index}({});\n{shown}    }}\n", arguments.join(", "));
    }
    text
}
