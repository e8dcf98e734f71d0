//! A model as a page to explore, or two models with their differences.
//!
//! The page is one file that loads nothing. The graph is placed here, in time that grows with its
//! size and no faster than sorting, as a whole and with equal blocks folded; the page draws the part
//! of it that is seen.
//!
//! ```text
//! items     inputs and operations, in the order of the graph: what they are, read, make and cost
//! weights   constants, once each, with the statistics of their elements
//! drawings  which items are boxes, where these are, and the ways of the edges between them
//! ```

mod items;
mod marks;
mod rules;
mod statistics;
mod times;

use serde::Serialize;
use tangram_onnx::Model;
use tangram_onnx::file::Loaded;

use crate::page::Page;
use crate::picture::{Drawing, drawings};
use crate::report::Report;
use items::{Item, Weight};
pub use times::Times;

const PAGE: Page = Page {
    frame: include_str!("page/page.html"),
    style: include_str!("page/style.css"),
    scripts: &[
        include_str!("page/model.js"),
        include_str!("page/canvas.js"),
        include_str!("page/details.js"),
        include_str!("page/main.js"),
    ],
};

/// The version of the data in a page. Grows when a field changes its meaning.
const VERSION: u32 = 1;

/// A model with the name that the page calls it by.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    /// What the page calls it, such as its file's name.
    pub name: &'a str,
    /// The model.
    pub model: &'a Model,
    /// What an optimisation of a copy of it did, to show which rules fire where.
    pub report: Option<&'a Report>,
    /// How long its nodes took.
    pub times: Option<&'a Times>,
}

impl<'a> Named<'a> {
    /// A model of which nothing else is known.
    pub fn new(name: &'a str, model: &'a Model) -> Self {
        Named { name, model, report: None, times: None }
    }
}

#[derive(Serialize)]
struct Data<'a> {
    version: u32,
    models: Vec<Explored<'a>>,
    /// What differs besides nodes.
    interface: Vec<String>,
}

#[derive(Serialize)]
struct Explored<'a> {
    name: &'a str,
    items: Vec<Item>,
    weights: Vec<Weight>,
    whole: Drawing,
    /// The drawing with equal blocks folded, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    folded: Option<Drawing>,
    /// What was run and is no node of the model, with its microseconds; the longest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<(&'a str, f64)>,
}

/// The page of one model.
///
/// Time and size are linear in the graph, but for sorting, and in the elements of the weights.
///
/// # Errors
/// What the encoder says.
pub fn view(of: Named<'_>) -> serde_json::Result<String> {
    let data = Data { version: VERSION, models: vec![explored(of)], interface: Vec::new() };
    Ok(PAGE.fill(of.name, &serde_json::to_string(&data)?))
}

/// The page of two models beside each other, with what differs marked, as
/// [`Diff`](crate::diff::Diff) finds it; `files` are the models as they are in their files.
///
/// # Errors
/// What the encoder says.
pub fn view_both(of: [Named<'_>; 2], files: [&Loaded; 2]) -> serde_json::Result<String> {
    let diff = crate::diff::Diff::of(files[0], files[1]);
    let mut models = of.map(explored);
    let [before, after] = &mut models;
    marks::mark(&diff, &mut before.items, &mut after.items);
    let title = format!("{} and {}", of[0].name, of[1].name);
    let data = Data { version: VERSION, models: models.into(), interface: diff.interface };
    Ok(PAGE.fill(&title, &serde_json::to_string(&data)?))
}

fn explored(of: Named<'_>) -> Explored<'_> {
    let (items, weights) = items::items(of);
    let (whole, folded) = drawings(of.model);
    let names = || items.iter().map(|item| item.name.as_str());
    let others = of.times.map(|times| times.others(names())).unwrap_or_default();
    Explored { name: of.name, items, weights, whole, folded, others }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_loads_nothing_and_data_stays_in_its_place() {
        crate::page::check(&super::PAGE);
    }
}
