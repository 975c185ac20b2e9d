//! A table as a CSV file.

use super::field::Field;
use crate::csv::{MARK, line};
use crate::language::Language;

/// The file: titles, and a line for each record.
pub(in crate::admin) fn csv<T>(columns: &[Field<T>], records: &[T], language: Language) -> String {
    let titles = columns.iter().map(|it| it.title.of(language).to_owned());
    let mut file = format!("{MARK}{}", line(titles, language));
    for record in records {
        let cells = columns.iter().map(|it| (it.cell)(record).in_csv(language));
        file.push_str(&line(cells, language));
    }
    file
}
