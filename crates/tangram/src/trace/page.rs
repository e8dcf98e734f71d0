//! The page of a trace: a frame, a style, a script and the data, in one file.

const FRAME: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// What the page does, in the order in which its parts build on each other.
const SCRIPTS: [&str; 4] = [
    include_str!("page/replay.js"),
    include_str!("page/layout.js"),
    include_str!("page/draw.js"),
    include_str!("page/main.js"),
];

/// Puts the page together. `json` is the trace.
pub(super) fn page(title: &str, json: &str) -> String {
    let script = SCRIPTS.join("\n");
    let mut out = String::with_capacity(FRAME.len() + STYLE.len() + script.len() + json.len());
    for piece in FRAME.split("{{").enumerate() {
        match piece {
            (0, text) => out.push_str(text),
            (_, text) => {
                let (name, rest) = text.split_once("}}").unwrap_or(("", text));
                match name {
                    "title" => out.push_str(&escape(title)),
                    "style" => out.push_str(STYLE),
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_leave_its_place() {
        let page = page("a<b>\"&", r#"{"model":"</script><script>alert(1)</script>{{style}}"}"#);
        assert!(page.contains("<title>a&lt;b>&quot;&amp;"));
        assert!(!page.contains("alert(1)</script>"));
        assert!(page.contains(r#"\u003c/script>\u003cscript>alert(1)\u003c/script>{{style}}"#));
        assert_eq!(page.matches("</script>").count(), 2, "the data and the program");
    }

    #[test]
    fn the_page_loads_nothing() {
        let page = page("", "{}");
        for word in ["http://", "https://", "src=", "href=", "@import", "url("] {
            let namespace = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!namespace.contains(word), "{word}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}
