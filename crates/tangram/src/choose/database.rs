//! What was measured, in lines of JSON.
//!
//! Each line says how one candidate compares with the model that it was made of, both by their
//! content, on one machine under one version of a runtime. Two databases are merged by writing one
//! behind the other: the order of lines makes no difference. A line that is damaged, or of another
//! format, is left out.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The format of lines; those of another say something else.
const FORMAT: u32 = 1;
/// The most bytes of a database that are read.
const MOST_BYTES: u64 = 1 << 30;

/// What a measurement depends on, beside the candidate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Key {
    /// What the model as it came computes, as a number.
    pub model: String,
    /// The runtime and its version.
    pub runtime: String,
    /// The processor.
    pub machine: String,
    /// The types of the inputs.
    pub inputs: String,
}

/// How a candidate compares with the model as it came.
#[derive(Clone, PartialEq, Debug)]
pub struct Standing {
    /// How many times as fast it is.
    pub gain: f64,
    /// How far from 1 that has to be to mean something.
    pub noise: f64,
    /// In how many rounds it was measured.
    pub rounds: usize,
    /// The median of its seconds.
    pub seconds: f64,
    /// The median of those of the model as it came.
    pub base_seconds: f64,
    /// Whether an earlier run measured it.
    pub known: bool,
}

/// A line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Line {
    format: u32,
    #[serde(flatten)]
    key: Key,
    candidate: String,
    name: String,
    gain: f64,
    noise: f64,
    rounds: usize,
    seconds: f64,
    base_seconds: f64,
}

impl Line {
    pub(super) fn new(key: &Key, candidate: String, name: String, found: &Standing) -> Line {
        let Standing { gain, noise, rounds, seconds, base_seconds, .. } = *found;
        let (format, key) = (FORMAT, key.clone());
        Line { format, key, candidate, name, gain, noise, rounds, seconds, base_seconds }
    }

    /// Whether its numbers can be what they say.
    fn is_sound(&self) -> bool {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let noise = self.noise.is_finite() && self.noise >= 0.0;
        positive(self.gain) && noise && positive(self.seconds) && positive(self.base_seconds)
    }
}

/// The lines of a file.
#[derive(Debug, Default)]
pub struct Database {
    lines: Vec<Line>,
    /// How many lines are damaged.
    pub damaged: usize,
    /// The last line has no end.
    is_cut: bool,
}

impl Database {
    /// Reads a file; there is nothing in one that is not there.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(path: &Path) -> std::io::Result<Database> {
        let mut bytes = Vec::new();
        match File::open(path) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Database::default()),
            Err(why) => return Err(why),
            Ok(file) => file.take(MOST_BYTES).read_to_end(&mut bytes)?,
        };
        let mut found =
            Database { is_cut: bytes.last().is_some_and(|b| *b != b'\n'), ..Self::default() };
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty())
        {
            match serde_json::from_slice::<Line>(line) {
                Ok(line) if line.format != FORMAT => {}
                Ok(line) if line.is_sound() => found.lines.push(line),
                _ => found.damaged += 1,
            }
        }
        Ok(found)
    }

    /// What is known of a candidate: of several lines that of the most rounds, whatever their order.
    pub(super) fn find(&self, key: &Key, candidate: &str) -> Option<Standing> {
        let of_it =
            self.lines.iter().filter(|line| line.key == *key && line.candidate == candidate);
        let order = |a: &&Line, b: &&Line| a.rounds.cmp(&b.rounds).then(b.gain.total_cmp(&a.gain));
        of_it.max_by(order).map(|line| Standing {
            gain: line.gain,
            noise: line.noise,
            rounds: line.rounds,
            seconds: line.seconds,
            base_seconds: line.base_seconds,
            known: true,
        })
    }

    /// Adds lines to the end of a file, all in one piece.
    pub(super) fn append(&self, path: &Path, lines: &[Line]) -> std::io::Result<()> {
        let mut text = if self.is_cut { "\n".to_owned() } else { String::new() };
        for line in lines {
            text += &serde_json::to_string(line)?;
            text.push('\n');
        }
        std::fs::create_dir_all(tangram_files::folder_of(path))?;
        tangram_files::append(path)?.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{Database, Key, Line, Standing};

    fn key(machine: &str) -> Key {
        let text = |text: &str| text.to_owned();
        Key { model: text("a"), runtime: text("r 1"), machine: text(machine), inputs: text("x") }
    }

    fn line(machine: &str, gain: f64, rounds: usize) -> Line {
        let found =
            Standing { gain, noise: 0.01, rounds, seconds: 1.0, base_seconds: gain, known: false };
        Line::new(&key(machine), "c".to_owned(), "greedy".to_owned(), &found)
    }

    fn gain(path: &std::path::Path, machine: &str) -> Option<f64> {
        Database::read(path).unwrap().find(&key(machine), "c").map(|found| found.gain)
    }

    #[test]
    fn merging_is_writing_behind_each_other_in_either_order() {
        let folder = tangram_files::Scratch::new().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let lines = [line("m", 2.0, 50), line("m", 3.0, 10), line("other", 5.0, 90)];
        Database::default().append(&a, &lines).unwrap();
        let turned: Vec<Line> = lines.iter().rev().cloned().collect();
        Database::default().append(&b, &turned).unwrap();
        for path in [&a, &b] {
            assert_eq!((gain(path, "m"), gain(path, "other")), (Some(2.0), Some(5.0)));
            assert_eq!(gain(path, "third"), None);
        }
    }

    #[test]
    fn damaged_lines_are_left_out() {
        let folder = tangram_files::Scratch::new().unwrap();
        let path = folder.path().join("lines");
        let whole = serde_json::to_string(&line("m", 2.0, 50)).unwrap();
        let negative = whole.replace("\"gain\":2.0", "\"gain\":-2.0");
        let foreign = whole.replace("\"format\":1", "\"format\":7");
        let texts = [&whole[..40], "[]", "\u{fffd}", &negative, &foreign, &whole, &whole[..50]];
        std::fs::write(&path, texts.join("\n")).unwrap();
        let found = Database::read(&path).unwrap();
        assert_eq!((found.lines.len(), found.damaged), (1, 5));
        // What is added begins a line of its own.
        found.append(&path, &[line("n", 3.0, 50)]).unwrap();
        assert_eq!((gain(&path, "m"), gain(&path, "n")), (Some(2.0), Some(3.0)));
    }
}
