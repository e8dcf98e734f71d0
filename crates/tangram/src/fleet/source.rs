//! What a model is made of on disk, before it is worked on.

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use tangram_onnx::file;
use tangram_onnx::proto::{GraphProto, TensorProto};

/// What a process takes before any model.
const BASE: u64 = 32 << 20;
/// How many bytes each byte of the graph in the file takes at the peak, greedily and in an e-graph:
/// the most that was measured, on generated graphs of 1,000 to 40,000 nodes.
const GRAPH: u64 = 256;
const SATURATED: u64 = 1300;
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
}

impl Source {
    /// Looks at the model at `path`; weights are not read.
    ///
    /// # Errors
    /// [`file::FileError`]: it cannot be read, or is no model.
    pub fn open(path: &Path) -> Result<Source, file::FileError> {
        let loaded = file::open(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let (mut external, mut inline) = (FxHashSet::default(), 0u64);
        let mut graphs: Vec<&GraphProto> = loaded.model.graph.iter().collect();
        let mut tensors: Vec<&TensorProto> = Vec::new();
        while let Some(graph) = graphs.pop() {
            tensors.extend(&graph.initializer);
            for attribute in graph.node.iter().flat_map(|node| &node.attribute) {
                graphs.extend(attribute.g.as_deref());
                graphs.extend(&attribute.graphs);
                tensors.extend(attribute.t.as_deref());
            }
        }
        for tensor in tensors {
            inline += tensor.raw_data.as_ref().map_or(0, |raw| raw.len() as u64);
            let place = tensor.external_data.iter().find(|entry| entry.key() == "location");
            external.extend(place.map(|entry| folder.join(entry.value())));
        }
        let mut external: Vec<PathBuf> = external.into_iter().collect();
        external.sort();
        let size = |path: &PathBuf| path.metadata().map_or(0, |data| data.len());
        let own = size(&path.to_owned());
        Ok(Source {
            bytes: own + external.iter().map(size).sum::<u64>(),
            graph: own.saturating_sub(inline),
            files: std::iter::once(path.to_owned()).chain(external).collect(),
        })
    }

    /// The most bytes of memory that a process takes which optimises the model; with `check`, the
    /// weights are read and computed with; with `saturate`, all forms of the graph are there at once.
    pub fn peak(&self, check: bool, saturate: bool) -> u64 {
        let weights = self.bytes.saturating_sub(self.graph);
        let weights = if check { 3 * weights } else { weights.min(WEIGHTS) };
        let graph = self.graph * if saturate { SATURATED } else { GRAPH };
        BASE + graph + weights
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
            let mut file = File::open(path)?;
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
