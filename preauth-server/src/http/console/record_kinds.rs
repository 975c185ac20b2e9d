//! The kinds of records as paths of the API name them: their words, and their pages in the console.

use crate::http::pages::words::Words;
use crate::labels;
use crate::language::Text;

use super::cell::Cell;
use super::master_keys;

/// The characters of a UUID that are shown where the whole one stands in the title.
const SHOWN_OF_UUID: usize = 8;

/// A kind of record.
pub(super) struct RecordKind {
    /// The first segment of its paths in the API.
    segment: &'static str,
    pub(super) name: Text,
    page: Page,
    /// Whether its noun is masculine in Portuguese, as its statuses then are.
    pub(super) is_masculine: bool,
}

/// Where the console shows a record.
enum Page {
    /// Under this path, with the record's id.
    Each(&'static str),
    /// On a page of all of them.
    Whole(&'static str),
    None,
}

const KINDS: &[RecordKind] = &[
    feminine(
        "operations",
        labels::OPERATION,
        Page::Each("/console/operations"),
    ),
    feminine(
        "payment-orders",
        labels::PAYMENT_ORDER,
        Page::Each("/console/payment-orders"),
    ),
    feminine(
        "extensions",
        labels::EXTENSION,
        Page::Each("/console/extensions"),
    ),
    feminine(
        "deliveries",
        Text::new("delivery", "entrega"),
        Page::Each("/console/deliveries"),
    ),
    masculine(
        "notices",
        Text::new("mail", "e-mail"),
        Page::Each("/console/mails"),
    ),
    feminine(
        "companies",
        labels::COMPANY,
        Page::Each("/console/companies"),
    ),
    masculine("users", labels::USER, Page::Each("/console/users")),
    feminine(
        "api-keys",
        Text::new("API key", "chave de API"),
        Page::Each("/console/api-keys"),
    ),
    feminine(
        "api-key-search",
        Text::new("search for a key", "busca de chave"),
        Page::None,
    ),
    masculine(
        "operators",
        labels::OPERATOR,
        Page::Each("/console/operators"),
    ),
    feminine(
        "invoices",
        Text::new("received invoice", "nota recebida"),
        Page::Each("/console/invoices"),
    ),
    masculine(
        "suppressed-addresses",
        Text::new("suppressed address", "endereço suprimido"),
        Page::None,
    ),
    masculine(
        "personal-data",
        Text::new("personal data", "dados pessoais"),
        Page::Each("/console/personal-data"),
    ),
    feminine(
        "master-keys",
        Text::new("master keys", "chaves mestras"),
        Page::Whole(master_keys::PATH),
    ),
    feminine("sandbox", Text::new("sandbox", "sandbox"), Page::None),
];

const fn feminine(segment: &'static str, name: Text, page: Page) -> RecordKind {
    RecordKind {
        segment,
        name,
        page,
        is_masculine: false,
    }
}

const fn masculine(segment: &'static str, name: Text, page: Page) -> RecordKind {
    RecordKind {
        is_masculine: true,
        ..feminine(segment, name, page)
    }
}

impl RecordKind {
    /// The kind of the record at a path of the API below its prefix.
    pub(super) fn of(path: &str) -> Option<&'static Self> {
        let segment = path.split('/').next()?;
        KINDS.iter().find(|kind| kind.segment == segment)
    }

    /// The page of a record of this kind.
    pub(super) fn page(&self, id: &str) -> Option<String> {
        match self.page {
            Page::Each(path) => Some(format!("{path}/{id}")),
            Page::Whole(path) => Some(path.to_owned()),
            Page::None => None,
        }
    }

    /// The kind with a capital letter, as titles begin.
    pub(super) fn capitalized(&self, w: Words) -> String {
        capitalized(self.name.of(w.0))
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// A record as the audit log names it, in words and with a link where it has a page; files have the path.
pub(super) fn cell(record: &str, w: Words) -> Cell {
    let Some(kind) = RecordKind::of(record) else {
        return Cell::code(record);
    };
    let mut segments = record.split('/').skip(1);
    let id = segments.next();
    let more = segments.last();
    let numbers = id.into_iter().chain(more).map(shortened);
    let words: Vec<_> = std::iter::once(kind.capitalized(w))
        .chain(numbers)
        .collect();
    let text = words.join(" ");
    let page = match (&kind.page, id) {
        (Page::Each(_), None) => None,
        (_, id) => kind.page(id.unwrap_or_default()),
    };
    match page {
        Some(href) => Cell::coded_link(href, record, text),
        None => Cell::coded(record, text),
    }
}

/// The end of an id that is too long to read; its beginning is the time.
pub(super) fn shortened(id: &str) -> String {
    let is_long = id.len() == 36 && id.is_ascii() && id.contains('-');
    let tail = id.get(id.len().saturating_sub(SHOWN_OF_UUID)..);
    match tail {
        Some(tail) if is_long => format!("…{tail}"),
        _ => id.to_owned(),
    }
}

/// The same with the whole id for those who hover over it, and for files.
pub(super) fn shortened_cell(id: &str) -> Cell {
    Cell::coded(id, shortened(id))
}

#[cfg(test)]
mod tests {
    use super::{Words, cell, shortened};
    use crate::language::Language;

    const PT: Words = Words(Language::Portuguese);

    #[test]
    fn a_record_is_named_in_words_and_files_have_its_path() {
        let id = "018f2f3a-0000-7000-8000-0000000000ff";
        for (record, shown) in [
            ("operations/42".to_owned(), "Operação 42"),
            (format!("users/{id}"), "Usuário …000000ff"),
            ("master-keys".to_owned(), "Chaves mestras"),
            ("operators".to_owned(), "Operador"),
        ] {
            let cell = cell(&record, PT);
            assert_eq!(cell.plain(), record);
            let text = askama::Template::render(&cell).unwrap();
            assert!(text.contains(&format!(">{shown}<")), "{text}");
        }
    }

    #[test]
    fn only_a_uuid_is_shortened() {
        assert_eq!(shortened("11444777000161"), "11444777000161");
        assert_eq!(
            shortened("018f2f3a-0000-7000-8000-0000000000ff"),
            "…000000ff"
        );
    }
}
