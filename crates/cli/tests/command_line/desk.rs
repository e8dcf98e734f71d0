//! A folder with inputs of every kind, and the command in it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const FILES: &[(&str, &str)] = &[
    ("kernel.c", KERNEL),
    (
        "tree.st",
        "{ domain: \"{ S[i] : 0 <= i < 9 }\", child: { schedule: \"[{ S[i] -> [(i)] }]\", coincident: [ 1 ] } }",
    ),
    ("map.in", "{ S[i] -> [i] : 0 <= i < 9 }\n{ : }\n{ }\n"),
    ("gpu.st", "{ context: \"{ [b0, t0] : 0 <= b0 < 2 and 0 <= t0 < 4 }\" }"),
    (
        "flow.ai",
        "sink: \"{ R[] -> a[] }\"\nmust_source: \"{ W[i] -> a[] : 0 <= i < 4 }\"\nschedule_map: \"{ W[i] -> [0, i]; R[] -> [1, 0] }\"\n",
    ),
    (
        "loops.sc",
        "domain: \"[N] -> { S[i, j] : 0 <= i, j < N; T[i] : 0 <= i < N }\"\nvalidity: \"[N] -> { S[i, j] -> S[i + 1, j + 1]; S[i, j] -> S[i + 1, j - 2]; S[i, j] -> T[i] }\"\nproximity: \"[N] -> { S[i, j] -> S[i + 1, j - 2]; S[i, j] -> T[i] }\"\n",
    ),
    ("sets.calc", "A := { [i] : 0 <= i < 9 };\nA - { [2] };\n"),
    (
        "sums.rules",
        "commute: (+ ?a ?b) => (+ ?b ?a)\nassociate: (+ ?a (+ ?b ?c)) <=> (+ (+ ?a ?b) ?c)\nzero: (+ 0 ?a) => ?a\n",
    ),
    (
        "in.mlir",
        "\"builtin.module\"() ({\n  \"func.func\"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = \"f\"}> ({\n  ^bb0(%a: tensor<2xf32>):\n    %b = \"nn.relu\"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n    %c = \"nn.relu\"(%b) : (tensor<2xf32>) -> tensor<2xf32>\n    \"func.return\"(%c) : (tensor<2xf32>) -> ()\n  }) : () -> ()\n}) : () -> ()\n",
    ),
    (
        "own.gsl",
        "/// Twice is once.\nrule own-relu {\n  let x = *;\n  match relu(relu(x));\n  rewrite relu(x);\n}\n",
    ),
    (
        "many.gsl",
        "rule many { let x = *; match relu(x + negative(x)); where x.ndim == 1; rewrite relu(x - x); }",
    ),
    ("ugly.gsl", "rule r{let x=*;match relu(relu(x));rewrite relu(x);}"),
    ("list.txt", "(relu (relu input_1))=>(relu input_1)\n(relu input_2)=>(relu (relu input_2))\n"),
    ("cost.json", "{ \"flops_per_second\": 1.0 }"),
    ("profile.json", "[{ \"name\": \"a_kernel_time\", \"dur\": 3 }]"),
];

/// Two nests that share an operand; marked, and another one that is not.
const KERNEL: &str = "\
#ifdef __GNUC__
#define TWO 2
#else
#define TWO 3
#endif
void f(int n, double A[n][n], double B[n][n], double C[n][n], double *restrict x) {
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = TWO; k < n; k++)
                C[i][j] += TWO * A[i][k] * B[k][j];
#pragma endscop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] += A[j][i];
}
";

/// A folder that a test works in.
pub struct Desk {
    folder: TempDir,
}

/// What can be seen of a run.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Seen {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Files that are there behind it and were not before, or have another text.
    pub files: Vec<(String, String)>,
}

impl Desk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in FILES {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        fs::create_dir(folder.path().join("empty")).expect("a folder");
        fs::create_dir(folder.path().join("headers")).expect("a folder");
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models/half.onnx");
        fs::copy(model, folder.path().join("model.onnx")).expect("a model");
        let desk = Self { folder };
        // A model that does nothing, which can be compiled whatever is lowered yet.
        let cut = ["--inputs", "x", "--outputs", "x"];
        desk.run(&[&["opt", "model.onnx", "-o", "same.onnx", "--quiet"][..], &cut].concat());
        desk.run(&["egraph", "json", "(+ 0 x)", "-o", "graph.json"]);
        desk
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The command in the folder.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tangram"));
        command.current_dir(self.folder.path()).args(words).stdin(Stdio::null());
        command
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it runs")
    }

    fn texts(&self) -> Vec<(String, String)> {
        let mut all: Vec<_> = fs::read_dir(self.folder.path())
            .expect("a folder")
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let bytes = fs::read(entry.path()).ok()?;
                let name = entry.file_name().to_string_lossy().into_owned();
                Some((name, String::from_utf8_lossy(&bytes).into_owned()))
            })
            .collect();
        all.sort();
        all
    }

    /// Runs the command and puts the folder back to what it was.
    pub fn seen(&self, words: &[&str]) -> Seen {
        let before = self.texts();
        let output = self.run(words);
        let files: Vec<_> =
            self.texts().into_iter().filter(|file| !before.contains(file)).collect();
        for (name, _) in &files {
            fs::remove_file(self.folder.path().join(name)).expect("removed");
        }
        for (name, text) in before.iter().filter(|(name, _)| files.iter().any(|f| f.0 == *name)) {
            fs::write(self.folder.path().join(name), text).expect("written");
        }
        let text = |bytes: &[u8]| timeless(&String::from_utf8_lossy(bytes));
        Seen {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            files: files.into_iter().map(|(name, text)| (name, timeless(&text))).collect(),
        }
    }
}

/// Takes numbers with a point away: times differ from run to run. Tables grow with them.
fn timeless(text: &str) -> String {
    let is_time =
        |word: &&str| !(word.contains('.') && word.trim_end_matches(',').parse::<f64>().is_ok());
    let line = |line: &str| line.split_whitespace().filter(is_time).collect::<Vec<_>>().join(" ");
    text.lines().map(|text| line(text) + "\n").collect()
}
