//! Tokens. The lexer works on bytes, makes a token at a time and allocates nothing.

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Eof,
    /// A byte that starts no token, or a string without end.
    Bad,
    /// `f32`, `loc`, `dense`: letters, digits, `_`, `$`, `.`.
    Word,
    /// `%0`, `%arg1`.
    Percent,
    /// `^bb0`.
    Caret,
    /// `#map`, `#1`, `#dialect.attr`.
    Hash,
    /// `!t`, `!dialect.type`.
    Bang,
    /// `@name`, `@"name"`.
    At,
    /// `12`, `0x1F`.
    Int,
    /// `1.5e-3`.
    Float,
    /// `"..."`, escapes included.
    String,
    Arrow,
    ColonColon,
    /// `{-#`.
    FooterStart,
    /// `#-}`.
    FooterEnd,
    /// One of `( ) [ ] { } < > , : = - + ? *`.
    Punct(u8),
}

/// A piece of the source: bytes `start..end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// The token that starts at `from` or after the space and comments there.
pub(super) fn next(src: &[u8], from: usize) -> Token {
    let start = skip_space(src, from);
    let at = |i: usize| src.get(i).copied().unwrap_or(0);
    let token = |kind, end: usize| Token { kind, start: start as u32, end: end as u32 };
    let Some(&first) = src.get(start) else { return token(Kind::Eof, start) };
    match first {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => token(Kind::Word, word_end(src, start + 1)),
        b'0'..=b'9' => {
            let (kind, end) = number(src, start);
            token(kind, end)
        }
        b'"' => match string_end(src, start) {
            Some(end) => token(Kind::String, end),
            None => token(Kind::Bad, start + 1),
        },
        b'@' if at(start + 1) == b'"' => match string_end(src, start + 1) {
            Some(end) => token(Kind::At, end),
            None => token(Kind::Bad, start + 1),
        },
        b'@' => prefixed(token, Kind::At, start, word_end(src, start + 1)),
        b'#' if at(start + 1) == b'-' && at(start + 2) == b'}' => token(Kind::FooterEnd, start + 3),
        b'#' => prefixed(token, Kind::Hash, start, suffix_end(src, start + 1)),
        b'!' => prefixed(token, Kind::Bang, start, suffix_end(src, start + 1)),
        b'%' => prefixed(token, Kind::Percent, start, suffix_end(src, start + 1)),
        b'^' => prefixed(token, Kind::Caret, start, suffix_end(src, start + 1)),
        b'-' if at(start + 1) == b'>' => token(Kind::Arrow, start + 2),
        b':' if at(start + 1) == b':' => token(Kind::ColonColon, start + 2),
        b'{' if at(start + 1) == b'-' && at(start + 2) == b'#' => {
            token(Kind::FooterStart, start + 3)
        }
        b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b':' | b'=' | b'-'
        | b'+' | b'?' | b'*' => token(Kind::Punct(first), start + 1),
        _ => {
            // Ends at a character boundary, so that messages can quote it.
            let rest = src[start + 1..].iter().take_while(|&&b| b & 0xC0 == 0x80).count();
            token(Kind::Bad, start + 1 + rest)
        }
    }
}

fn prefixed(token: impl Fn(Kind, usize) -> Token, kind: Kind, start: usize, end: usize) -> Token {
    if end == start + 1 { token(Kind::Bad, end) } else { token(kind, end) }
}

/// The first byte at or after `at` that is neither space nor in a comment.
#[inline]
pub(super) fn skip_space(src: &[u8], at: usize) -> usize {
    // Nearly always there is no space, or one.
    let one = at + usize::from(src.get(at) == Some(&b' '));
    match src.get(one) {
        Some(b' ' | b'\n' | b'\t' | b'\r' | b'/') => skip_more_space(src, one),
        _ => one,
    }
}

fn skip_more_space(src: &[u8], mut at: usize) -> usize {
    loop {
        match src.get(at) {
            Some(b' ' | b'\n' | b'\t' | b'\r') => at += 1,
            Some(b'/') if src.get(at + 1) == Some(&b'/') => {
                let line = src[at..].iter().position(|&b| b == b'\n');
                at = line.map_or(src.len(), |n| at + n);
            }
            _ => return at,
        }
    }
}

/// The end of the run of bytes from `at` on that `table` has.
#[inline]
fn run_end(src: &[u8], at: usize, table: &[bool; 256]) -> usize {
    let rest = src.get(at..).unwrap_or(&[]);
    at + rest.iter().position(|&b| !table[usize::from(b)]).unwrap_or(rest.len())
}

fn word_end(src: &[u8], at: usize) -> usize {
    run_end(src, at, &WORD)
}

/// Which bytes words are made of.
const WORD: [bool; 256] = word_bytes(false);
/// Which bytes names of values are made of.
const NAME: [bool; 256] = word_bytes(true);

const fn word_bytes(minus: bool) -> [bool; 256] {
    let mut table = [false; 256];
    let mut b = 0u8;
    while b < 128 {
        table[b as usize] = b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
        b += 1;
    }
    table[b'-' as usize] = minus;
    table
}

/// The end of what follows `%`, `^`, `#` or `!`: digits alone, or a word that may hold `-`.
fn suffix_end(src: &[u8], at: usize) -> usize {
    match src.get(at) {
        Some(b) if b.is_ascii_digit() => {
            let digits = src[at..].iter().take_while(|b| b.is_ascii_digit()).count();
            at + digits
        }
        _ => run_end(src, at, &NAME),
    }
}

/// The end of the string whose quote stands at `start`. A string does not cross a line.
pub(super) fn string_end(src: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match src.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn number(src: &[u8], start: usize) -> (Kind, usize) {
    let at = |i: usize| src.get(i).copied().unwrap_or(0);
    let digits = |from: usize| {
        from + src.get(from..).unwrap_or(&[]).iter().take_while(|b| b.is_ascii_digit()).count()
    };
    if at(start) == b'0' && at(start + 1) == b'x' && at(start + 2).is_ascii_hexdigit() {
        let body = src[start + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
        return (Kind::Int, start + 2 + body);
    }
    let whole = digits(start);
    if at(whole) != b'.' {
        return (Kind::Int, whole);
    }
    let fraction = digits(whole + 1);
    if matches!(at(fraction), b'e' | b'E') {
        let signed = fraction + 1 + usize::from(matches!(at(fraction + 1), b'+' | b'-'));
        if at(signed).is_ascii_digit() {
            return (Kind::Float, digits(signed));
        }
    }
    (Kind::Float, fraction)
}
