//! Measures the kernels that constant folding of large models leans on: `cargo run --release
//! -p tangram-tensor --example speed`. Prints gigabytes read and written per second.

use std::time::Instant;

use tangram_tensor::{DType, Tensor, elementwise, index, reduce, shape};

fn report(name: &str, bytes: usize, kernel: impl Fn() -> tangram_tensor::Result<Tensor>) {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            let made = kernel().map(|tensor| tensor.byte_len());
            let seconds = start.elapsed().as_secs_f64();
            assert!(made.is_ok(), "{name}: {made:?}");
            seconds
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name:<32} {:7.2} GB/s  {:8.1} ms", bytes as f64 / times[2] / 1e9, times[2] * 1e3);
}

fn main() -> tangram_tensor::Result<()> {
    const N: usize = 4096;
    const BYTES: usize = N * N * 4;
    let a = Tensor::from_vec([N, N], (0..N * N).map(|i| i as f32).collect())?;
    let row = Tensor::from_vec([N], vec![2f32; N])?;
    let column = Tensor::from_vec([N, 1], vec![2f32; N])?;
    let half = elementwise::cast(&a, DType::F16)?;
    let heads = a.reshaped([N, 64, 64])?;
    let order = Tensor::vector((0..N as i64).rev().collect());
    report("transpose f32", 2 * BYTES, || shape::transpose(&a, None));
    report("transpose f16", BYTES, || shape::transpose(&half, None));
    report("transpose 0,2,1", 2 * BYTES, || shape::transpose(&heads, Some(&[0, 2, 1])));
    report("transpose 1,0,2", 2 * BYTES, || shape::transpose(&heads, Some(&[1, 0, 2])));
    report("concatenate axis 1", 4 * BYTES, || shape::concatenate(&[&a, &a], 1));
    report("slice axis 1", BYTES, || shape::strided_slice(&a, &[8], &[2056], Some(&[1]), None));
    report("take rows", 2 * BYTES, || index::take(&a, &order, 0));
    report("add same shape", 3 * BYTES, || elementwise::add(&a, &a));
    report("multiply row", 2 * BYTES, || elementwise::multiply(&a, &row));
    report("multiply column", 2 * BYTES, || elementwise::multiply(&a, &column));
    report("cast f32 to f16", BYTES * 3 / 2, || elementwise::cast(&a, DType::F16));
    report("cast f16 to f32", BYTES * 3 / 2, || elementwise::cast(&half, DType::F32));
    report("cast f32 to i64", 3 * BYTES, || elementwise::cast(&a, DType::I64));
    report("exp", 2 * BYTES, || elementwise::exp(&a));
    report("sum axis 1", BYTES, || reduce::reduce(reduce::Reduce::Sum, &a, &[1], false, false));
    report("sum axis 0", BYTES, || reduce::reduce(reduce::Reduce::Sum, &a, &[0], false, false));
    Ok(())
}
