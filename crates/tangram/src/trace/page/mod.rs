//! The page of a trace.

use crate::page::Page;

/// A frame, a style and a script, in one file with the data.
pub(super) const PAGE: Page = Page {
    frame: include_str!("page.html"),
    style: include_str!("style.css"),
    scripts: &[
        include_str!("replay.js"),
        include_str!("layout.js"),
        include_str!("draw.js"),
        include_str!("main.js"),
    ],
};

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_loads_nothing_and_data_stays_in_its_place() {
        crate::page::check(&super::PAGE);
    }
}
