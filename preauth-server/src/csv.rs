//! Lines of a CSV file that a spreadsheet of the reader's language opens rightly: its separator, a mark for UTF-8, and
//! nothing that it would calculate.

use crate::language::Language;

/// Tells spreadsheets at the beginning of a file that it is UTF-8.
pub(crate) const MARK: &str = "\u{feff}";

/// A line with its end. A spreadsheet in Portuguese separates by `;`, because its decimals have a comma.
pub(crate) fn line(cells: impl Iterator<Item = String>, language: Language) -> String {
    let quoted = |cell: String| format!("\"{}\"", inert(&cell).replace('"', "\"\""));
    let cells: Vec<_> = cells.map(quoted).collect();
    let separator = match language {
        Language::English => ",",
        Language::Portuguese => ";",
    };
    format!("{}\r\n", cells.join(separator))
}

/// A text that no spreadsheet calculates, whatever it takes for the end of a cell.
fn inert(cell: &str) -> String {
    let mut text = String::with_capacity(cell.len());
    let mut is_start = true;
    for letter in cell.chars() {
        let begins_formula = matches!(
            letter,
            '=' | '+' | '-' | '@' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}'
        );
        if is_start && begins_formula {
            text.push('\'');
        }
        text.push(letter);
        let ends_cell = matches!(letter, ';' | ',' | '"' | '\t' | '\r' | '\n');
        is_start = ends_cell || (is_start && letter.is_whitespace());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{inert, line};
    use crate::language::Language;

    #[test]
    fn a_spreadsheet_calculates_nothing() {
        let cells = || ["a\"b", "=1+1", "-5", "x\r\ny", ""].map(ToOwned::to_owned);
        let expected = "\"a\"\"b\",\"'=1+1\",\"'-5\",\"x\r\ny\",\"\"\r\n";
        assert_eq!(line(cells().into_iter(), Language::English), expected);
        let expected = "\"a\"\"b\";\"'=1+1\";\"'-5\";\"x\r\ny\";\"\"\r\n";
        assert_eq!(line(cells().into_iter(), Language::Portuguese), expected);
        for (cell, expected) in [
            ("Boa;=HYPERLINK(1)", "Boa;'=HYPERLINK(1)"),
            ("a, =1", "a, '=1"),
            ("a\n@b", "a\n'@b"),
            ("\"+1", "\"'+1"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            (" =1", " '=1"),
            ("Silva & Filhos - Obras = 2", "Silva & Filhos - Obras = 2"),
        ] {
            assert_eq!(inert(cell), expected, "{cell:?}");
        }
    }
}
