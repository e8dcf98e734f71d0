//! CUDA kernels, compiled as C in which loops take the place of blocks and threads, and
//! compared with the interpreter of the same code.

use std::fmt::Write;
use std::process::Command;

use tangram_polyhedral::ast::{Ast, AstOptions, CStyle, Launch};
use tangram_polyhedral::transform::Editor;
use tangram_polyhedral::{Error, Node, NodeKind, ScheduleTree};
use tangram_presburger::{Budget, Union};

const TREE: &str = "domain: \"[N, M] -> { S[i, j, k] : 0 <= i < N and 0 <= j < M and 0 <= k < 3 }\"
child:
  schedule: \"[{ S[i, j, k] -> [(i)] }, { S[i, j, k] -> [(j)] }, { S[i, j, k] -> [(k)] }]\"
";
/// Sums over `k`, as in a product of matrices.
const SUMS: &str =
    "[N, M] -> { S[i, j, k] -> S[i, j, k + 1] : 0 <= i < N and 0 <= j < M and 0 <= k < 2 }";

fn bands(editor: &Editor) -> Vec<Node> {
    let tree = editor.tree();
    tree.nodes().filter(|node| matches!(tree.kind(*node), NodeKind::Band(_))).collect()
}

/// Tiles of 4 by 2 on 2 by 3 blocks, their points on as many threads.
fn mapped(budget: &Budget) -> ScheduleTree {
    let tree = ScheduleTree::parse(TREE, budget).expect("a tree");
    let pairs = Union::parse(SUMS, budget).expect("a relation");
    let mut editor = Editor::new(tree, pairs, budget).expect("legal");
    let outer = editor.split(bands(&editor)[0], 2).expect("legal");
    let tiles = editor.tile(outer, &[4, 2]).expect("legal");
    editor.map_to_units(tiles, &["b0", "b1"], &[2, 3]).expect("legal");
    let points = bands(&editor)[1];
    editor.map_to_units(points, &["t0", "t1"], &[4, 2]).expect("legal");
    editor.into_tree()
}

#[test]
fn a_kernel_runs_what_the_interpreter_runs() {
    let budget = Budget::steps(50_000_000);
    let tree = mapped(&budget);
    let launch = Launch::of_tree(&tree).expect("a mapped tree");
    assert_eq!((launch.blocks(), launch.threads()), ([2, 3, 1], [4, 2, 1]));
    let ast = Ast::of_tree(&tree, None, &AstOptions::default(), &budget).expect("code");
    let mut style = CStyle::default();
    style.index = "long long".into();
    let text = ast.to_cuda("kernel", &launch, &style);
    assert!(text.starts_with("__global__ void kernel(long long N, long long M)\n{\n"), "{text}");
    assert!(text.contains("  const long long b1 = blockIdx.y;\n"), "{text}");
    assert!(text.ends_with("/* kernel<<<dim3(2, 3, 1), dim3(4, 2, 1)>>>(N, M); */\n"), "{text}");

    let mut expected = String::new();
    for (n, m) in [(13, 9), (1, 1), (0, 4)] {
        for unit in 0..2 * 3 * 4 * 2 {
            let (b0, b1, t0, t1) = (unit / 24, unit / 8 % 3, unit / 2 % 4, unit % 2);
            let value = |name: &String| match name.as_str() {
                "N" => n,
                "M" => m,
                "b0" => b0,
                "b1" => b1,
                "t0" => t0,
                _ => t1,
            };
            let params: Vec<i128> = ast.params().iter().map(value).collect();
            for instance in ast.run(&params, 100_000).expect("a run") {
                let [i, j, k] = instance.point[..] else { panic!("three dimensions") };
                let _ = writeln!(expected, "{b0} {b1} {t0} {t1}: {i} {j} {k}");
            }
        }
    }
    // Every instance of the first size once.
    let mut points: Vec<&str> = expected.lines().filter_map(|l| l.split(": ").nth(1)).collect();
    points.sort_unstable();
    points.dedup();
    assert_eq!((points.len(), expected.lines().count()), (13 * 9 * 3, 13 * 9 * 3 + 3));

    let Some(printed) = run_as_c(&text) else { return };
    assert_eq!(printed, expected);
}

/// Runs a kernel with loops over its units; nothing without a compiler.
fn run_as_c(kernel: &str) -> Option<String> {
    let code = format!(
        "#include <stdio.h>
#define __global__ static
{}static struct {{ int x, y, z; }} blockIdx, threadIdx;
static void S(long long i, long long j, long long k) {{
  printf(\"%d %d %d %d: %lld %lld %lld\\n\", blockIdx.x, blockIdx.y, threadIdx.x, threadIdx.y, i, j, k);
}}
{kernel}
int main(void) {{
  static const int sizes[3][2] = {{{{13, 9}}, {{1, 1}}, {{0, 4}}}};
  for (int at = 0; at < 3; at++)
    for (blockIdx.x = 0; blockIdx.x < 2; blockIdx.x++)
      for (blockIdx.y = 0; blockIdx.y < 3; blockIdx.y++)
        for (threadIdx.x = 0; threadIdx.x < 4; threadIdx.x++)
          for (threadIdx.y = 0; threadIdx.y < 2; threadIdx.y++)
            kernel(sizes[at][0], sizes[at][1]);
  return 0;
}}
",
        Ast::macros()
    );
    let stem = std::env::temp_dir().join(format!("tangram-cuda-{}", std::process::id()));
    let (source, binary) = (stem.with_extension("c"), stem.with_extension("out"));
    std::fs::write(&source, code).expect("written");
    let compiled = Command::new("cc").args(["-std=c99", "-o"]).arg(&binary).arg(&source).output();
    let Ok(compiled) = compiled else {
        println!("skipped: needs cc");
        return None;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(&binary).output().expect("runs");
    for path in [source, binary] {
        // A file that stays behind does no harm.
        let _ = std::fs::remove_file(path);
    }
    Some(String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn trees_that_are_not_mapped_as_a_whole_are_refused() {
    let budget = Budget::steps(50_000_000);
    let plain = ScheduleTree::parse(TREE, &budget).expect("a tree");
    assert!(matches!(Launch::of_tree(&plain), Err(Error::Operand { .. })));
    let half = "domain: \"{ A[i] : 0 <= i < 9; B[] }\"
child:
  sequence:
  - filter: \"{ A[i] }\"
    child: { schedule: \"[{ A[i] -> [(i)] }]\" }
  - filter: \"{ B[] }\"
";
    let half = ScheduleTree::parse(half, &budget).expect("a tree");
    let mut editor = Editor::new(half, Union::empty(), &budget).expect("legal");
    let band = bands(&editor)[0];
    editor.map_to_units(band, &["t0"], &[4]).expect("legal");
    assert!(matches!(Launch::of_tree(editor.tree()), Err(Error::Operand { .. })));
}
