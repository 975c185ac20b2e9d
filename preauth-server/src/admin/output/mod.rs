//! Prints answers for people: records, tables, values.
//!
//! Dates are as the API writes them, times in UTC to the second, amounts in reais with two decimals
//! and a point: the forms that the commands accept, so that printed values can be pasted.

mod cell;
mod csv;
mod field;
mod screen;
mod table;
mod view;

pub(super) use cell::{Shown, yes_or_no};
pub(super) use csv::csv;
pub(super) use field::Field;
pub(super) use screen::{Screen, print_note};
pub(super) use table::table;
pub(super) use view::{Section, View};
