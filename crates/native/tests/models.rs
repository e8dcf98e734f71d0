//! The example models, compiled and on the reference kernels: the same results for several sizes.

use std::path::{Path, PathBuf};

use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::Datum;
use tangram_machine::{Isa, Machine};
use tangram_native::{Kind, Options, Port, Session};
use tangram_tensor::{DType, Tensor};

/// What sums in another order may change, over the largest magnitude of a tensor.
const TOLERANCE: f64 = 2e-5;

fn session(path: &Path, interpret: bool) -> Session {
    let mut options = Options::default();
    options.interpret = interpret;
    let loaded = tangram_onnx::file::open(path).expect("an example is read");
    let model = tangram_onnx::import(loaded, tangram_dialects::context()).expect("and imported");
    Session::new(model, &options).expect("and made a session")
}

/// Random elements of a type, small enough for an index.
fn random(element: DType, extents: &[usize], random: &mut fastrand::Rng) -> Option<Tensor> {
    let count = extents.iter().product();
    let mut fill = |most: f64| -> Vec<f64> { (0..count).map(|_| random.f64() * most).collect() };
    let tensor = match element {
        DType::F32 => Tensor::from_vec(
            extents,
            fill(2.0).iter().map(|value| (value - 1.0) as f32).collect::<Vec<f32>>(),
        ),
        DType::I64 => Tensor::from_vec(
            extents,
            fill(4.0).iter().map(|value| *value as i64).collect::<Vec<i64>>(),
        ),
        DType::I32 => Tensor::from_vec(
            extents,
            fill(4.0).iter().map(|value| *value as i32).collect::<Vec<i32>>(),
        ),
        DType::Bool => Tensor::from_vec(
            extents,
            fill(2.0).iter().map(|value| *value < 1.0).collect::<Vec<bool>>(),
        ),
        _ => return None,
    };
    tensor.ok()
}

fn compare(name: &str, found: &Datum, expected: &Datum) {
    let (Datum::Tensor(found), Datum::Tensor(expected)) = (found, expected) else {
        assert_eq!(found, expected, "{name}");
        return;
    };
    let shape = |tensor: &Tensor| (tensor.dtype(), tensor.shape().to_vec());
    assert_eq!(shape(found), shape(expected), "{name}");
    let (Ok(found), Ok(expected)) = (found.f64s(), expected.f64s()) else { return };
    let largest = expected.iter().fold(1.0_f64, |most, value| most.max(value.abs()));
    for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let same = found == expected || (found.is_nan() && expected.is_nan());
        assert!(
            same || (found - expected).abs() <= TOLERANCE * largest,
            "{name}, element {at}: {found} for {expected}"
        );
    }
}

/// The example models, in the order of their names.
fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("examples")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "onnx"))
        .collect();
    paths.sort();
    paths
}

/// Random inputs of a session, whose open extents are `size`; nothing for an input of another kind.
fn inputs<'a>(
    session: &'a Session,
    size: usize,
    generator: &mut fastrand::Rng,
) -> Option<Vec<(&'a str, Datum)>> {
    let ports = session.inputs().iter();
    let one = |port: &'a Port| {
        let Kind::Tensor { element, shape } = &port.kind else { return None };
        let known = |extent: &Option<Expr>| extent.as_ref().and_then(Expr::as_int);
        let extents: Vec<usize> = shape
            .as_ref()?
            .iter()
            .map(|extent| known(extent).map_or(size, |extent| extent as usize))
            .collect();
        let tensor = random((*element)?, &extents, generator)?;
        Some((port.name.as_str(), Datum::Tensor(tensor)))
    };
    ports.map(one).collect()
}

#[test]
fn compiled_models_agree_with_the_reference_kernels() {
    let mut generator = fastrand::Rng::with_seed(3);
    let (mut calls, mut runs) = (0, 0);
    for path in &examples() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (compiled, reference) = (session(path, false), session(path, true));
        calls += compiled.coverage().calls;
        for size in [1, 2, 5, 17] {
            let Some(inputs) = inputs(&compiled, size, &mut generator) else { continue };
            let Ok(expected) = reference.run(&inputs) else { continue };
            let found = compiled.run(&inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(found.len(), expected.len(), "{name}");
            for (found, expected) in found.iter().zip(&expected) {
                compare(&format!("{name}, size {size}"), found, expected);
            }
            runs += 1;
        }
    }
    assert!(calls > 100 && runs > 20, "{calls} compiled functions, {runs} runs");
}

/// Whether a C compiler starts.
fn starts(compiler: &str) -> bool {
    let mut command = std::process::Command::new(compiler);
    command.arg("--version").output().is_ok_and(|output| output.status.success())
}

/// What `--exact` promises: one order of each sum, and no rounding less, on every machine, for any
/// number of threads and by every compiler.
#[test]
fn exact_results_are_the_same_bits_with_vectors_and_threads() {
    let ways = [(Machine::of(Isa::Scalar), "cc", 1), (Machine::native(), "cc", 3)];
    exact_results_are_the_same_bits(&ways);
}

#[test]
#[ignore = "each example is compiled for each machine, a minute"]
fn exact_results_are_the_same_bits_everywhere() {
    let native = Machine::native();
    let mut ways = Vec::new();
    for isa in [Isa::Scalar, Isa::Sse2, Isa::Avx2, Isa::Avx512, Isa::Neon] {
        if isa.runs_on(native.isa) {
            ways.push((Machine::of(isa), "cc", 1));
        }
    }
    ways.push((native.clone(), "cc", 3));
    ways.extend(starts("clang").then_some((native, "clang", 1)));
    exact_results_are_the_same_bits(&ways);
}

fn exact_results_are_the_same_bits(ways: &[(Machine, &str, usize)]) {
    let mut generator = fastrand::Rng::with_seed(11);
    let mut runs = 0;
    for path in &examples() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let session = |(machine, compiler, threads): &(Machine, &str, usize)| {
            let mut options = Options::default();
            options.exact = true;
            options.grain = 1;
            options.machine = machine.clone();
            options.compiler = Some((*compiler).to_owned());
            options.threads = *threads;
            let loaded = tangram_onnx::file::open(path).expect("an example is read");
            let model = tangram_onnx::import(loaded, tangram_dialects::context());
            Session::new(model.expect("and imported"), &options).expect("and made a session")
        };
        let sessions: Vec<Session> = ways.iter().map(session).collect();
        for size in [1, 5, 33] {
            let Some(inputs) = inputs(&sessions[0], size, &mut generator) else { continue };
            let Ok(expected) = sessions[0].run(&inputs) else { continue };
            for (session, (machine, compiler, threads)) in sessions.iter().zip(ways).skip(1) {
                let found = session.run(&inputs).expect("it runs");
                let same = found.iter().zip(&expected).all(|pair| match pair {
                    (Datum::Tensor(found), Datum::Tensor(expected)) => {
                        found.bytes() == expected.bytes()
                    }
                    (found, expected) => found == expected,
                });
                let isa = machine.isa;
                assert!(same, "{name}, size {size}: {isa:?}, {compiler}, {threads} threads");
            }
            runs += 1;
        }
    }
    assert!(runs > 15, "{runs} runs");
}

/// A process that runs an instruction which the processor has not ends without a word.
#[test]
fn code_for_a_wider_processor_is_refused() {
    let path = &examples()[0];
    for isa in [Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| !isa.runs_on(Isa::native())) {
        let mut options = Options::default();
        options.machine = Machine::of(isa);
        let loaded = tangram_onnx::file::open(path).expect("an example is read");
        let model = tangram_onnx::import(loaded, tangram_dialects::context()).expect("imported");
        let refused = Session::new(model, &options).err().map(|error| error.to_string());
        let expected = format!("code for {isa} does not run on this processor");
        assert!(refused.as_ref().is_some_and(|text| text.contains(&expected)), "{refused:?}");
    }
}
