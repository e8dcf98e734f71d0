//! The example models, compiled and on the reference kernels: the same results for several sizes.

use std::path::{Path, PathBuf};

use tangram_affine::symbolic::Expr;
use tangram_dialects::interpret::Datum;
use tangram_native::{Kind, Options, Session};
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

#[test]
fn compiled_models_agree_with_the_reference_kernels() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("examples")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "onnx"))
        .collect();
    paths.sort();
    let mut generator = fastrand::Rng::with_seed(3);
    let (mut calls, mut runs) = (0, 0);
    for path in &paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (compiled, reference) = (session(path, false), session(path, true));
        calls += compiled.coverage().calls;
        for size in [1, 2, 5, 17] {
            let tensors: Option<Vec<(&str, Datum)>> = compiled
                .inputs()
                .iter()
                .map(|port| {
                    let Kind::Tensor { element, shape } = &port.kind else { return None };
                    let known = |extent: &Option<Expr>| extent.as_ref().and_then(Expr::as_int);
                    let extents: Vec<usize> = shape
                        .as_ref()?
                        .iter()
                        .map(|extent| known(extent).map_or(size, |extent| extent as usize))
                        .collect();
                    let tensor = random((*element)?, &extents, &mut generator)?;
                    Some((port.name.as_str(), Datum::Tensor(tensor)))
                })
                .collect();
            let Some(inputs) = tensors else { continue };
            let Ok(expected) = reference.run(&inputs) else { continue };
            let found = compiled.run(&inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(found.len(), expected.len(), "{name}");
            for (found, expected) in found.iter().zip(&expected) {
                compare(&format!("{name}, size {size}"), found, expected);
            }
            runs += 1;
        }
    }
    assert!(calls > 150 && runs > 20, "{calls} compiled functions, {runs} runs");
}
