//! Text of SVG elements.
//!
//! For drawings that grow as text is added; plots of sets (`plot/draw` in `tangram-presburger`) have a
//! page to fill, and graphs of models (`picture/svg` in the facade) are placed before they are drawn.

pub(super) use tangram_presburger::plot::escaped;
use tangram_presburger::plot::scoped;

/// A drawing that grows; coordinates are in pixels, to the right and down.
#[derive(Default)]
pub(super) struct Drawing {
    body: String,
    width: f64,
    height: f64,
}

impl Drawing {
    /// Adds an element and makes room for the point.
    pub fn add(&mut self, element: &str, right: f64, bottom: f64) {
        self.body.push_str(element);
        self.body.push('\n');
        self.width = self.width.max(right);
        self.height = self.height.max(bottom);
    }

    /// Adds a line of text that starts at a point.
    pub fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let element =
            format!("<text x=\"{x:.0}\" y=\"{y:.0}\" class=\"{class}\">{}</text>", escaped(text));
        self.add(&element, x + wide(text), y);
    }

    /// Ends the drawing with a margin on all sides, as one of a class that has a style.
    pub fn finish(self, class: &str, style: &str) -> String {
        const MARGIN: f64 = 12.0;
        let (width, height) = (self.width + 2.0 * MARGIN, self.height + 2.0 * MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"{:.0} {:.0} {width:.0} {height:.0}\">\n<style>{}</style>\n{}</svg>\n",
            -MARGIN,
            -MARGIN,
            scoped(class, style),
            self.body
        )
    }
}

/// The width of text in the fixed font of the pictures.
pub(super) fn wide(text: &str) -> f64 {
    text.chars().count() as f64 * 7.3
}
