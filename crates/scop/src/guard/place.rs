//! Where a part's elements lie, as C.

use crate::names::Root;

/// What stands for the address of an element.
const AT: &str = "TANGRAM_AT";
/// Addresses are numbers here: no pointer leaves its array.
pub(crate) const AT_DEFINITION: &str = "\
#define TANGRAM_AT(p, i) ((unsigned long long)(p) + (unsigned long long)(i) * sizeof(*(p)))
";

/// Whether the rows that pointers lead to are in order, none over the next.
const ROWS: &str = "tangram_rows_apart";
/// A pointer is read as bytes, so that it may be one to any type.
pub(crate) const ROWS_DEFINITION: &str = "\
#ifndef TANGRAM_ROWS
#define TANGRAM_ROWS
/* Whether each row from the first to the end, of so many bytes, ends before the next begins. */
static inline int tangram_rows_apart(const void *tangram_rows, long long tangram_first, long long tangram_end, unsigned long long tangram_size)
{
    unsigned long long tangram_next = 0;
    for (long long tangram_at = tangram_first; tangram_at < tangram_end; tangram_at += 1) {
        const void *tangram_row;
        for (unsigned tangram_byte = 0; tangram_byte < sizeof tangram_row; tangram_byte += 1)
            ((char *)&tangram_row)[tangram_byte] = ((const char *)tangram_rows)[tangram_at * (long long)sizeof tangram_row + tangram_byte];
        if ((unsigned long long)tangram_row < tangram_next)
            return 0;
        tangram_next = (unsigned long long)tangram_row + tangram_size;
    }
    return 1;
}
#endif
";

/// Consecutive bytes that a part uses.
pub(super) struct Place {
    /// The first address, and the one behind the last, as C.
    start: String,
    end: String,
    /// One of these holds where nothing is used, as C: the addresses are not to be read then.
    absent: Vec<String>,
}

impl Place {
    /// A variable as a whole.
    pub fn whole(root: &Root, text: &str) -> Self {
        Self::elements(root, &format!("&{text}"), "0", "1")
    }

    /// Elements that a pointer leads to, from one up to another, exclusive.
    pub fn elements(root: &Root, pointer: &str, start: &str, end: &str) -> Self {
        let (start, end) = (at(root, pointer, start), at(root, pointer, end));
        Self { start, end, absent: Vec::new() }
    }

    /// Says that two places do not overlap.
    pub fn apart(&self, other: &Self) -> String {
        let ordered = |a: &Self, b: &Self| format!("{} <= {}", a.end, b.start);
        let mut all: Vec<String> = Vec::new();
        for own in self.absent.iter().chain(&other.absent) {
            if !all.contains(own) {
                all.push(own.clone());
            }
        }
        all.extend([ordered(self, other), ordered(other, self)]);
        format!("({})", all.join(" || "))
    }
}

/// Rows that pointers lead to, of which a part uses some: `A[first .. end][from .. to]`.
///
/// The pointers from `first` to `end` are read by the source too, unless one of `absent` holds: others
/// need not be there.
pub(super) struct Rows {
    pub pointers: String,
    pub first: String,
    pub end: String,
    pub from: String,
    pub to: String,
    pub absent: Vec<String>,
    /// What the names of the test begin with.
    pub root: Root,
}

impl Rows {
    /// Says that no row overlaps another one.
    fn apart(&self) -> String {
        let Self { pointers, first, end, from, to, absent, root } = self;
        let count = match from.as_str() {
            "0" => format!("({to})"),
            from => format!("({to} - ({from}))"),
        };
        let size = format!("{count} * sizeof(**({pointers}))");
        let rows = format!("{}({pointers}, {first}, {end}, {size})", root.text(ROWS));
        let all: Vec<String> = absent.iter().cloned().chain([rows]).collect();
        format!("({})", all.join(" || "))
    }

    /// From the first element of the first row to the last of the last: the rows are in order.
    fn all(&self) -> Place {
        let Self { pointers, first, end, from, to, absent, root } = self;
        Place {
            start: at(root, &format!("{pointers}[{first}]"), from),
            end: at(root, &format!("{pointers}[{end} - 1]"), to),
            absent: absent.clone(),
        }
    }

    /// The pointers themselves.
    fn table(&self) -> Place {
        Place::elements(&self.root, &self.pointers, &self.first, &self.end)
    }
}

/// What a part uses of a variable.
pub(super) struct Used {
    all: Place,
    rows: Option<Rows>,
    /// Whether an element may be a part of anything, a pointer among others.
    may_be_anything: bool,
}

impl Used {
    pub fn place(all: Place, may_be_anything: bool) -> Self {
        Self { all, rows: None, may_be_anything }
    }

    pub fn rows(rows: Rows, may_be_anything: bool) -> Self {
        Self { all: rows.all(), rows: Some(rows), may_be_anything }
    }

    /// Says that rows are in order, none over another one nor over the pointers to them.
    pub fn ordered(&self) -> Vec<String> {
        let rows = self.rows.iter().map(Rows::apart);
        rows.chain(self.apart_from_pointers(self)).collect()
    }

    /// Says that two variables do not overlap, if rows of both are in order.
    pub fn apart(&self, other: &Self) -> Vec<String> {
        let pointers = [self.apart_from_pointers(other), other.apart_from_pointers(self)];
        [self.all.apart(&other.all)].into_iter().chain(pointers.into_iter().flatten()).collect()
    }

    /// Says that a variable does not overlap a place.
    pub fn apart_from(&self, place: &Place) -> String {
        place.apart(&self.all)
    }

    fn apart_from_pointers(&self, other: &Self) -> Option<String> {
        let rows = other.rows.as_ref().filter(|_| self.may_be_anything)?;
        Some(self.apart_from(&rows.table()))
    }
}

fn at(root: &Root, pointer: &str, index: &str) -> String {
    format!("{}({pointer}, {index})", root.text(AT))
}
