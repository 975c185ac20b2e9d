//! Rows under titles, aligned, and truncated to the terminal if there is one.

use std::iter;

use serde_json::Value;

use super::field::{Field, Form, Tone};
use super::screen::Screen;

const GAP: &str = "  ";
/// Minimum width of a column, however narrow the terminal.
const MIN_WIDTH: usize = 8;

/// A table of `rows`; a sentence when there are none.
pub(in crate::admin) fn table(columns: &[Field], rows: &[Value], screen: Screen) -> String {
    if rows.is_empty() {
        return "none\n".to_owned();
    }
    let read = |row| columns.iter().map(|column| column.read(row)).collect();
    let cells: Vec<Vec<String>> = rows.iter().map(read).collect();
    let widths = widths(columns, &cells, screen);
    let titles = columns.iter().map(|column| column.title.to_uppercase());
    let titles = line(
        columns,
        &widths,
        titles.map(|title| (title, Tone::Title)),
        screen,
    );
    let lines = cells.into_iter().map(|row| {
        let toned = columns.iter().zip(row).map(|(column, cell)| {
            let tone = column.tone(&cell);
            (cell, tone)
        });
        line(columns, &widths, toned, screen)
    });
    iter::once(titles).chain(lines).collect()
}

/// The width of the widest cell. Columns that may be truncated share the rest of the terminal, the
/// widest shrinking first.
fn widths(columns: &[Field], cells: &[Vec<String>], screen: Screen) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|column| count(column.title)).collect();
    for row in cells {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(count(cell));
        }
    }
    let gaps = columns.len().saturating_sub(1).saturating_mul(GAP.len());
    let room = screen.width.unwrap_or(usize::MAX).saturating_sub(gaps);
    while widths.iter().sum::<usize>() > room {
        let may_give = |(column, width): &(&Field, &mut usize)| {
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

fn line(
    columns: &[Field],
    widths: &[usize],
    cells: impl Iterator<Item = (String, Tone)>,
    screen: Screen,
) -> String {
    let mut line = String::new();
    for ((column, width), (cell, tone)) in columns.iter().zip(widths).zip(cells) {
        let cell = cut(&cell, *width);
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
    use super::{Field, Screen, table};
    use serde_json::json;

    const COLUMNS: &[Field] = &[
        Field::whole("id", "/id"),
        Field::money("amount", "/amount"),
        Field::text("name", "/name"),
        Field::status("status", "/status"),
    ];

    fn shown(width: Option<usize>) -> String {
        let rows = [
            json!({"id": 7, "amount": 12500.5, "name": "Concreto e Aço Ltda.", "status": "TO_PAY"}),
            json!({"id": 12, "amount": 500, "name": "Pó", "status": "REPROVED"}),
        ];
        let screen = Screen {
            width,
            has_colours: false,
        };
        table(COLUMNS, &rows, screen)
    }

    #[test]
    fn columns_are_aligned_and_amounts_end_together() {
        let expected = "\
ID    AMOUNT  NAME                  STATUS
7   12500.50  Concreto e Aço Ltda.  TO_PAY
12    500.00  Pó                    REPROVED
";
        assert_eq!(shown(None), expected);
    }

    #[test]
    fn texts_give_way_to_the_terminal_and_nothing_else_does() {
        let expected = "\
ID    AMOUNT  NAME        STATUS
7   12500.50  Concreto …  TO_PAY
12    500.00  Pó          REPROVED
";
        assert_eq!(shown(Some(34)), expected);
        assert!(shown(Some(5)).contains("Concret…  TO_PAY"));
    }

    #[test]
    fn an_empty_table_is_a_sentence() {
        let screen = Screen {
            width: None,
            has_colours: false,
        };
        assert_eq!(table(COLUMNS, &[], screen), "none\n");
    }
}
