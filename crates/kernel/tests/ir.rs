//! Kernels as IR: valid, read back from their text, and with the bits of the definition.

use std::cell::RefCell;
use std::rc::Rc;

use tangram_dialects::mlir::run::{Datum, Elements, run};
use tangram_ir::{Module, text, verify};
use tangram_kernel::{Body, Element, Op, Panels, Program, RegisterTile, Role, StepError};
use tangram_machine::{Isa, Machine};

/// More operations than any run here takes.
const BUDGET: u64 = 10_000_000;

fn buffer(data: Vec<Datum>) -> Datum {
    let extents = vec![data.len() as i64];
    Datum::Buffer(Rc::new(RefCell::new(Elements { extents, data })))
}

fn contents(datum: &Datum) -> Vec<Datum> {
    let Datum::Buffer(elements) = datum else { panic!("a buffer") };
    elements.borrow().data.clone()
}

fn int(value: usize) -> Datum {
    Datum::Int(value as i128)
}

fn ints(values: &[usize]) -> Datum {
    buffer(values.iter().map(|&value| int(value)).collect())
}

/// A product in IR, which its text says too.
fn module(program: &Program, element: Element, panel: usize) -> Module {
    let mut module = Module::new(tangram_dialects::context());
    program.to_ir(&mut module, "tile", element, panel).expect("a kernel");
    verify(&module).expect("valid");
    let printed = text::print(&module);
    let again = text::parse(&printed, "tile.mlir", module.context_arc().clone()).expect("a text");
    verify(&again).expect("valid");
    assert_eq!(text::print(&again), printed);
    again
}

fn run_it(module: &Module, arguments: &[Datum]) {
    let function = module.first_op(module.body()).expect("a function");
    run(module, function, arguments, BUDGET).expect("runs");
}

/// Where the elements of a product lie: rows in several runs, and one panel or more.
struct Layout {
    segments: Vec<usize>,
    depth: usize,
    step: usize,
    rows: Vec<usize>,
    panel: usize,
    panels: usize,
}

impl Layout {
    fn random(rng: &mut fastrand::Rng, tile: &RegisterTile, panels: usize) -> Layout {
        let segments = (0..rng.usize(1..4)).map(|_| rng.usize(..40)).collect();
        let rows = (0..tile.rows).map(|_| rng.usize(..30)).collect();
        let (depth, step) = (rng.usize(..6), rng.usize(1..4));
        Layout { segments, depth, step, rows, panel: tile.columns() / panels, panels }
    }

    fn iterations(&self) -> usize {
        self.segments.len() * self.depth
    }

    /// The elements of rows, as far as any is read.
    fn row_elements(&self) -> usize {
        40 + 30 + 6 * 4
    }

    fn arguments(&self, rows: Datum, columns: Datum, tile: &Datum) -> Vec<Datum> {
        let mut all = Vec::new();
        if self.panels > 1 {
            all.push(int(self.iterations() * self.panel));
        }
        all.extend([int(self.segments.len()), ints(&self.segments)]);
        all.extend([int(self.depth), int(self.step), rows, ints(&self.rows)]);
        all.extend([columns.clone(), columns, tile.clone()]);
        all
    }

    /// For each element and iteration, the places of the row's and of the column's number.
    fn places(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let columns = self.panel * self.panels;
        let elements = (0..self.rows.len() * columns).map(move |at| (at / columns, at % columns));
        elements.enumerate().flat_map(move |(at, (row, column))| {
            (0..self.iterations()).map(move |p| {
                let (q, k) = (p / self.depth, p % self.depth);
                let left = self.segments[q] + self.rows[row] + k * self.step;
                let apart = self.iterations() * self.panel;
                let right = column / self.panel * apart + p * self.panel + column % self.panel;
                (at, left, right)
            })
        })
    }
}

fn special(rng: &mut fastrand::Rng) -> f32 {
    match rng.u8(..24) {
        0 => 0.0,
        1 => -0.0,
        2 => f32::INFINITY,
        3 => f32::NAN,
        4 => 1e-42,
        5 => 3e38,
        _ => rng.f32() * 4.0 - 2.0,
    }
}

/// Each register tile of a machine, with as many panels at once.
fn tiles(element: Element) -> Vec<(RegisterTile, usize)> {
    let mut all = Vec::new();
    for isa in [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon] {
        let tile = RegisterTile::of(&Machine::of(isa), element, &Body::product());
        all.extend([1, 2, tile.rows].map(|rows| (RegisterTile { rows, ..tile }, 1)));
        let wide = RegisterTile { rows: 1, vectors: 2 * tile.vectors, ..tile };
        all.push((wide, 2));
    }
    all
}

#[test]
fn products_of_floats_have_the_bits_of_the_definition() {
    let mut rng = fastrand::Rng::with_seed(3);
    for (tile, panels) in tiles(Element::F32) {
        let layout = Layout::random(&mut rng, &tile, panels);
        let program = Program::for_tile(&Body::product(), &tile).expect("a program");
        let module = module(&program, Element::F32, layout.panel);
        let rows: Vec<f32> = (0..layout.row_elements()).map(|_| special(&mut rng)).collect();
        let columns = layout.iterations() * tile.columns();
        let columns: Vec<f32> = (0..columns).map(|_| special(&mut rng)).collect();
        let mut expected = vec![0.0_f32; tile.rows * tile.columns()];
        for (at, left, right) in layout.places() {
            expected[at] += rows[left] * columns[right];
        }
        let floats = |values: &[f32]| values.iter().map(|&v| Datum::Float(v.into())).collect();
        // What was in the tile is not read.
        let result = buffer(vec![Datum::Float(7.0); expected.len()]);
        let operands = [buffer(floats(&rows)), buffer(floats(&columns))];
        let [rows, columns] = operands;
        run_it(&module, &layout.arguments(rows, columns, &result));
        assert_eq!(contents(&result), floats(&expected), "{tile:?} {panels}");
    }
}

#[test]
fn products_of_pairs_wrap_around_as_integers_of_32_bits_do() {
    let mut rng = fastrand::Rng::with_seed(5);
    for element in [Element::Pairs, Element::PairsOfBytes] {
        for (tile, panels) in tiles(element) {
            let layout = Layout::random(&mut rng, &tile, panels);
            let program = Program::for_tile(&Body::product(), &tile).expect("a program");
            let module = module(&program, element, layout.panel);
            // The least numbers of all are those whose products do not fit.
            let mut half = || if rng.u8(..4) == 0 { i16::MIN } else { rng.i16(..) };
            let rows: Vec<[i16; 2]> =
                (0..layout.row_elements()).map(|_| [half(), half()]).collect();
            let bytes = element == Element::PairsOfBytes;
            let count = layout.iterations() * tile.columns();
            let mut number = || if bytes { i16::from(half() as i8) } else { half() };
            let columns: Vec<[i16; 2]> = (0..count).map(|_| [number(), number()]).collect();
            let mut expected = vec![0_i32; tile.rows * tile.columns()];
            for (at, left, right) in layout.places() {
                for (a, b) in rows[left].into_iter().zip(columns[right]) {
                    expected[at] = expected[at].wrapping_add(i32::from(a) * i32::from(b));
                }
            }
            let wide = |[low, high]: [i16; 2]| {
                Datum::Int(i128::from(i32::from(high) << 16 | i32::from(low) & 0xffff))
            };
            let narrow = |[low, high]: [i16; 2]| {
                let bytes = [low as u8, high as u8];
                Datum::Int(i128::from(i16::from_le_bytes(bytes)))
            };
            let column = |pair: &[i16; 2]| if bytes { narrow(*pair) } else { wide(*pair) };
            let result = buffer(vec![Datum::Int(7); expected.len()]);
            let columns = buffer(columns.iter().map(column).collect());
            let rows = buffer(rows.into_iter().map(wide).collect());
            run_it(&module, &layout.arguments(rows, columns, &result));
            let expected = expected.into_iter().map(|sum| Datum::Int(sum.into()));
            let expected: Vec<Datum> = expected.collect();
            assert_eq!(contents(&result), expected, "{element:?} {tile:?} {panels}");
        }
    }
}

/// Expressions of several operands: as the program that they are made of, in 64 bits.
#[test]
fn other_bodies_have_the_bits_of_their_programs() {
    let [a, b, c, d] = [0, 1, 2, 3].map(Op::Operand);
    let roles = vec![Role::Row, Role::Column, Role::Scalar, Role::Column];
    let ops = vec![a, b, Op::Mul, c, Op::Sub, Op::Neg, d, Op::Div];
    let mut rng = fastrand::Rng::with_seed(9);
    for subtracts in [false, true] {
        let body = Body::new(roles.clone(), ops.clone(), subtracts).expect("a body");
        let tile = RegisterTile { rows: 3, vectors: 2, width: 4 };
        let program = Program::for_tile(&body, &tile).expect("a program");
        let depth = 5;
        let counts = [depth * 3, depth * 8, 1, depth * 8];
        let mut values = |count: usize| (0..count).map(|_| rng.f64() - 0.5).collect::<Vec<f64>>();
        let panels = Panels { depth, operands: counts.map(&mut values).to_vec() };
        let mut expected = vec![0.0; tile.rows * tile.columns()];
        program.run(&panels, &mut expected);
        let floats = |values: &[f64]| values.iter().map(|&v| Datum::Float(v)).collect();
        let [x, y, z] = [0, 1, 3].map(|at| buffer(floats(&panels.operands[at])));
        let scalar = Datum::Float(panels.operands[2][0]);
        let result = buffer(floats(&vec![7.0; expected.len()]));
        let arguments = [
            int(1),
            ints(&[0]),
            int(depth),
            int(3),
            x,
            ints(&[0, 1, 2]),
            y.clone(),
            scalar,
            z,
            y,
            result.clone(),
        ];
        run_it(&module(&program, Element::F64, tile.columns()), &arguments);
        assert_eq!(contents(&result), floats(&expected));
    }
}

/// Whole tiles of packed panels, which start from what is in memory.
#[test]
fn packed_panels_have_the_bits_of_their_programs() {
    let [a, b, c, d] = [0, 1, 2, 3].map(Op::Operand);
    let roles = vec![Role::Row, Role::Column, Role::Scalar, Role::Row];
    let ops = vec![a, b, Op::Add, c, Op::Div, Op::Neg, d, Op::Mul];
    let other = Body::new(roles, ops, true).expect("a body");
    let mut rng = fastrand::Rng::with_seed(15);
    for (body, width) in
        [(Body::product(), 1), (Body::product(), 4), (other.clone(), 1), (other, 4)]
    {
        let tile = RegisterTile { rows: 3, vectors: 2, width };
        let columns = tile.columns();
        let program = Program::for_tile(&body, &tile).expect("a program");
        let mut module = Module::new(tangram_dialects::context());
        program.to_packed_ir(&mut module, "tile", Element::F64).expect("a kernel");
        verify(&module).expect("valid");
        let depth = rng.usize(..6);
        let count = |role: &Role| match role {
            Role::Row => depth * 3,
            Role::Column => depth * columns,
            Role::Scalar => 1,
        };
        let operands = body.roles().iter().map(count);
        let mut values = |count: usize| (0..count).map(|_| rng.f64() - 0.5).collect::<Vec<f64>>();
        let panels = Panels { depth, operands: operands.map(&mut values).collect() };
        let mut expected = values(tile.rows * columns);
        let floats = |values: &[f64]| values.iter().map(|&v| Datum::Float(v)).collect();
        let rows: Vec<Datum> = expected.chunks(columns).map(|row| buffer(floats(row))).collect();
        program.run(&panels, &mut expected);
        let mut arguments = vec![int(depth)];
        for (panel, role) in panels.operands.iter().zip(body.roles()) {
            arguments.push(match role {
                Role::Scalar => Datum::Float(panel[0]),
                _ => buffer(floats(panel)),
            });
        }
        arguments.push(buffer(rows.clone()));
        run_it(&module, &arguments);
        let found: Vec<Datum> = rows.iter().flat_map(contents).collect();
        assert_eq!(found, floats(&expected), "{body:?} {width}");
    }
}

#[test]
fn programs_without_a_form_in_ir_are_refused() {
    let mut module = Module::new(tangram_dialects::context());
    let unrolled = Program::unrolled(&Body::product(), 2, 4);
    let memory = unrolled.to_ir(&mut module, "tile", Element::F32, 4);
    assert_eq!(memory, Err(StepError::Memory));
    let roles = vec![Role::Row, Role::Column];
    let sum = Body::new(roles, vec![Op::Operand(0), Op::Operand(1), Op::Add], false);
    let tile = RegisterTile { rows: 2, vectors: 1, width: 4 };
    let program = Program::for_tile(&sum.expect("a body"), &tile).expect("a program");
    let pairs = program.to_ir(&mut module, "tile", Element::Pairs, 4);
    assert_eq!(pairs, Err(StepError::Pairs));
}
