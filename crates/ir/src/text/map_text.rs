//! The parts of an affine map that is held as text.

/// A map `affine_map<(d0)[s0] -> (d0 + s0, 4)>`, or a set, in parts.
pub(super) struct MapText<'a> {
    pub(super) dims: usize,
    pub(super) symbols: usize,
    /// The results, or constraints.
    pub(super) results: Vec<&'a str>,
}

impl<'a> MapText<'a> {
    pub(super) fn read(text: &'a str) -> Option<MapText<'a>> {
        let (kind, inside) = text.split_once('<')?;
        let inside = inside.strip_suffix('>')?;
        let arrow = if kind == "affine_set" { " : (" } else { " -> (" };
        let (head, results) = inside.split_once(arrow)?;
        let results = results.strip_suffix(')')?;
        let (dims, symbols) = match head.split_once('[') {
            Some((dims, symbols)) => (dims, symbols.strip_suffix(']')?),
            None => (head, ""),
        };
        let dims = dims.strip_prefix('(')?.strip_suffix(')')?;
        Some(MapText { dims: names(dims), symbols: names(symbols), results: split(results) })
    }
}

fn names(list: &str) -> usize {
    if list.is_empty() { 0 } else { list.split(',').count() }
}

/// What the commas separate that stand in no brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut out, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                out.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        out.push(text[start..].trim());
    }
    out
}
