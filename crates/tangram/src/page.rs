//! Pages in one file: a frame with places for a title, a style, a script and data.

/// What a page is put together from.
pub(crate) struct Page {
    /// HTML with `{{title}}`, `{{style}}`, `{{script}}` and `{{data}}` in it.
    pub frame: &'static str,
    /// CSS.
    pub style: &'static str,
    /// JavaScript, in the order in which its parts build on each other.
    pub scripts: &'static [&'static str],
}

impl Page {
    /// Puts the page together. `json` is the data.
    pub fn fill(&self, title: &str, json: &str) -> String {
        let script = self.scripts.join("\n");
        let fixed = self.frame.len() + self.style.len() + script.len();
        let mut out = String::with_capacity(fixed + json.len());
        for piece in self.frame.split("{{").enumerate() {
            match piece {
                (0, text) => out.push_str(text),
                (_, text) => {
                    let (name, rest) = text.split_once("}}").unwrap_or(("", text));
                    match name {
                        "title" => out.push_str(&escape(title)),
                        "style" => out.push_str(self.style),
                        "script" => out.push_str(&script),
                        // `<` stands in strings only, and `</script>` must not end the data.
                        "data" => out.push_str(&json.replace('<', "\\u003c")),
                        _ => {}
                    }
                    out.push_str(rest);
                }
            }
        }
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Checks that a page loads nothing and that data stays in its place.
#[cfg(test)]
pub(crate) fn check(page: &Page) {
    let strange = r#"{"model":"</script><script>alert(1)</script>{{style}}"}"#;
    let filled = page.fill("a<b>\"&", strange);
    assert!(filled.contains("<title>a&lt;b>&quot;&amp;"));
    assert!(!filled.contains("alert(1)</script>"));
    assert!(filled.contains(r#"\u003c/script>\u003cscript>alert(1)\u003c/script>{{style}}"#));
    assert_eq!(filled.matches("</script>").count(), 2, "the data and the program");
    let empty = page.fill("", "{}").replace("http://www.w3.org/2000/svg", "");
    for word in ["http://", "https://", "src=", "href=", "@import", "url("] {
        assert!(!empty.contains(word), "{word}");
    }
    assert!(empty.contains("default-src 'none'"));
}
