//! The content of a database, page by page.

mod children;
mod mails;
mod pages;

pub(in crate::store) use pages::page;
