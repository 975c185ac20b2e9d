//! Rows under titles, aligned, and truncated to the terminal if there is one.

use std::iter;

use super::cell::{Cell, Form, Tone};
use super::field::Field;
use super::screen::Screen;
use crate::language::Text;

const GAP: &str = "  ";
/// Minimum width of a column, however narrow the terminal.
const MIN_WIDTH: usize = 8;
const NO_ROWS: Text = Text::new("none", "nenhum registro");

/// A table of `rows`; a sentence when there are none.
pub(in crate::admin) fn table<T>(columns: &[Field<T>], rows: &[T], screen: Screen) -> String {
    let read = |row| columns.iter().map(|column| (column.cell)(row)).collect();
    let rows: Vec<Vec<Cell>> = rows.iter().map(read).collect();
    // The type of a column decides its form, so the first row shows the forms of all columns.
    let Some(forms) = rows.first().map(|row| row.iter().map(|cell| cell.form)) else {
        return format!("{}\n", NO_ROWS.of(screen.language));
    };
    let titles = columns
        .iter()
        .map(|column| column.title.of(screen.language).to_uppercase());
    let columns: Vec<_> = titles
        .zip(forms)
        .map(|(title, form)| Column { title, form })
        .collect();
    let widths = widths(&columns, &rows, screen);
    let titles = columns
        .iter()
        .map(|column| (column.title.as_str(), Tone::Title));
    let titles = line(&columns, &widths, titles, screen);
    let lines = rows.iter().map(|row| {
        let cells = row
            .iter()
            .map(|cell| (cell.text(screen.language), cell.tone()));
        line(&columns, &widths, cells, screen)
    });
    iter::once(titles).chain(lines).collect()
}

struct Column {
    title: String,
    form: Form,
}

/// The width of the widest cell. Columns that may be truncated share the rest of the terminal, the
/// widest shrinking first.
fn widths(columns: &[Column], rows: &[Vec<Cell>], screen: Screen) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|column| count(&column.title)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(count(cell.text(screen.language)));
        }
    }
    let gaps = columns.len().saturating_sub(1).saturating_mul(GAP.len());
    let room = screen.width.unwrap_or(usize::MAX).saturating_sub(gaps);
    while widths.iter().sum::<usize>() > room {
        let may_give = |(column, width): &(&Column, &mut usize)| {
            column.form == Form::Text && **width > MIN_WIDTH
        };
        let widest = columns.iter().zip(&mut widths).filter(may_give);
        match widest.max_by_key(|(_, width)| **width) {
            Some((_, width)) => *width = width.saturating_sub(1),
            None => break,
        }
    }
    widths
}

fn line<'c>(
    columns: &[Column],
    widths: &[usize],
    cells: impl Iterator<Item = (&'c str, Tone)>,
    screen: Screen,
) -> String {
    let mut line = String::new();
    for ((column, width), (cell, tone)) in columns.iter().zip(widths).zip(cells) {
        let cell = cut(cell, *width);
        let padding = " ".repeat(width.saturating_sub(count(&cell)));
        let painted = screen.paint(&cell, tone);
        if !line.is_empty() {
            line.push_str(GAP);
        }
        // Right-aligned, so that amounts can be compared.
        if column.form == Form::Money {
            line.push_str(&padding);
            line.push_str(&painted);
        } else {
            line.push_str(&painted);
            line.push_str(&padding);
        }
    }
    format!("{}\n", line.trim_end())
}

fn cut(text: &str, width: usize) -> String {
    if count(text) <= width {
        return text.to_owned();
    }
    let kept = text.chars().take(width.saturating_sub(1));
    kept.chain(['…']).collect()
}

fn count(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::super::cell::Shown;
    use super::{Field, Screen, table};
    use crate::labels;
    use crate::language::Language;
    use preauth_core::value::{Money, Status};
    use preauth_core::wire::Open;

    struct Row {
        id: u32,
        amount: Money,
        name: String,
        status: Open<Status>,
    }

    const COLUMNS: &[Field<Row>] = &[
        Field::new(labels::ID, |it| it.id.cell()),
        Field::new(labels::AMOUNT, |it| it.amount.cell()),
        Field::new(labels::NAME, |it| it.name.cell()),
        Field::new(labels::STATUS, |it| it.status.cell()),
    ];

    fn row(id: u32, amount: &str, name: &str, status: &str) -> Row {
        Row {
            id,
            amount: Money::parse(amount).unwrap(),
            name: name.to_owned(),
            status: status.into(),
        }
    }

    fn screen(width: Option<usize>, language: Language) -> Screen {
        Screen {
            width,
            has_colours: false,
            language,
        }
    }

    fn shown(width: Option<usize>, language: Language) -> String {
        let rows = [
            row(7, "12500.50", "Concreto e Aço Ltda.", "TO_PAY"),
            row(12, "500", "Pó", "REPROVED"),
        ];
        table(COLUMNS, &rows, screen(width, language))
    }

    #[test]
    fn columns_are_aligned_and_amounts_end_together() {
        let expected = "\
ID    AMOUNT  NAME                  STATUS
7   12500.50  Concreto e Aço Ltda.  TO_PAY
12    500.00  Pó                    REPROVED
";
        assert_eq!(shown(None, Language::English), expected);
        let expected = "\
ID     VALOR  NOME                  SITUAÇÃO
7   12500.50  Concreto e Aço Ltda.  TO_PAY
12    500.00  Pó                    REPROVED
";
        assert_eq!(shown(None, Language::Portuguese), expected);
    }

    #[test]
    fn texts_give_way_to_the_terminal_and_nothing_else_does() {
        let expected = "\
ID    AMOUNT  NAME        STATUS
7   12500.50  Concreto …  TO_PAY
12    500.00  Pó          REPROVED
";
        assert_eq!(shown(Some(34), Language::English), expected);
        assert!(shown(Some(5), Language::English).contains("Concret…  TO_PAY"));
    }

    #[test]
    fn an_empty_table_is_a_sentence() {
        let empty = |language| table(COLUMNS, &[], screen(None, language));
        assert_eq!(empty(Language::English), "none\n");
        assert_eq!(empty(Language::Portuguese), "nenhum registro\n");
    }
}
