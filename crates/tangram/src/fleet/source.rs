//! What a model is made of on disk, before it is worked on.

use std::collections::BTreeSet;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tangram_onnx::file::{self, Outline};

/// What a process takes before any model.
const BASE: u64 = 32 << 20;
/// How many bytes each byte of the graph in the file takes at the peak, greedily and in an e-graph:
/// the most that was measured, on generated graphs of 1,000 to 40,000 nodes.
const GRAPH: u64 = 256;
const SATURATED: u64 = 1300;
/// How many bytes each byte of weights in typed fields takes: decoded, and as a tensor.
const TYPED: u64 = 4;
/// Weights stay in the mapped file, which the system takes back as it needs; so much of them is
/// counted, at most.
const WEIGHTS: u64 = 64 << 20;

/// The files of a model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source {
    /// The model file, then those with external weights.
    pub files: Vec<PathBuf>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of the graph: what is neither weight nor external.
    pub graph: u64,
    /// Bytes of weights that are decoded, since they do not lie in the file as numbers do in memory.
    pub typed: u64,
}

impl Source {
    /// Looks at the model at `path`; weights are not read.
    ///
    /// # Errors
    /// [`file::FileError`]: it cannot be read, or is no model.
    pub fn open(path: &Path) -> Result<Source, file::FileError> {
        let outline = match file::outline(path)? {
            Some(outline) => outline,
            // Decoding says what is wrong.
            None => file::open(path).map(|_| Outline::default())?,
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let external: BTreeSet<PathBuf> =
            outline.locations.iter().map(|location| folder.join(location)).collect();
        let size = |path: &PathBuf| path.metadata().map_or(0, |data| data.len());
        Ok(Source {
            bytes: outline.bytes + external.iter().map(size).sum::<u64>(),
            graph: outline.bytes.saturating_sub(outline.raw + outline.typed),
            typed: outline.typed,
            files: std::iter::once(path.to_owned()).chain(external).collect(),
        })
    }

    /// The most bytes of memory that a process takes which optimises the model; with `check`, the
    /// weights are read and computed with; with `saturate`, all forms of the graph are there at once.
    pub fn peak(&self, check: bool, saturate: bool) -> u64 {
        let weights = self.bytes.saturating_sub(self.graph);
        let weights = if check { 3 * weights } else { weights.min(WEIGHTS) };
        let graph = self.graph * if saturate { SATURATED } else { GRAPH };
        BASE + graph + weights + TYPED * self.typed
    }

    /// A text that changes with any byte of the model and of `request`: options, rules, version.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn fingerprint(&self, request: &str) -> io::Result<String> {
        #[allow(deprecated)]
        let mut hasher = std::hash::SipHasher::new();
        hasher.write(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.write(request.as_bytes());
        let mut buffer = vec![0; 1 << 20];
        for path in &self.files {
            let missing =
                |why: io::Error| io::Error::new(why.kind(), format!("{}: {why}", path.display()));
            let mut file = File::open(path).map_err(missing)?;
            loop {
                match file.read(&mut buffer)? {
                    0 => break,
                    n => hasher.write(&buffer[..n]),
                }
            }
            hasher.write_u64(file.metadata()?.len());
        }
        Ok(format!("{:016x}", hasher.finish()))
    }
}
