//! The tangram command.
use tangram::{dialects, onnx};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let t = std::time::Instant::now();
    let loaded = onnx::file::open(&args[1]).unwrap();
    let t1 = t.elapsed();
    let model = onnx::import(loaded, dialects::context()).unwrap();
    let t2 = t.elapsed();
    let t3 = t.elapsed();
    model.save(&args[2], &Default::default()).unwrap();
    println!("{} load {:?} import {:?} export {:?} save {:?}", args[1], t1, t2 - t1, t3 - t2, t.elapsed() - t3);
    for w in model.warnings() { println!("  {w}"); }
}
