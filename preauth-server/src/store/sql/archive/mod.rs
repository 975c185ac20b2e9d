//! The content of a database, page by page.

mod children;
mod lists;
mod mails;
mod pages;
mod totals;

pub(in crate::store) use pages::page;
