//! Functions that were written before.
//!
//! To find the order of loops takes far longer than all else that a start does, and depends on
//! nothing but what a function computes, how it is lowered, and this code. So whoever lowers may
//! keep the text of functions, and give it back when the same function is asked for.

use std::fmt::Debug;

use crate::Options;
use crate::bounds::Excluded;
use crate::c::kernel::Kernel;

/// Keeps texts by what they were made of.
pub trait Texts: Debug + Send + Sync {
    /// The text that was kept under `key`, as it was.
    fn find(&self, key: &str) -> Option<String>;

    /// Keeps `text` under `key`, if it can.
    fn keep(&self, key: &str, text: &str);
}

/// What of this code functions depend on: another build of it may write others.
const BUILD: &str = env!("TANGRAM_SOURCES");

/// The key of the function that computes `what`.
pub(crate) fn key(what: &str, options: &Options) -> String {
    // Whether passes are verified changes nothing that is written.
    let Options { machine, exact, steps, texts: _, verify_each: _ } = options;
    format!("{BUILD} {machine:?} {exact} {steps} {what}")
}

/// The function, the kernels that it calls, and the sizes that it is not for, as one text.
pub(crate) fn packed(text: &str, kernels: &[Kernel], excluded: &Excluded) -> String {
    let excluded = excluded.to_text();
    let kernels = kernels.iter().flat_map(|kernel| [kernel.name.as_str(), &kernel.text]);
    let parts = [text, &excluded].into_iter().chain(kernels);
    parts.map(|part| format!("{}\n{part}\n", part.len())).collect()
}

/// The function and its kernels, if the text is one that [`packed`] made.
pub(crate) fn unpacked(packed: &str) -> Option<((String, Vec<Kernel>), Excluded)> {
    let (mut left, mut parts) = (packed, Vec::new());
    while !left.is_empty() {
        let (len, from) = left.split_once('\n')?;
        let len: usize = len.parse().ok()?;
        parts.push(from.get(..len)?);
        left = from.get(len..)?.strip_prefix('\n')?;
    }
    let [text, excluded, kernels @ ..] = &parts[..] else { return None };
    let kernels = kernels.chunks(2).map(|pair| match pair {
        [name, text] => Some(Kernel::of_text((*name).to_owned(), (*text).to_owned())),
        _ => None,
    });
    Some((((*text).to_owned(), kernels.collect::<Option<_>>()?), Excluded::parse(excluded)?))
}

#[cfg(test)]
mod tests {
    use super::{packed, unpacked};
    use crate::bounds::Excluded;
    use crate::c::kernel::Kernel;

    #[test]
    fn what_is_packed_comes_back_and_what_is_cut_does_not() {
        let kernel = |name: &str| Kernel::of_text(name.into(), format!("void {name};\n\n"));
        let kernels = vec![kernel("a"), kernel("b")];
        let excluded = Excluded::parse("-1 1,0 3;5 0").expect("rows");
        let text = packed("12\nx\n", &kernels, &excluded);
        let whole = (("12\nx\n".to_owned(), kernels), excluded);
        assert_eq!(unpacked(&text), Some(whole));
        for len in 1..text.len() {
            // A cut between two kernels leaves a whole text: who keeps it has to keep all of it.
            let cut = unpacked(&text[..len]);
            assert!(cut.is_none_or(|((_, kernels), _)| kernels.len() < 2));
        }
    }
}
