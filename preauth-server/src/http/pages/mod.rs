//! What the pages for people share: their headers, language, forms, assets, and the spelling of times and
//! amounts.
//!
//! Pages are rendered by templates that the compiler checks and that escape every value.

pub(super) mod assets;
pub(super) mod cookies;
pub(super) mod form;
pub(super) mod headers;
pub(super) mod language;
pub(super) mod same_origin;
pub(super) mod words;
