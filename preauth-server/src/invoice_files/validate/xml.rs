//! XML documents: well formed, within bounds, without content that a reader would have to fetch or
//! expand.

use std::io::{BufRead, ErrorKind};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::decoding::decoded;
use super::grammar::{
    Attributes, are_characters, check_declaration, check_doctype, check_reference, check_value,
    is_plain_name, is_space, qualified,
};
use super::{ContentMismatch, Stop};

/// Maximum nesting depth of elements.
pub const MAX_XML_DEPTH: usize = 128;
/// Maximum number of an element's attributes: the search for duplicates takes quadratic time.
const ATTRIBUTE_LIMIT: usize = 256;
/// Maximum number of namespaces in force at an element: each of its names is searched in them.
const NAMESPACE_LIMIT: usize = 64;

const DOCTYPE: &[u8] = b"<!DOCTYPE";

/// Checks a whole document.
pub(super) fn validate(content: impl BufRead) -> Result<(), Stop> {
    let mut reader = Reader::from_reader(decoded(content)?);
    reader.config_mut().check_comments = true;
    let mut document = Document::default();
    let mut markup = Vec::new();
    loop {
        markup.clear();
        let event = reader.read_event_into(&mut markup).map_err(stop)?;
        let is_doctype = matches!(event, Event::DocType(_));
        if matches!(event, Event::Eof) {
            return Ok(document.end()?);
        }
        document.take(event)?;
        // The reader also accepts small letters, as in HTML.
        if is_doctype && !markup.starts_with(DOCTYPE) {
            return Err(ContentMismatch::NotWellFormed.into());
        }
    }
}

fn stop(error: quick_xml::Error) -> Stop {
    match error {
        quick_xml::Error::Io(error) if error.kind() == ErrorKind::InvalidData => {
            ContentMismatch::Encoding.into()
        }
        quick_xml::Error::Io(error) => Stop::Unread(error.kind().into()),
        quick_xml::Error::Encoding(_) => ContentMismatch::Encoding.into(),
        _ => ContentMismatch::NotWellFormed.into(),
    }
}

/// The state of reading a document.
#[derive(Debug, Default)]
struct Document {
    has_begun: bool,
    has_doctype: bool,
    has_root: bool,
    depth: usize,
    /// Prefixes in force, each with the depth of the element that declares it.
    prefixes: Vec<(usize, String)>,
}

impl Document {
    fn take(&mut self, event: Event<'_>) -> Result<(), ContentMismatch> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        match event {
            Event::Decl(declaration) => {
                ensure(is_first)?;
                check_declaration(declaration.strip_prefix("xml").unwrap_or_default())
            }
            Event::DocType(text) => {
                ensure(!self.has_root && !std::mem::replace(&mut self.has_doctype, true))?;
                check_doctype(&text)
            }
            Event::Start(start) => self.begin(&start),
            Event::Empty(start) => {
                self.begin(&start)?;
                self.leave();
                Ok(())
            }
            Event::End(_) => {
                self.leave();
                Ok(())
            }
            Event::Text(text) => {
                let is_blank = || text.chars().all(is_space);
                ensure(are_characters(&text) && !text.contains("]]>"))?;
                ensure(self.depth > 0 || is_blank())
            }
            Event::CData(text) => ensure(self.depth > 0 && are_characters(&text)),
            Event::Comment(text) => ensure(are_characters(&text)),
            Event::PI(instruction) => {
                let target = instruction.target();
                let is_reserved = target.eq_ignore_ascii_case("xml");
                ensure(is_plain_name(target) && !is_reserved && are_characters(&instruction))
            }
            Event::GeneralRef(reference) => {
                ensure(self.depth > 0)?;
                check_reference(&reference)
            }
            Event::Eof => Ok(()),
        }
    }

    fn begin(&mut self, start: &BytesStart<'_>) -> Result<(), ContentMismatch> {
        ensure(self.depth > 0 || !std::mem::replace(&mut self.has_root, true))?;
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_XML_DEPTH {
            return Err(ContentMismatch::TooDeep);
        }
        let mut names: Vec<&str> = Vec::new();
        for attribute in Attributes(start.attributes_raw()) {
            let (name, value) = attribute?;
            if names.len() >= ATTRIBUTE_LIMIT {
                return Err(ContentMismatch::TooManyAttributes);
            }
            ensure(!names.contains(&name))?;
            check_value(value)?;
            names.push(name);
            if let (Some("xmlns"), prefix) = parts(name)? {
                ensure(!value.is_empty())?;
                self.declare(prefix)?;
            }
        }
        // Within one element a prefix may be declared after its first use.
        let element = start.name();
        names.push(element.as_ref());
        names.into_iter().try_for_each(|name| self.knows(name))
    }

    fn declare(&mut self, prefix: &str) -> Result<(), ContentMismatch> {
        if self.prefixes.len() >= NAMESPACE_LIMIT {
            return Err(ContentMismatch::TooManyAttributes);
        }
        self.prefixes.push((self.depth, prefix.to_owned()));
        Ok(())
    }

    fn knows(&self, name: &str) -> Result<(), ContentMismatch> {
        match parts(name)?.0 {
            None | Some("xml" | "xmlns") => Ok(()),
            Some(prefix) => ensure(self.prefixes.iter().any(|(_, known)| known == prefix)),
        }
    }

    fn leave(&mut self) {
        let depth = self.depth;
        self.prefixes.retain(|(declared, _)| *declared < depth);
        self.depth = depth.saturating_sub(1);
    }

    fn end(&self) -> Result<(), ContentMismatch> {
        ensure(self.has_root && self.depth == 0)
    }
}

fn parts(name: &str) -> Result<(Option<&str>, &str), ContentMismatch> {
    qualified(name).ok_or(ContentMismatch::NotWellFormed)
}

const fn ensure(holds: bool) -> Result<(), ContentMismatch> {
    if holds {
        Ok(())
    } else {
        Err(ContentMismatch::NotWellFormed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{MediaType, validate};
    use super::{ContentMismatch, MAX_XML_DEPTH};

    fn xml(content: impl AsRef<[u8]>) -> Result<(), ContentMismatch> {
        validate(content.as_ref(), MediaType::TextXml).unwrap()
    }

    fn utf_16(mark: u16, text: &str) -> Vec<u8> {
        let units = std::iter::once(mark).chain(text.encode_utf16());
        units.flat_map(u16::to_be_bytes).collect()
    }

    #[test]
    fn well_formed_documents_are_xml() {
        for document in [
            "<a/>",
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone='yes'?>\n<a b='1'\n c=\"é&#233;&lt;\">x&amp;<b>]]&gt;</b></a>\n",
            "\u{FEFF}<a/>",
            "<!-- - --><?a-b c?><!DOCTYPE a><a><![CDATA[<&]]></a><!---->",
            "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" 'http://example.com/[a]>.dtd'><html/>",
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns:x='y'><script x:a=''>alert(1)</script></svg>",
            "<x:a xmlns:x='y'><x:a/></x:a >",
            "<a xml:lang='pt'/>",
            "<ação/>",
        ] {
            assert_eq!(xml(document), Ok(()), "{document}");
        }
    }

    #[test]
    fn a_malformed_document_is_refused_as_xml() {
        for document in [
            "",
            "   ",
            "text",
            "{\"a\": 1}",
            "%PDF-1.7",
            "<a>",
            "<a/><b/>",
            "<a/>text",
            "text<a/>",
            "<a></b>",
            "<a></a></a>",
            "<a><b></a></b>",
            "<a b=1/>",
            "<a b='1'c='2'/>",
            "<a b='1' b='2'/>",
            "<a b='<'/>",
            "<a b='&'/>",
            "<a b/>",
            "<a>&</a>",
            "<a>&#0;</a>",
            "<a>&#xD800;</a>",
            "<a>&#+65;</a>",
            "<a>]]></a>",
            "<a>\u{1}</a>",
            "<a>\u{FFFF}</a>",
            "<1a/>",
            "<a:b:c xmlns:a='x'/>",
            "<x:a/>",
            "<a x:b=''/>",
            "<a xmlns:x=''/>",
            "<a><b xmlns:x='y'/><x:c/></a>",
            "<a><!-- -- --></a>",
            "<a><?XML a?></a>",
            " <?xml version='1.0'?><a/>",
            "<?xml version='1.0'?><?xml version='1.0'?><a/>",
            "<?xml encoding='UTF-8' version='1.0'?><a/>",
            "<?xml version='1.0' a='b'?><a/>",
            "<!doctype html><html/>",
            "<!DOCTYPE a SYSTEM><a/>",
            "<!DOCTYPE a><!DOCTYPE a><a/>",
            "<a/><!DOCTYPE a>",
            "<a><![CDATA[</a>",
            "<a b='",
            "<![CDATA[x]]>",
        ] {
            assert_eq!(
                xml(document),
                Err(ContentMismatch::NotWellFormed),
                "{document}"
            );
        }
    }

    #[test]
    fn declarations_within_the_document_are_refused_before_they_mean_anything() {
        let laughs = "<!DOCTYPE a [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><a>&b;</a>";
        let external = "<!DOCTYPE a [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><a>&a;</a>";
        for document in [
            laughs,
            external,
            "<!DOCTYPE a[]><a/>",
            "<!DOCTYPE a SYSTEM 'a.dtd' []><a/>",
            "<!DOCTYPE a [<!-- ] > -->]><a/>",
        ] {
            assert_eq!(
                xml(document),
                Err(ContentMismatch::InternalSubset),
                "{document}"
            );
        }
    }

    #[test]
    fn no_entity_is_looked_up() {
        let html = "<!DOCTYPE html SYSTEM 'http://example.com/x.dtd'><html>&nbsp;</html>";
        for document in [html, "<a>&b;</a>", "<a b='&c;'/>"] {
            assert_eq!(xml(document), Err(ContentMismatch::Entity), "{document}");
        }
    }

    #[test]
    fn nesting_attributes_and_namespaces_have_bounds() {
        let nested = |depth| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
        assert_eq!(xml(nested(MAX_XML_DEPTH)), Ok(()));
        assert_eq!(
            xml(nested(MAX_XML_DEPTH + 1)),
            Err(ContentMismatch::TooDeep)
        );
        assert_eq!(xml("<a>".repeat(1_000_000)), Err(ContentMismatch::TooDeep));
        let many = |prefix: &str, count: usize| {
            let attributes = (0..count).map(|n| format!(" {prefix}a{n}='x'"));
            xml(format!("<a{}/>", attributes.collect::<String>()))
        };
        assert_eq!(many("", 256), Ok(()));
        assert_eq!(many("", 257), Err(ContentMismatch::TooManyAttributes));
        assert_eq!(many("", 100_000), Err(ContentMismatch::TooManyAttributes));
        assert_eq!(many("xmlns:", 64), Ok(()));
        assert_eq!(many("xmlns:", 65), Err(ContentMismatch::TooManyAttributes));
    }

    #[test]
    fn the_encoding_is_that_of_the_mark_or_the_declared_one() {
        let declared = |name: &str, text: &[u8]| {
            let head = format!("<?xml version=\"1.0\" encoding=\"{name}\"?><a>");
            xml([head.as_bytes(), text, b"</a>"].concat())
        };
        assert_eq!(declared("ISO-8859-1", b"nota n\xBA 1"), Ok(()));
        assert_eq!(declared("windows-1252", b"\x80"), Ok(()));
        assert_eq!(declared("utf-8", b"n\xBA"), Err(ContentMismatch::Encoding));
        assert_eq!(declared("UTF-16", b"x"), Err(ContentMismatch::Encoding));
        assert_eq!(declared("UTF-7", b"x"), Err(ContentMismatch::Encoding));
        assert_eq!(
            declared("ISO-2022-JP", b"x"),
            Err(ContentMismatch::Encoding)
        );
        let long = format!(
            "<?xml version='1.0'{} encoding='ISO-8859-1'?><a>\u{E9}</a>",
            " ".repeat(300)
        );
        let long: Vec<u8> = long.chars().map(|c| u8::try_from(c).unwrap()).collect();
        assert_eq!(xml(long), Ok(()));
        assert_eq!(xml(b"<a>n\xBA</a>"), Err(ContentMismatch::Encoding));
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><a>ação 🙂</a>";
        assert_eq!(xml(utf_16(0xFEFF, text)), Ok(()));
        let little: Vec<u8> = utf_16(0xFEFF, text)
            .chunks(2)
            .flat_map(|it| [it[1], it[0]])
            .collect();
        assert_eq!(xml(little), Ok(()));
        let without_mark = &utf_16(0xFEFF, text)[2..];
        assert_eq!(xml(without_mark), Err(ContentMismatch::Encoding));
        let cut = utf_16(0xFEFF, text);
        assert_eq!(xml(&cut[..cut.len() - 1]), Err(ContentMismatch::Encoding));
    }
}
