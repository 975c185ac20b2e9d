//! Renders a letter as text and as HTML, everything escaped.

use std::fmt::Write;

use super::{Block, Letter};

const PARAGRAPH: &str = "margin:0 0 16px";
const NOTE: &str = "margin:24px 0 0;color:#5f6b7a;font-size:13px";
const NOTE_LINK: &str = "color:#5f6b7a";
const FACT: &str = "margin:0 0 10px";
const NAME: &str = "color:#5f6b7a;font-size:13px";
/// A long address is broken rather than wider than a telephone's screen.
const VALUE: &str = "font-weight:600;overflow-wrap:anywhere";
const BUTTON: &str = "display:inline-block;padding:10px 20px;border-radius:6px;background:#1f4f8f;\
                      color:#ffffff;text-decoration:none";

impl Letter {
    /// The letter as plain text.
    #[must_use]
    pub fn text(&self) -> String {
        let blocks: Vec<String> = self.blocks.iter().map(plain).collect();
        format!("{}\n", blocks.join("\n\n"))
    }

    /// The letter as HTML without external resources.
    #[must_use]
    pub fn html(&self) -> String {
        let title = Escaped(&self.subject);
        let blocks: String = self.blocks.iter().map(markup).collect();
        format!(
            "<!DOCTYPE html>\n<html lang=\"pt-BR\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta name=\"format-detection\" content=\"telephone=no,date=no,address=no,email=no,\
             url=no\">\n<title>{title}</title>\n</head>\n<body style=\"margin:0;padding:16px;background:#f4f6f8\">\n\
             <div style=\"max-width:600px;margin:0 auto;padding:24px;background:#ffffff;\
             border-radius:8px;color:#1d2733;font:16px/1.5 Arial,sans-serif;\
             overflow-wrap:break-word\">\n{blocks}</div>\n\
             </body>\n</html>\n"
        )
    }
}

fn plain(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => text.clone(),
        Block::Facts(facts) => {
            let lines: Vec<String> = facts
                .iter()
                .map(|(name, value)| format!("  {name}: {value}"))
                .collect();
            lines.join("\n")
        }
        Block::Link { label, url } | Block::NoteLink { label, url } => format!("{label}: {url}"),
        Block::Note(text) => format!("-- \n{text}"),
    }
}

fn markup(block: &Block) -> String {
    match block {
        Block::Paragraph(text) => format!("<p style=\"{PARAGRAPH}\">{}</p>\n", Escaped(text)),
        Block::Facts(facts) => {
            let mut lines = format!("<div style=\"{PARAGRAPH}\">\n");
            for (name, value) in facts {
                let (name, value) = (Escaped(name), Escaped(value));
                let _ = writeln!(
                    lines,
                    "<p style=\"{FACT}\"><span style=\"{NAME}\">{name}</span><br>\
                     <span style=\"{VALUE}\">{value}</span></p>"
                );
            }
            lines.push_str("</div>\n");
            lines
        }
        Block::Link { label, url } => format!(
            "<p style=\"{PARAGRAPH}\"><a href=\"{}\" style=\"{BUTTON}\">{}</a></p>\n",
            Escaped(url.as_str()),
            Escaped(label)
        ),
        Block::Note(text) => format!("<p style=\"{NOTE}\">{}</p>\n", Escaped(text)),
        Block::NoteLink { label, url } => format!(
            "<p style=\"{NOTE}\"><a href=\"{}\" style=\"{NOTE_LINK}\">{}</a></p>\n",
            Escaped(url.as_str()),
            Escaped(label)
        ),
    }
}

/// A text escaped for HTML, in an element or in an attribute between double quotes.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}
