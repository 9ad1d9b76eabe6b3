//! The HTML of a page. Every text goes through [`escape`]; pictures are images, which run nothing.

use std::borrow::Cow;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{Line, Page, Part, Section, Stage, colour};

/// Largest page.
pub const MAX_BYTES: usize = 1_000_000;

/// Bytes of text that a stage shows at first; where the page gets too large, less.
const STAGE_BYTES: usize = 160_000;

/// Bytes of one line that are shown.
const LINE_BYTES: usize = 2_000;

/// Rows of a table that are shown.
const ROWS: usize = 300;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

impl Page {
    /// The page as HTML. What is too large for [`MAX_BYTES`] is left out, and the page says so.
    pub(crate) fn html(&self) -> String {
        let mut of_stage = STAGE_BYTES;
        loop {
            let without = self.at(of_stage, 0);
            let left = MAX_BYTES.saturating_sub(without.len());
            let page = if left > 0 { self.at(of_stage, left) } else { without };
            if page.len() <= MAX_BYTES || of_stage < 1000 {
                return page;
            }
            of_stage /= 2;
        }
    }

    /// The page with so many bytes of each stage, and of pictures.
    fn at(&self, of_stage: usize, mut of_pictures: usize) -> String {
        let mut out = String::new();
        self.head(&mut out);
        let _ = write!(
            out,
            "<body>\n<a class=\"skip\" href=\"#stages\">Skip to the stages</a>\n<header>\n<h1>{}</h1>\n<p>{}</p>\n",
            escape(&self.file),
            escape(&self.kind)
        );
        self.contents(&mut out);
        out.push_str("</header>\n<main>\n");
        out.push_str("<section id=\"stages\" aria-labelledby=\"stages-title\">\n");
        out.push_str("<h2 id=\"stages-title\">Stages</h2>\n");
        out.push_str(HELP);
        out.push_str("<p id=\"say\" role=\"status\" aria-live=\"polite\"></p>\n");
        out.push_str("<div id=\"panes\" hidden></div>\n<div id=\"all\">\n");
        for stage in &self.stages {
            stage.html(&mut out, of_stage);
        }
        out.push_str("</div>\n</section>\n");
        for section in &self.sections {
            section.html(&mut out, &mut of_pictures);
        }
        let _ = write!(
            out,
            "</main>\n<footer>\n<p>Made by Lozenge {} with <code>{}</code></p>\n</footer>\n",
            env!("CARGO_PKG_VERSION"),
            escape(&self.command)
        );
        let origins: Vec<String> = self
            .origins
            .iter()
            .map(|origin| match origin.part_of {
                Some(whole) => format!("[{},{whole}]", json(&origin.name)),
                None => format!("[{}]", json(&origin.name)),
            })
            .collect();
        let _ = write!(
            out,
            "<script type=\"application/json\" id=\"origins\">[{}]</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
            origins.join(",")
        );
        out
    }

    fn head(&self, out: &mut String) {
        let policy = format!(
            "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
            base64(&Sha256::digest(STYLE)),
            base64(&Sha256::digest(SCRIPT))
        );
        let _ = write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{} - Lozenge</title>\n<style>{STYLE}</style>\n</head>\n",
            escape(&self.file)
        );
    }

    /// Links to the sections.
    fn contents(&self, out: &mut String) {
        out.push_str("<nav aria-label=\"On this page\">\n<ul>\n<li><a href=\"#stages\">Stages</a></li>\n");
        for section in &self.sections {
            let _ = writeln!(out, "<li><a href=\"#{}\">{}</a></li>", section.id, escape(&section.title));
        }
        out.push_str("</ul>\n</nav>\n");
    }
}

const HELP: &str = "<p class=\"help\">A line with a bar on its left has a known origin: point at it, or reach it \
with the arrow keys, and the lines of the same origin are marked on both sides. Enter or a click brings them \
into view on the other side.</p>\n";

impl Stage {
    fn html(&self, out: &mut String, limit: usize) {
        let id = self.id;
        let _ = write!(
            out,
            "<section class=\"stage\" id=\"stage-{id}\" aria-labelledby=\"title-{id}\">\n<h3 id=\"title-{id}\">{}</h3>\n<p>{}</p>\n",
            escape(&self.title),
            prose(&self.about)
        );
        let _ =
            write!(out, "<pre tabindex=\"0\" role=\"region\" aria-label=\"{}\"><code>", escape(&self.title));
        let mut colours = colour::Colours::of(self.language);
        let (mut bytes, mut shown) = (0, 0);
        for line in &self.lines {
            bytes += line.text.len().min(LINE_BYTES) + 1;
            if bytes > limit {
                break;
            }
            shown += 1;
            line.html(out, &mut colours);
        }
        out.push_str("</code></pre>\n");
        let left = self.left + self.lines.len() - shown;
        if left > 0 {
            let _ = writeln!(out, "<p class=\"cut\">{left} more lines are left out here.</p>");
        }
        out.push_str("</section>\n");
    }
}

impl Line {
    fn html(&self, out: &mut String, colours: &mut colour::Colours) {
        if self.origins.is_empty() {
            out.push_str("<span>");
        } else {
            let numbers: Vec<String> = self.origins.iter().map(ToString::to_string).collect();
            let _ = write!(out, "<span data-o=\"{}\">", numbers.join(" "));
        }
        let (shown, cut) = match self.text.len() {
            n if n <= LINE_BYTES => (self.text.as_str(), false),
            _ => (&self.text[..self.text.floor_char_boundary(LINE_BYTES)], true),
        };
        for (class, piece) in colours.split(shown) {
            match class {
                Some(element) => {
                    let _ = write!(out, "<{element}>{}</{element}>", escape(piece));
                }
                None => out.push_str(&escape(piece)),
            }
        }
        if cut {
            out.push_str("<em> ... the line goes on</em>");
        }
        // The line end inside: an empty line then has a height, and copied text has its line ends.
        out.push_str("\n</span>");
    }
}

impl Section {
    fn html(&self, out: &mut String, of_pictures: &mut usize) {
        let id = self.id;
        let _ = write!(
            out,
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n",
            escape(&self.title)
        );
        for part in &self.parts {
            part.html(out, of_pictures);
        }
        out.push_str("</section>\n");
    }
}

impl Part {
    fn html(&self, out: &mut String, of_pictures: &mut usize) {
        match self {
            Part::Heading(text) => {
                let _ = writeln!(out, "<h3>{}</h3>", escape(text));
            }
            Part::Text(text) => {
                let _ = writeln!(out, "<p>{}</p>", prose(text));
            }
            Part::Verbatim(text) => {
                let _ = writeln!(out, "<pre class=\"plain\" tabindex=\"0\">{}</pre>", escape(text));
            }
            Part::List(items) => {
                out.push_str("<ul class=\"said\">\n");
                for (word, text) in items {
                    let _ = writeln!(
                        out,
                        "<li><strong>{}</strong> {}</li>",
                        escape(word),
                        prose(clip(text, LINE_BYTES))
                    );
                }
                out.push_str("</ul>\n");
            }
            Part::Table { caption, head, rows } => table(out, caption, head, rows),
            Part::Picture { title, svg, alt } => picture(out, title, svg, alt, of_pictures),
        }
    }
}

fn table(out: &mut String, caption: &str, head: &[String], rows: &[Vec<String>]) {
    let _ = write!(
        out,
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\">\n<table>\n<caption>{1}</caption>\n<thead><tr>",
        escape(caption),
        prose(caption)
    );
    for cell in head {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(cell));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows.iter().take(ROWS) {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}</td>", prose(clip(cell, LINE_BYTES)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    if rows.len() > ROWS {
        let _ = writeln!(out, "<p class=\"cut\">{} more rows are left out here.</p>", rows.len() - ROWS);
    }
}

fn picture(out: &mut String, title: &str, svg: &str, alt: &str, of_pictures: &mut usize) {
    let encoded = base64(svg.as_bytes());
    let bytes = encoded.len() + 12 * (alt.len() + title.len()) + 400;
    if bytes > *of_pictures {
        let _ = writeln!(
            out,
            "<p class=\"cut\">A picture is left out because the page would be too large: <code>lozenge show --svg</code> draws it.</p>"
        );
        return;
    }
    *of_pictures -= bytes;
    let _ = write!(
        out,
        "<figure>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{1}\">\
         <img alt=\"{0}\" src=\"data:image/svg+xml;base64,{encoded}\"></div>\n<figcaption>{0}</figcaption>\n</figure>\n",
        escape(alt),
        escape(title)
    );
}

fn clip(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes.min(text.len()))]
}

/// Prose as HTML: what stands between backticks is code.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (k, piece) in text.split('`').enumerate() {
        match k % 2 {
            0 => out.push_str(&escape(piece)),
            _ => {
                let _ = write!(out, "<code>{}</code>", escape(piece));
            }
        }
    }
    out
}

/// A text as it stands in HTML, inside elements and inside quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Characters that are not seen, or that change the direction of writing so that a text reads as
/// another one, become visible.
fn visible(text: &str) -> Cow<'_, str> {
    let directs =
        |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // Bytes of other encodings are in a private plane here: the reader of files puts them there.
    let unseen = |c: char| (c.is_control() && c != '\t' && c != '\n') || u32::from(c) >= 0x10_FF00;
    if !text.chars().any(|c| directs(c) || unseen(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if directs(c) => {
                let _ = write!(out, "U+{:04X}", u32::from(c));
            }
            c if unseen(c) => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A text as a JSON string inside a script element: without what could end that, or an attribute.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(visible(text)).to_string();
    let signs = [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026"), ('\'', "\\u0027")];
    signs.iter().fold(quoted, |text, (sign, escaped)| text.replace(*sign, escaped))
}

/// Base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |k: usize| u32::from(chunk.get(k).copied().unwrap_or(0));
        let word = (at(0) << 16) | (at(1) << 8) | at(2);
        for k in 0..4 {
            match k <= chunk.len() {
                true => out.push(char::from(DIGITS[(word >> (18 - 6 * k)) as usize & 63])),
                false => out.push('='),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{Language, Origin};

    #[test]
    fn base64_is_that_of_the_standard() {
        let pairs = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let encoded = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (plain, encoded) in pairs.iter().zip(encoded) {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
    }

    /// Every text of a page made of something that would be markup.
    #[test]
    fn texts_do_not_become_markup() {
        let evil = "</script></pre><img src=x onerror=alert(1)>\" onmouseover='x' \u{202e}\u{7}";
        let mut stage = Stage::new("source", evil, Language::C, evil);
        stage.add(evil, |_, _| vec![0]);
        let table =
            Part::Table { caption: evil.into(), head: vec![evil.into()], rows: vec![vec![evil.into()]] };
        let parts = vec![
            Part::Heading(evil.into()),
            Part::Text(evil.into()),
            Part::Verbatim(evil.into()),
            Part::List(vec![(evil.into(), evil.into())]),
            table,
            Part::Picture { title: evil.into(), svg: format!("<svg>{evil}</svg>"), alt: evil.into() },
        ];
        let page = Page {
            file: evil.into(),
            kind: evil.into(),
            command: evil.into(),
            origins: vec![Origin { name: evil.into(), part_of: None }],
            stages: vec![stage],
            sections: vec![Section { id: "done", title: evil.into(), parts }],
        };
        let html = page.html();
        for wrong in ["<img src=x", "onmouseover='", "\u{202e}", "\u{7}", "<pre></script>"] {
            assert!(!html.contains(wrong), "{wrong}");
        }
        assert_eq!(html.matches("</script>").count(), 2);
        assert_eq!(html.matches("<img ").count(), 1);
    }

    #[test]
    fn a_page_is_never_too_large() {
        let mut page = Page { file: "a.c".into(), ..Page::default() };
        let long = "<".repeat(10_000) + "\n";
        for id in ["source", "loops", "c"] {
            let mut stage = Stage::new(id, id, Language::C, "");
            stage.add(&long.repeat(300), |_, _| vec![1_000_000; 3]);
            page.stage(stage);
        }
        let svg = "x".repeat(400_000);
        let picture = || Part::Picture { title: "one".into(), svg: svg.clone(), alt: "a picture".into() };
        page.section(Section { parts: vec![picture(), picture()], ..Section::new("pictures", "Pictures") });
        let html = page.html();
        assert!(html.len() <= MAX_BYTES, "{}", html.len());
        assert!(html.contains("more lines are left out") && html.contains("A picture is left out"));
    }
}
