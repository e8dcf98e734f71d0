//! Values of flags that several commands have.

use std::path::PathBuf;
use std::time::Duration;

/// Reads `x=1,3,224,224`.
pub(crate) fn shape(text: &str) -> Result<(String, Vec<usize>), String> {
    let (name, list) = text.split_once('=').ok_or("expected INPUT=N,N...")?;
    let extents = list.split(',').map(str::trim).filter(|text| !text.is_empty());
    let extents: Result<Vec<usize>, _> = extents.map(str::parse).collect();
    let extents = extents.map_err(|_| format!("expected numbers, found `{list}`"))?;
    Ok((name.to_owned(), extents))
}

/// Reads `x=file.npy`; an archive `file.npz` names its arrays itself.
pub(crate) fn data(text: &str) -> Result<(String, PathBuf), String> {
    if text.ends_with(".npz") && !text.contains('=') {
        return Ok((String::new(), text.into()));
    }
    let (name, path) = text.split_once('=').ok_or("expected INPUT=FILE.npy or FILE.npz")?;
    Ok((name.to_owned(), path.into()))
}

/// Reads a number above 0.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a number above 0".to_owned())
}

/// Reads a share, as `1e-2`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let read = text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0);
    read.ok_or_else(|| "expected a number of 0 or more, as 1e-2".to_owned())
}

/// A number of bytes, or none for as many as there are.
pub(crate) type Limit = Option<u64>;

/// Reads a number of bytes or `none`.
pub(crate) fn bytes(text: &str) -> Result<Limit, String> {
    match text {
        "none" => Ok(None),
        bytes => bytes.parse().map(Some).map_err(|_| "expected a number of bytes or `none`".into()),
    }
}

/// Reads a number of bytes, with or without a unit.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1.0,
        "K" | "KB" | "KIB" => 1024.0,
        "M" | "MB" | "MIB" => 1_048_576.0,
        "G" | "GB" | "GIB" => 1_073_741_824.0,
        "T" | "TB" | "TIB" => 1_099_511_627_776.0,
        _ => return Err("expected a number of bytes, such as 500M or 8G".to_owned()),
    };
    match digits.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok((number * factor) as u64),
        _ => Err("expected a number of bytes, such as 500M or 8G".to_owned()),
    }
}

/// Reads a time.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = |_| "expected a number of seconds, 0 or more".to_owned();
    let seconds = text.parse().map_err(|_| wrong(()))?;
    Duration::try_from_secs_f64(seconds).map_err(|_| wrong(()))
}

/// Words that C writes integer types of, in any order; others are names of types.
const INTEGER_WORDS: [&str; 6] = ["signed", "unsigned", "short", "long", "int", "char"];

/// Words of C that name no type of integers.
const OTHER_WORDS: &str = "auto break case const continue default do double else enum extern float \
                           for goto if inline register restrict return sizeof static struct switch \
                           typedef union void volatile while";

/// Reads a type that iterators of loops in C can have, as `int64_t` or `unsigned long`.
pub(crate) fn integer_type(text: &str) -> Result<String, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let count = |word: &str| words.iter().filter(|found| **found == word).count();
    let built_in = || {
        let [signed, unsigned, short, long, int, char] = INTEGER_WORDS.map(count);
        let widths = short + char + usize::from(long > 0);
        words.iter().all(|word| INTEGER_WORDS.contains(word))
            && signed + unsigned <= 1
            && widths <= 1
            && long <= 2
            && int + char <= 1
    };
    let named = |word: &str| {
        let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !OTHER_WORDS.split_whitespace().any(|other| other == word)
            && !INTEGER_WORDS.contains(&word)
    };
    match words.as_slice() {
        [word] if named(word) => Ok((*word).to_owned()),
        [_, ..] if built_in() => Ok(words.join(" ")),
        _ => Err("expected a type of integers, as int64_t or `unsigned long`".to_owned()),
    }
}
