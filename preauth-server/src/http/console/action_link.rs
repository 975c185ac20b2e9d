//! Links to forms, which look like buttons.

use askama::Template;
use askama::filters::HtmlSafe;

/// A link to a form.
#[derive(Debug, Template)]
#[template(
    source = r#"<a class="button{% if is_final %} danger{% endif %}" href="{{ href }}">{{ title }}</a> "#,
    ext = "html"
)]
pub(super) struct ActionLink {
    pub(super) href: String,
    pub(super) title: &'static str,
    pub(super) is_final: bool,
}

// Its template escapes what it contains.
impl HtmlSafe for ActionLink {}
