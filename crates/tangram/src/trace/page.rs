//! The page of a trace.

use crate::page::Page;

/// A frame, a style and a script, in one file with the data.
pub(super) const PAGE: Page = Page {
    frame: include_str!("page/page.html"),
    style: include_str!("page/style.css"),
    scripts: &[
        include_str!("page/replay.js"),
        include_str!("page/layout.js"),
        include_str!("page/draw.js"),
        include_str!("page/main.js"),
    ],
};

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_loads_nothing_and_data_stays_in_its_place() {
        crate::page::check(&super::PAGE);
    }
}
