//! Recurrent layers as loops.
//!
//! The products of all inputs with their weights come first. Then one loop over the steps runs
//! around the product of the state with its weights, the gates, and the new state: the states of
//! all steps are kept, that before step `t` at `t`. Everything is computed in the type of the
//! tensors, where the kernels have `f64` between the steps.

use tangram_affine::AffineExpr;
use tangram_affine::symbolic::Expr;
use tangram_tensor::DType;
use tangram_tensor::recurrent::Activation;

use crate::nn::quant::there_and_back;
use crate::structured::{
    Binary, Comparison, Loops, ScalarId, Stage, Structured, StructuredCx, TensorRef, Unary, equal,
    scalars,
};

/// The functions that an LSTM has if none are given.
pub(super) const LSTM: [Activation; 3] = [Activation::Sigmoid, Activation::Tanh, Activation::Tanh];

/// A layer, its attributes read.
pub(super) struct Layer<'a> {
    cx: &'a StructuredCx<'a>,
    x: TensorRef,
    w: TensorRef,
    r: TensorRef,
    bias: Option<TensorRef>,
    /// How many steps each sequence of the batch has; all if absent.
    lengths: Option<TensorRef>,
    steps: Expr,
    /// The number of the last step.
    last: Expr,
    batch: Expr,
    /// The size of the state.
    hidden: i64,
    gates: i64,
    directions: usize,
    first_is_reverse: bool,
    batch_first: bool,
    clip: Option<f64>,
    /// Of each direction.
    functions: Vec<Vec<Activation>>,
    /// Whether gates are the last coordinate of the weights, not the second.
    gates_last: bool,
    /// Whether each state is quantised, and back, before its product.
    pub rounds_states: bool,
}

/// What the loop over the steps of one direction reads and writes.
struct Pass {
    direction: usize,
    is_reverse: bool,
    /// Positions, batch, gates * hidden: the weighted input, in the order of the sequence, in which
    /// it is one product of matrices.
    input: TensorRef,
    /// Steps + 1, batch, hidden: the state before each step, and after the last.
    state: TensorRef,
}

impl<'a> Layer<'a> {
    fn of(cx: &'a StructuredCx<'a>, gates: i64, usual: &[Activation]) -> Option<Layer<'a>> {
        let tensors = [cx.operand(0)?, cx.operand(1)?, cx.operand(2)?];
        Layer::new(cx, tensors, false, (gates, usual))
    }

    /// A layer whose input and weights are these tensors instead of the first operands.
    pub fn new(
        cx: &'a StructuredCx<'a>,
        [x, w, r]: [TensorRef; 3],
        gates_last: bool,
        (gates, usual): (i64, &[Activation]),
    ) -> Option<Layer<'a>> {
        let bias = if cx.has(3) { Some(cx.operand(3)?) } else { None };
        let element = x.element;
        let alike = [&w, &r].into_iter().chain(&bias).all(|tensor| tensor.element == element);
        let plain = matches!(element, DType::F32 | DType::F64);
        let lengths = if cx.has(4) { Some(cx.operand(4)?) } else { None };
        if lengths.as_ref().is_some_and(|lengths| lengths.rank() != 1) {
            return None;
        }
        if !alike || !plain || [&x, &w, &r].iter().any(|tensor| tensor.rank() != 3) {
            return None;
        }
        let attrs = cx.attrs();
        let (of_gates, of_inputs) = if gates_last { (2, 1) } else { (1, 2) };
        let hidden = r.extents[of_inputs].as_int()?;
        let (directions, first_is_reverse) = match attrs.text("direction") {
            Some("bidirectional") => (2, false),
            Some("reverse") => (1, true),
            _ => (1, false),
        };
        let fits = attrs.int("hidden_size").is_none_or(|size| size == hidden)
            && equal(&w.extents[0], &Expr::int(directions as i64))
            && equal(&r.extents[0], &Expr::int(directions as i64))
            && equal(&w.extents[of_gates], &Expr::int(gates * hidden))
            && equal(&r.extents[of_gates], &Expr::int(gates * hidden))
            && equal(&w.extents[of_inputs], &x.extents[2]);
        fits.then_some(())?;
        let numbers = |name| attrs.floats(name).unwrap_or_default();
        let names = attrs.texts("activations").unwrap_or_default();
        let (alpha, beta) = (numbers("activation_alpha"), numbers("activation_beta"));
        let given = Activation::parse_list(&names, &alpha, &beta).ok()?;
        let functions = match given.len() {
            0 => vec![usual.to_vec(); directions],
            count if count == usual.len() * directions => {
                given.chunks(usual.len()).map(<[Activation]>::to_vec).collect()
            }
            _ => return None,
        };
        let batch_first = attrs.int("layout") == Some(1);
        let (steps, batch) = if batch_first {
            (x.extents[1].clone(), x.extents[0].clone())
        } else {
            (x.extents[0].clone(), x.extents[1].clone())
        };
        let clip = attrs.float("clip").filter(|&clip| clip > 0.0);
        let last = steps.try_sub(&Expr::int(1))?;
        Some(Layer {
            cx,
            x,
            w,
            r,
            bias,
            lengths,
            steps,
            last,
            batch,
            hidden,
            gates,
            directions,
            first_is_reverse,
            batch_first,
            clip,
            functions,
            gates_last,
            rounds_states: false,
        })
    }

    fn extents(&self, steps: &Expr, width: i64) -> [Expr; 3] {
        [steps.clone(), self.batch.clone(), Expr::int(width)]
    }

    fn temporary(&self, loops: &mut Loops, width: i64) -> TensorRef {
        loops.temporary(self.x.element, &self.extents(&self.steps, width))
    }

    /// The states of all steps, the first of which operand `initial` holds, or 0.
    fn states(&self, loops: &mut Loops, direction: usize, initial: usize) -> Option<TensorRef> {
        let count = self.steps.try_add(&Expr::int(1))?;
        let states = loops.temporary(self.x.element, &self.extents(&count, self.hidden));
        let mut stage = Stage::over(&[self.batch.clone(), Expr::int(self.hidden)]);
        let (b, j) = (stage.at(0), stage.at(1));
        let value = if self.cx.has(initial) {
            let tensor = self.cx.operand(initial).filter(|tensor| tensor.rank() == 3)?;
            (tensor.element == self.x.element).then_some(())?;
            let d = stage.fixed(&Expr::int(direction as i64));
            let at = if self.batch_first { [b, d, j] } else { [d, b, j] };
            stage.load(&tensor, &at)
        } else {
            stage.constant(crate::structured::Number::Float(self.x.element, 0.0))
        };
        let first = stage.fixed(&Expr::int(0));
        loops.push(stage.store(&states, &[first, b, j], value));
        Some(states)
    }

    /// Where in the order of the sequence step `t` of a pass is.
    fn position(&self, stage: &mut Stage, is_reverse: bool, t: AffineExpr) -> AffineExpr {
        if !is_reverse {
            return t;
        }
        let back = stage.times(t, -1);
        stage.plus(back, &self.last)
    }

    /// What comes before the loop over the steps.
    fn pass(&self, loops: &mut Loops, direction: usize) -> Option<Pass> {
        let is_reverse = self.first_is_reverse != (direction == 1);
        let input = self.temporary(loops, self.gates * self.hidden);
        let mut stage = Stage::over(&input.extents);
        let inner = stage.reduce_over(&self.x.extents[2]);
        let [t, b, g, i] = [stage.at(0), stage.at(1), stage.at(2), stage.at(inner)];
        let x = stage.load(&self.x, &if self.batch_first { [b, t, i] } else { [t, b, i] });
        let d = stage.fixed(&Expr::int(direction as i64));
        let w = stage.load(&self.w, &self.weight_at(d, g, i));
        let product = stage.mul(x, w);
        loops.push(stage.store_sum(&input, product));
        let state = self.states(loops, direction, 5)?;
        Some(Pass { direction, is_reverse, input, state })
    }

    /// Where the weight of an input, or of an element of the state, in a gate stands.
    fn weight_at(&self, d: AffineExpr, gate: AffineExpr, input: AffineExpr) -> [AffineExpr; 3] {
        if self.gates_last { [d, input, gate] } else { [d, gate, input] }
    }

    /// Steps, batch, `count * hidden`: the state at the start of each step, or what stands for it,
    /// times its weights from gate `first` on.
    fn weighted(
        &self,
        loops: &mut Loops,
        pass: &Pass,
        state: &TensorRef,
        (first, count): (i64, i64),
    ) -> Option<TensorRef> {
        let rounded = if self.rounds_states {
            Some(there_and_back(loops, state, std::slice::from_ref(&self.steps))?)
        } else {
            None
        };
        let state = rounded.as_ref().unwrap_or(state);
        let out = self.temporary(loops, count * self.hidden);
        let mut stage = Stage::over(&out.extents);
        let inner = stage.reduce_over(&Expr::int(self.hidden));
        let [t, b, g, k] = [stage.at(0), stage.at(1), stage.at(2), stage.at(inner)];
        let h = stage.load(state, &[t, b, k]);
        let d = stage.fixed(&Expr::int(pass.direction as i64));
        let row = stage.plus(g, &Expr::int(first * self.hidden));
        let r = stage.load(&self.r, &self.weight_at(d, row, k));
        let product = stage.mul(h, r);
        loops.push(stage.store_sum(&out, product));
        Some(out)
    }

    /// A nest over steps, batch and state.
    fn over_state(&self) -> Stage {
        Stage::over(&self.extents(&self.steps, self.hidden))
    }

    /// Element `gate * hidden + j` of a tensor of steps, batch and gates.
    fn of_gate(&self, stage: &mut Stage, tensor: &TensorRef, gate: i64) -> ScalarId {
        let [t, b, j] = [stage.at(0), stage.at(1), stage.at(2)];
        let j = stage.plus(j, &Expr::int(gate * self.hidden));
        stage.load(tensor, &[t, b, j])
    }

    /// `x` and one of its biases: those of the input come before those of the state.
    fn biased(&self, stage: &mut Stage, pass: &Pass, x: ScalarId, number: i64) -> ScalarId {
        let Some(bias) = &self.bias else { return x };
        let j = stage.at(2);
        let (d, j) = (
            stage.fixed(&Expr::int(pass.direction as i64)),
            stage.plus(j, &Expr::int(number * self.hidden)),
        );
        let bias = stage.load(bias, &[d, j]);
        stage.add(x, bias)
    }

    /// What the input gives to a gate in each step.
    fn of_input(&self, stage: &mut Stage, pass: &Pass, gate: i64) -> ScalarId {
        let [t, b, j] = [stage.at(0), stage.at(1), stage.at(2)];
        let t = self.position(stage, pass.is_reverse, t);
        let j = stage.plus(j, &Expr::int(gate * self.hidden));
        stage.load(&pass.input, &[t, b, j])
    }

    /// The sum of what the input and the state give to a gate; `place` is the gate's in `state`.
    fn sum(
        &self,
        stage: &mut Stage,
        pass: &Pass,
        (state, place): (&TensorRef, i64),
        gate: i64,
    ) -> ScalarId {
        let input = self.of_input(stage, pass, gate);
        let input = self.biased(stage, pass, input, gate);
        let own = self.of_gate(stage, state, place);
        let own = self.biased(stage, pass, own, self.gates + gate);
        stage.add(input, own)
    }

    /// A function of a gate, whose argument is bounded.
    fn gate(&self, stage: &mut Stage, pass: &Pass, function: usize, x: ScalarId) -> ScalarId {
        let x = match self.clip {
            None => x,
            Some(clip) => {
                let (low, high) = (stage.number(x, -clip), stage.number(x, clip));
                let x = stage.binary(Binary::Max, x, low);
                stage.binary(Binary::Min, x, high)
            }
        };
        applied(stage, self.functions[pass.direction][function], x)
    }

    /// Whether the sequence has the position of a step; nothing if all have every one.
    fn is_within(&self, stage: &mut Stage, pass: &Pass) -> Option<ScalarId> {
        let lengths = self.lengths.as_ref()?;
        let b = stage.at(1);
        let length = stage.load_exact(lengths, &[b]);
        let (length, step) = (stage.cast(DType::I64, length), stage.index(0));
        let position = if pass.is_reverse {
            let last = stage.extent(&self.last);
            stage.sub(last, step)
        } else {
            step
        };
        Some(stage.compare(Comparison::Lt, position, length))
    }

    /// Stores a value of each step as the state after it; beyond the end of a sequence it stays, so
    /// that a pass in reverse begins with the last element.
    fn keep(
        &self,
        loops: &mut Loops,
        pass: &Pass,
        states: &TensorRef,
        mut stage: Stage,
        value: ScalarId,
    ) {
        let [t, b, j] = [stage.at(0), stage.at(1), stage.at(2)];
        let Some(within) = self.is_within(&mut stage, pass) else {
            let next = stage.plus(t, &Expr::int(1));
            loops.push(stage.store(states, &[next, b, j], value));
            return;
        };
        // A nest does not read what it writes.
        let before = stage.load(states, &[t, b, j]);
        let value = stage.select(within, value, before);
        let chosen = self.temporary(loops, self.hidden);
        loops.push(stage.store(&chosen, &[t, b, j], value));
        let mut stage = self.over_state();
        let [t, b, j] = [stage.at(0), stage.at(1), stage.at(2)];
        let (value, next) = (stage.load(&chosen, &[t, b, j]), stage.plus(t, &Expr::int(1)));
        loops.push(stage.store(states, &[next, b, j], value));
    }

    /// Copies a value of each step to the states after it.
    fn copy(&self, loops: &mut Loops, pass: &Pass, from: &TensorRef, states: &TensorRef) {
        let mut stage = self.over_state();
        let at = stage.all(0..3);
        let value = stage.load(from, &at);
        self.keep(loops, pass, states, stage, value);
    }

    /// Writes the states after all steps to the first result.
    fn all_states(&self, loops: &mut Loops, pass: &Pass) -> Option<()> {
        let out = self.cx.result(0)?;
        let mut stage = self.over_state();
        let [t, b, j] = [stage.at(0), stage.at(1), stage.at(2)];
        let next = stage.plus(t, &Expr::int(1));
        let mut value = stage.load(&pass.state, &[next, b, j]);
        if let Some(within) = self.is_within(&mut stage, pass) {
            let zero = stage.number(value, 0.0);
            value = stage.select(within, value, zero);
        }
        let t = self.position(&mut stage, pass.is_reverse, t);
        let d = stage.fixed(&Expr::int(pass.direction as i64));
        let at = if self.batch_first { [b, t, d, j] } else { [t, d, b, j] };
        loops.push(stage.store(&out, &at, value));
        Some(())
    }

    /// Writes the states after the last step to a result, if it is wanted.
    fn last_state(
        &self,
        loops: &mut Loops,
        pass: &Pass,
        states: &TensorRef,
        result: usize,
    ) -> Option<()> {
        if result >= self.cx.result_count() {
            return Some(());
        }
        let out = self.cx.result(result)?;
        let mut stage = Stage::over(&[self.batch.clone(), Expr::int(self.hidden)]);
        let (b, j, last) = (stage.at(0), stage.at(1), stage.fixed(&self.steps));
        let value = stage.load(states, &[last, b, j]);
        let d = stage.fixed(&Expr::int(pass.direction as i64));
        loops.push(stage.store(&out, &if self.batch_first { [b, d, j] } else { [d, b, j] }, value));
        Some(())
    }
}

/// A function of a gate.
fn applied(s: &mut Stage, function: Activation, x: ScalarId) -> ScalarId {
    match function {
        Activation::Relu => scalars::relu(s, x),
        Activation::Tanh => s.unary(Unary::Tanh, x),
        Activation::Sigmoid => s.unary(Unary::Sigmoid, x),
        Activation::Affine { alpha, beta } => {
            let (alpha, beta) = (s.number(x, alpha), s.number(x, beta));
            let scaled = s.mul(alpha, x);
            s.add(scaled, beta)
        }
        Activation::LeakyRelu { alpha } => scalars::leaky_relu(s, x, alpha),
        Activation::ThresholdedRelu { alpha } => scalars::thresholded_relu(s, x, alpha),
        Activation::ScaledTanh { alpha, beta } => {
            let (alpha, beta) = (s.number(x, alpha), s.number(x, beta));
            let scaled = s.mul(beta, x);
            let value = s.unary(Unary::Tanh, scaled);
            s.mul(alpha, value)
        }
        Activation::HardSigmoid { alpha, beta } => {
            let (alpha, beta) = (s.number(x, alpha), s.number(x, beta));
            let scaled = s.mul(alpha, x);
            let line = s.add(scaled, beta);
            let (zero, one) = (s.number(x, 0.0), s.number(x, 1.0));
            let above = s.binary(Binary::Max, line, zero);
            s.binary(Binary::Min, above, one)
        }
        Activation::Elu { alpha } => scalars::elu(s, x, alpha),
        Activation::Softsign => {
            let (one, size) = (s.number(x, 1.0), s.unary(Unary::Abs, x));
            let below = s.add(one, size);
            s.div(x, below)
        }
        Activation::Softplus => {
            let (zero, size) = (s.number(x, 0.0), s.unary(Unary::Abs, x));
            let negative = s.unary(Unary::Neg, size);
            let power = s.unary(Unary::Exp, negative);
            let low = s.unary(Unary::Log1p, power);
            let above = s.binary(Binary::Max, x, zero);
            s.add(above, low)
        }
    }
}

/// `C = f * C + i * g(c)`, `h = o * h(C)`, gates in the order `i`, `o`, `f`, `c`.
pub(super) fn lstm(cx: &StructuredCx<'_>) -> Option<Structured> {
    let layer = Layer::of(cx, 4, &LSTM)?;
    lstm_of(cx, &layer, Loops::default())
}

/// An LSTM behind `loops`.
pub(super) fn lstm_of(
    cx: &StructuredCx<'_>,
    layer: &Layer<'_>,
    mut loops: Loops,
) -> Option<Structured> {
    let peepholes = if cx.has(7) { Some(cx.operand(7)?) } else { None };
    let coupled = cx.attrs().flag("input_forget");
    for direction in 0..layer.directions {
        let pass = layer.pass(&mut loops, direction)?;
        let cells = layer.states(&mut loops, direction, 6)?;
        // A gate that sees the cells through a peephole.
        let seeing = |s: &mut Stage, sum: ScalarId, cell: ScalarId, number: i64| {
            let Some(peepholes) = &peepholes else { return sum };
            let j = s.at(2);
            let (d, j) = (
                s.fixed(&Expr::int(direction as i64)),
                s.plus(j, &Expr::int(number * layer.hidden)),
            );
            let weight = s.load(peepholes, &[d, j]);
            let seen = s.mul(weight, cell);
            s.add(sum, seen)
        };
        loops.recurrent(|loops| {
            let state = layer.weighted(loops, &pass, &pass.state, (0, 4))?;
            let new = layer.temporary(loops, layer.hidden);

            let mut s = layer.over_state();
            let at = s.all(0..3);
            let old = s.load(&cells, &at);
            let sum = layer.sum(&mut s, &pass, (&state, 0), 0);
            let sum = seeing(&mut s, sum, old, 0);
            let input = layer.gate(&mut s, &pass, 0, sum);
            let forget = if coupled {
                let one = s.number(input, 1.0);
                s.sub(one, input)
            } else {
                let sum = layer.sum(&mut s, &pass, (&state, 2), 2);
                let sum = seeing(&mut s, sum, old, 2);
                layer.gate(&mut s, &pass, 0, sum)
            };
            let sum = layer.sum(&mut s, &pass, (&state, 3), 3);
            let cell = layer.gate(&mut s, &pass, 1, sum);
            let (kept, added) = (s.mul(forget, old), s.mul(input, cell));
            let value = s.add(kept, added);
            loops.push(s.store(&new, &at, value));

            let mut s = layer.over_state();
            let at = s.all(0..3);
            let cell = s.load(&new, &at);
            let sum = layer.sum(&mut s, &pass, (&state, 1), 1);
            let sum = seeing(&mut s, sum, cell, 1);
            let output = layer.gate(&mut s, &pass, 0, sum);
            let shown = applied(&mut s, layer.functions[direction][2], cell);
            let value = s.mul(output, shown);
            layer.keep(loops, &pass, &pass.state, s, value);
            layer.copy(loops, &pass, &new, &cells);
            Some(())
        })?;
        layer.all_states(&mut loops, &pass)?;
        layer.last_state(&mut loops, &pass, &pass.state, 1)?;
        layer.last_state(&mut loops, &pass, &cells, 2)?;
    }
    Some(loops.finish())
}

/// `h = (1 - z) * g(h~) + z * h`, gates in the order `z` (update), `r` (reset), `h`.
pub(super) fn gru(cx: &StructuredCx<'_>) -> Option<Structured> {
    let layer = Layer::of(cx, 3, &[Activation::Sigmoid, Activation::Tanh])?;
    let after = cx.attrs().flag("linear_before_reset");
    let mut loops = Loops::default();
    for direction in 0..layer.directions {
        let pass = layer.pass(&mut loops, direction)?;
        loops.recurrent(|loops| {
            let count = if after { 3 } else { 2 };
            let state = layer.weighted(loops, &pass, &pass.state, (0, count))?;
            let candidate = if after {
                None
            } else {
                // The reset gate applies to the state before its weights do.
                let reset = layer.temporary(loops, layer.hidden);
                let mut s = layer.over_state();
                let at = s.all(0..3);
                let sum = layer.sum(&mut s, &pass, (&state, 1), 1);
                let gate = layer.gate(&mut s, &pass, 0, sum);
                let old = s.load(&pass.state, &at);
                let value = s.mul(gate, old);
                loops.push(s.store(&reset, &at, value));
                Some(layer.weighted(loops, &pass, &reset, (2, 1))?)
            };
            let new = layer.temporary(loops, layer.hidden);
            let mut s = layer.over_state();
            let at = s.all(0..3);
            let sum = match &candidate {
                Some(candidate) => layer.sum(&mut s, &pass, (candidate, 0), 2),
                None => {
                    let sum = layer.sum(&mut s, &pass, (&state, 1), 1);
                    let reset = layer.gate(&mut s, &pass, 0, sum);
                    let own = layer.of_gate(&mut s, &state, 2);
                    let own = layer.biased(&mut s, &pass, own, 3 + 2);
                    let own = s.mul(reset, own);
                    let input = layer.of_input(&mut s, &pass, 2);
                    let input = layer.biased(&mut s, &pass, input, 2);
                    s.add(input, own)
                }
            };
            let made = layer.gate(&mut s, &pass, 1, sum);
            let sum = layer.sum(&mut s, &pass, (&state, 0), 0);
            let update = layer.gate(&mut s, &pass, 0, sum);
            let one = s.number(update, 1.0);
            let share = s.sub(one, update);
            let old = s.load(&pass.state, &at);
            let (made, kept) = (s.mul(share, made), s.mul(update, old));
            let value = s.add(made, kept);
            loops.push(s.store(&new, &at, value));
            layer.copy(loops, &pass, &new, &pass.state);
            Some(())
        })?;
        layer.all_states(&mut loops, &pass)?;
        layer.last_state(&mut loops, &pass, &pass.state, 1)?;
    }
    Some(loops.finish())
}

/// `h = f(W x + R h)`.
pub(super) fn rnn(cx: &StructuredCx<'_>) -> Option<Structured> {
    let layer = Layer::of(cx, 1, &[Activation::Tanh])?;
    let mut loops = Loops::default();
    for direction in 0..layer.directions {
        let pass = layer.pass(&mut loops, direction)?;
        loops.recurrent(|loops| {
            let state = layer.weighted(loops, &pass, &pass.state, (0, 1))?;
            let mut s = layer.over_state();
            let sum = layer.sum(&mut s, &pass, (&state, 0), 0);
            let value = layer.gate(&mut s, &pass, 0, sum);
            layer.keep(loops, &pass, &pass.state, s, value);
            Some(())
        })?;
        layer.all_states(&mut loops, &pass)?;
        layer.last_state(&mut loops, &pass, &pass.state, 1)?;
    }
    Some(loops.finish())
}
