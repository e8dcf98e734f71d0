//! Lays text out within a width: groups stand on one line if they fit, else break at every line.

/// A piece of laid-out text.
#[derive(Clone, Debug)]
pub(super) enum Doc {
    Text(String),
    /// A space, or a line break in a broken group.
    Line,
    /// Nothing, or a line break in a broken group.
    Soft,
    Nest(Box<Doc>),
    Group(Box<Doc>),
    Concat(Vec<Doc>),
    /// Text only in a broken group.
    Broken(&'static str),
}

/// The greatest width of a line.
const WIDTH: usize = 100;
const INDENT: usize = 2;

impl Doc {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub fn concat(parts: impl IntoIterator<Item = Self>) -> Self {
        Self::Concat(parts.into_iter().collect())
    }

    /// Items between brackets, separated by commas; `pad` puts spaces inside them.
    pub fn list(open: &str, items: Vec<Self>, close: &str, pad: bool) -> Self {
        if items.is_empty() {
            return Self::text(format!("{open}{close}"));
        }
        let gap = if pad { Self::Line } else { Self::Soft };
        let mut inner = vec![gap.clone()];
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                inner.extend([Self::text(","), Self::Line]);
            }
            inner.push(item);
        }
        inner.push(Self::Broken(","));
        let nested = Self::Nest(Box::new(Self::Concat(inner)));
        let parts = vec![Self::text(open), nested, gap, Self::text(close)];
        Self::Group(Box::new(Self::Concat(parts)))
    }

    /// Writes it with the first line starting at column `indent`.
    pub fn render(&self, indent: usize) -> String {
        let mut out = String::new();
        let mut column = indent;
        let mut stack = vec![(indent, true, self)];
        while let Some((indent, broken, doc)) = stack.pop() {
            match doc {
                Self::Text(text) => {
                    out.push_str(text);
                    column += text.chars().count();
                }
                Self::Broken(text) if broken => out.push_str(text),
                Self::Line | Self::Soft if broken => {
                    out.push('\n');
                    out.extend(std::iter::repeat_n(' ', indent));
                    column = indent;
                }
                Self::Line => {
                    out.push(' ');
                    column += 1;
                }
                Self::Soft | Self::Broken(_) => {}
                Self::Nest(inner) => stack.push((indent + INDENT, broken, inner)),
                Self::Group(inner) => {
                    let broken = !fits(WIDTH.saturating_sub(column), inner, &stack);
                    stack.push((indent, broken, inner));
                }
                Self::Concat(parts) => {
                    stack.extend(parts.iter().rev().map(|part| (indent, broken, part)));
                }
            }
        }
        out
    }
}

/// Returns whether a group on one line, and what follows up to the next break, fits into `room`.
///
/// `after`, the last first, is looked at one by one: mostly little of it is of interest, and there
/// may be much.
fn fits<'d>(mut room: usize, group: &'d Doc, after: &[(usize, bool, &'d Doc)]) -> bool {
    let mut after = after.iter().rev().map(|(_, broken, doc)| (*broken, *doc));
    let mut stack = vec![(false, group)];
    while let Some((broken, doc)) = stack.pop().or_else(|| after.next()) {
        let width = match doc {
            Doc::Text(text) => text.chars().count(),
            Doc::Line | Doc::Soft if broken => return true,
            Doc::Line => 1,
            Doc::Soft | Doc::Broken(_) => 0,
            Doc::Nest(inner) => {
                stack.push((broken, inner));
                0
            }
            Doc::Group(inner) => {
                stack.push((false, inner));
                0
            }
            Doc::Concat(parts) => {
                stack.extend(parts.iter().rev().map(|part| (broken, part)));
                0
            }
        };
        match room.checked_sub(width) {
            Some(left) => room = left,
            None => return false,
        }
    }
    true
}
