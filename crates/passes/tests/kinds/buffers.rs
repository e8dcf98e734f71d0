//! Programs over buffers: views of views, casts, extents, accesses, what buffers consist of.

use super::Kind;
use super::text::Text;
use tangram_dialects::mlir::run::Datum;

pub const KIND: Kind = Kind {
    prelude: "memref.global \"private\" constant @list : memref<4xi32> = dense<[5, 6, 7, 8]>\n\
              memref.global \"private\" constant @same : memref<2x3xi32> = dense<9>\n",
    function,
    arguments: || {
        let buffers = [super::buffer(&[4, 6], 100), super::buffer(&[4, 6], 500)];
        let more = [super::buffer(&[4, 6], 900), Datum::Int(7), Datum::Int(3)];
        buffers.into_iter().chain(more).collect()
    },
    longer: 5,
};

/// Numbers of which the type says some.
#[derive(Clone, PartialEq)]
struct Number {
    value: i64,
    known: bool,
}

fn number(value: i64, known: bool) -> Number {
    Number { value, known }
}

/// A buffer: its name, and what its type says of it.
#[derive(Clone)]
struct Buffer {
    name: String,
    extents: Vec<Number>,
    strides: Vec<Number>,
    offset: Number,
    /// Its rows lie one after the other, and the type needs not say more.
    plain: bool,
    /// Nothing writes to it.
    constant: bool,
}

fn told(number: &Number) -> String {
    if number.known { number.value.to_string() } else { "?".into() }
}

/// The strides of rows one after the other.
fn row_major(extents: &[Number]) -> Vec<Number> {
    let mut strides = vec![number(1, true); extents.len()];
    for i in (1..extents.len()).rev() {
        let (stride, extent) = (&strides[i], &extents[i]);
        strides[i - 1] = number(stride.value * extent.value, stride.known && extent.known);
    }
    strides
}

impl Buffer {
    fn plain(name: &str, extents: Vec<Number>) -> Buffer {
        let strides = row_major(&extents);
        let offset = number(0, true);
        Buffer { name: name.into(), extents, strides, offset, plain: true, constant: false }
    }

    fn ty(&self) -> String {
        let dims: String = self.extents.iter().map(|n| told(n) + "x").collect();
        if self.plain {
            return format!("memref<{dims}i32>");
        }
        let strides: Vec<String> = self.strides.iter().map(told).collect();
        let offset = match &self.offset {
            Number { value: 0, known: true } => String::new(),
            offset => format!(", offset: {}", told(offset)),
        };
        format!("memref<{dims}i32, strided<[{}]{offset}>>", strides.join(", "))
    }

    fn has(&self, extents: &[Number]) -> bool {
        let values = |numbers: &[Number]| numbers.iter().map(|n| n.value).collect::<Vec<_>>();
        values(&self.extents) == values(extents)
    }
}

struct Generator {
    text: Text,
    buffers: Vec<Buffer>,
}

/// A function of two buffers of 4 x 6 elements whose types say all and half of it, one whose
/// layout is not known, a number and an index.
fn function(seed: u64) -> String {
    let extents = |known: [bool; 2]| vec![number(4, known[0]), number(6, known[1])];
    let strided = Buffer {
        strides: vec![number(6, false), number(1, false)],
        offset: number(0, false),
        plain: false,
        ..Buffer::plain("%c", extents([false, false]))
    };
    let buffers = vec![
        Buffer::plain("%a", extents([true; 2])),
        Buffer::plain("%b", extents([false, true])),
        strided,
    ];
    let mut g = Generator { text: Text::new(seed, &["%x"], &["%n"]), buffers };
    for _ in 0..10 {
        g.statement();
    }
    let buffer = g.buffer();
    let (int, index) = (g.text.int(), g.text.index());
    format!(
        "func.func @f{seed}(%a: memref<4x6xi32>, %b: memref<?x6xi32>, \
         %c: memref<?x?xi32, strided<[?, ?], offset: ?>>, %x: i32, %n: index) -> \
         ({}, i32, index) {{\n{}return {}, {int}, {index} : {}, i32, index\n}}\n",
        buffer.ty(),
        g.text.out,
        buffer.name,
        buffer.ty()
    )
}

impl Generator {
    fn buffer(&mut self) -> Buffer {
        let buffers = std::mem::take(&mut self.buffers);
        let one = self.text.one_of(&buffers);
        self.buffers = buffers;
        one
    }

    /// Adds a buffer that `text` makes, in which `TYPE` is its type.
    fn add(&mut self, text: &str, buffer: Buffer) {
        let name = self.text.named(&text.replace("TYPE", &buffer.ty()));
        self.buffers.push(Buffer { name, ..buffer });
    }

    fn statement(&mut self) {
        match self.text.below(22) {
            0..=3 => self.subview(),
            4..=6 => self.cast(),
            7 => self.alloc(),
            8 => self.collapse(),
            9 => self.expand(),
            10 | 11 => self.dim(),
            12 | 13 => self.load(),
            14 => self.store(),
            15 => self.copy(),
            16 => self.align(),
            17 => self.metadata(),
            18 => self.reinterpret(),
            19 => self.transpose(),
            20 => self.global(),
            _ => self.exchange(),
        }
    }

    /// Whether a number is known from now on, and its text.
    fn operand(&mut self, value: i64) -> (String, Number) {
        let (text, known) = self.text.number(value);
        (text, number(value, known))
    }

    fn subview(&mut self) {
        let of = self.buffer();
        let mut lists = [const { Vec::new() }; 3];
        let mut part = Buffer { plain: false, extents: vec![], strides: vec![], ..of.clone() };
        for (extent, stride) in of.extents.iter().zip(&of.strides) {
            let whole = self.text.flip();
            let start = if whole { 0 } else { self.text.below(extent.value as usize) as i64 };
            let most = (extent.value - start) as usize;
            let size = if whole { extent.value } else { self.text.below(most) as i64 + 1 };
            let (text, start) = self.operand(start);
            lists[0].push(text);
            let (text, size) = self.operand(size);
            lists[1].push(text);
            let (text, by) = self.operand(1);
            lists[2].push(text);
            let nothing = start == number(0, true);
            part.offset = number(
                part.offset.value + start.value * stride.value,
                part.offset.known && (nothing || start.known && stride.known),
            );
            let drops = size == number(1, true) && self.text.below(3) == 0;
            if !drops {
                part.extents.push(size);
                part.strides.push(number(by.value * stride.value, by.known && stride.known));
            }
        }
        let [offsets, sizes, strides] = lists.map(|list| list.join(", "));
        let (name, ty) = (&of.name, of.ty());
        let text = format!("memref.subview {name}[{offsets}] [{sizes}] [{strides}] : {ty} to TYPE");
        self.add(&text, part);
    }

    /// Forgets some numbers, or says some extents that only a run knows.
    fn cast(&mut self) {
        let of = self.buffer();
        let mut to = of.clone();
        for extent in &mut to.extents {
            extent.known = self.text.flip();
        }
        let forgets = self.text.below(3) == 0;
        if to.plain && !forgets {
            to.strides = row_major(&to.extents);
        } else {
            to.plain = false;
            let strides = to.strides.iter_mut().zip(row_major(&to.extents));
            for (stride, inner) in strides {
                stride.known &= !forgets || self.text.flip() && inner.known;
            }
            to.offset.known &= !forgets || self.text.flip();
        }
        self.add(&format!("memref.cast {} : {} to TYPE", of.name, of.ty()), to);
    }

    fn alloc(&mut self) {
        let (mut extents, mut sizes) = (Vec::new(), Vec::new());
        for _ in 0..1 + self.text.below(3) {
            let value = 1 + self.text.below(4) as i64;
            let known = self.text.flip();
            if !known {
                sizes.push(self.text.constant(value));
            }
            extents.push(number(value, known));
        }
        let name = if self.text.flip() { "alloc" } else { "alloca" };
        let text = format!("memref.{name}({}) : TYPE", sizes.join(", "));
        self.add(&text, Buffer::plain("", extents));
    }

    fn collapse(&mut self) {
        let of = self.buffer();
        let rank = of.extents.len();
        if !of.plain || rank < 2 {
            return;
        }
        let at = self.text.below(rank - 1);
        let (mut groups, mut extents, mut i) = (Vec::new(), Vec::new(), 0);
        while i < rank {
            let joined = i == at;
            groups.push(if joined { format!("[{i}, {}]", i + 1) } else { format!("[{i}]") });
            let mut extent = of.extents[i].clone();
            if joined {
                let next = &of.extents[i + 1];
                extent = number(extent.value * next.value, extent.known && next.known);
            }
            extents.push(extent);
            i += if joined { 2 } else { 1 };
        }
        let (name, groups, ty) = (&of.name, groups.join(", "), of.ty());
        let text = format!("memref.collapse_shape {name} [{groups}] : {ty} into TYPE");
        self.add(&text, Buffer { constant: of.constant, ..Buffer::plain("", extents) });
    }

    fn expand(&mut self) {
        let of = self.buffer();
        let rank = of.extents.len();
        if !of.plain || rank == 0 || rank > 3 {
            return;
        }
        let at = self.text.below(rank);
        let whole = of.extents[at].clone();
        let factors = [2, 3, 1, whole.value];
        let factor = factors[self.text.below(4)];
        if whole.value == 0 || whole.value % factor != 0 {
            return;
        }
        // An extent is known exactly where those that it is split into are.
        let first = whole.known || self.text.flip();
        let halves = [number(factor, first), number(whole.value / factor, whole.known)];
        let mut extents = of.extents.clone();
        extents.splice(at..=at, halves);
        let group = |i: usize| match i {
            _ if i < at => format!("[{i}]"),
            _ if i == at => format!("[{i}, {}]", i + 1),
            _ => format!("[{}]", i + 1),
        };
        let groups: Vec<String> = (0..rank).map(group).collect();
        let mut shape = Vec::new();
        for extent in &extents {
            let text = if extent.known { told(extent) } else { self.text.constant(extent.value) };
            shape.push(text);
        }
        let (name, groups, shape, ty) = (&of.name, groups.join(", "), shape.join(", "), of.ty());
        let text = format!(
            "memref.expand_shape {name} [{groups}] output_shape [{shape}] : {ty} into TYPE"
        );
        self.add(&text, Buffer { constant: of.constant, ..Buffer::plain("", extents) });
    }

    fn dim(&mut self) {
        let of = self.buffer();
        if of.extents.is_empty() {
            return;
        }
        let at = self.text.below(of.extents.len()) as i64;
        let at = self.text.constant(at);
        let name = self.text.named(&format!("memref.dim {}, {at} : {}", of.name, of.ty()));
        self.text.indices.push(name);
    }

    fn place(&mut self, of: &Buffer) -> String {
        let mut all = Vec::new();
        for extent in &of.extents {
            let at = self.text.below(extent.value.clamp(1, 2) as usize) as i64;
            all.push(self.text.constant(at));
        }
        all.join(", ")
    }

    fn load(&mut self) {
        let of = self.buffer();
        let at = self.place(&of);
        let name = self.text.named(&format!("memref.load {}[{at}] : {}", of.name, of.ty()));
        self.text.ints.push(name);
    }

    fn store(&mut self) {
        let of = self.buffer();
        if of.constant {
            return;
        }
        let (value, at) = (self.text.int(), self.place(&of));
        self.text.line(&format!("memref.store {value}, {}[{at}] : {}", of.name, of.ty()));
    }

    fn exchange(&mut self) {
        let of = self.buffer();
        if of.constant {
            return;
        }
        let (value, at, ty) = (self.text.int(), self.place(&of), of.ty());
        let text =
            format!("memref.atomic_rmw assign {value}, {}[{at}] : (i32, {ty}) -> i32", of.name);
        let name = self.text.named(&text);
        self.text.ints.push(name);
    }

    fn copy(&mut self) {
        let of = self.buffer();
        let fits = |to: &&Buffer| to.has(&of.extents) && !to.constant && to.name != of.name;
        let Some(to) = self.buffers.iter().rev().find(fits).cloned() else { return };
        let text = format!("memref.copy {}, {} : {} to {}", of.name, to.name, of.ty(), to.ty());
        self.text.line(&text);
    }

    fn align(&mut self) {
        let of = self.buffer();
        let bytes = [4, 8, 16][self.text.below(3)];
        let text = format!("memref.assume_alignment {}, {bytes} : TYPE", of.name);
        self.add(&text, of);
    }

    /// What a buffer consists of, and often a buffer of all that, or of some of it.
    fn metadata(&mut self) {
        let of = self.buffer();
        let (rank, all) = (of.extents.len(), self.text.fresh());
        let (sizes, strides) = match rank {
            0 => (String::new(), String::new()),
            _ => (format!(", {all}s:{rank}"), format!(", {all}t:{rank}")),
        };
        let index = ", index".repeat(1 + 2 * rank);
        self.text.line(&format!(
            "{all}b, {all}o{sizes}{strides} = memref.extract_strided_metadata {} : {} -> memref<i32>{index}",
            of.name,
            of.ty()
        ));
        self.text.indices.push(format!("{all}o"));
        if rank > 0 {
            let at = self.text.below(rank);
            self.text.indices.push(format!("{all}s#{at}"));
            // No element tells the stride of a dimension that has one.
            if of.extents[at].value > 1 {
                self.text.indices.push(format!("{all}t#{at}"));
            }
        }
        let (mut sizes, mut strides) = (Vec::new(), Vec::new());
        let mut to = Buffer { plain: false, ..of.clone() };
        for at in 0..rank {
            let other = self.text.below(8) == 0;
            let extent = &mut to.extents[at];
            sizes.push(if other { "1".into() } else { format!("{all}s#{at}") });
            *extent = if other { number(1, true) } else { number(extent.value, false) };
            strides.push(format!("{all}t#{at}"));
            to.strides[at].known = false;
        }
        to.offset.known = false;
        let (sizes, strides) = (sizes.join(", "), strides.join(", "));
        self.add(&format!("memref.reinterpret_cast {all}b to offset: [{all}o], sizes: [{sizes}], strides: [{strides}] : memref<i32> to TYPE"), to);
    }

    /// Another shape of the first elements.
    fn reinterpret(&mut self) {
        let of = self.buffer();
        let count: i64 = of.extents.iter().map(|n| n.value).product();
        if !of.plain || count < 2 {
            return;
        }
        let ((offset, start), (text, half)) = (self.operand(0), self.operand(count / 2));
        let ((two, pair), (long, row)) = (self.operand(2), self.operand(count / 2));
        let ((one, unit), name, ty) = (self.operand(1), &of.name, of.ty());
        let to = Buffer {
            extents: vec![pair, half],
            strides: vec![row, unit],
            offset: start,
            plain: false,
            ..of.clone()
        };
        self.add(&format!("memref.reinterpret_cast {name} to offset: [{offset}], sizes: [{two}, {text}], strides: [{long}, {one}] : {ty} to TYPE"), to);
    }

    fn transpose(&mut self) {
        let of = self.buffer();
        if of.extents.len() != 2 {
            return;
        }
        let mut to = Buffer { plain: false, ..of.clone() };
        to.extents.reverse();
        to.strides.reverse();
        let text =
            format!("memref.transpose {} (d0, d1) -> (d1, d0) : {} to TYPE", of.name, of.ty());
        self.add(&text, to);
    }

    fn global(&mut self) {
        let (name, extents) = match self.text.flip() {
            true => ("list", vec![number(4, true)]),
            false => ("same", vec![number(2, true), number(3, true)]),
        };
        let buffer = Buffer { constant: true, ..Buffer::plain("", extents) };
        self.add(&format!("memref.get_global @{name} : TYPE"), buffer);
    }
}
