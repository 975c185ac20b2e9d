//! The operators' console over HTTP, as a browser without scripts uses it, on the real binary and both
//! databases.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that cannot go on has failed"
)]

mod attention;
mod browser;
mod company_columns;
mod confirmations;
mod database_away;
mod directory;
mod escaping;
mod forms;
mod forms_of_companies;
mod forms_of_the_rest;
mod leaked_key;
mod list_file;
mod lists_of_companies;
mod log;
mod no_such_page;
mod pages;
mod personal_data;
mod refusals;
mod reports;
mod resend_many;
mod resend_range;
mod sessions;
mod stalled_loop;
mod words;
