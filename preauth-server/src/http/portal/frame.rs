//! What every page has around its content: language, links, and how it is sent.

use askama::Template;
use salvo::http::{Request, StatusCode};

use crate::http::error::ApiError;
use crate::http::pages::headers::{self, Referrer};
use crate::http::pages::language;
use crate::http::pages::words::Words;
use crate::http::reply::Reply;
use crate::language::Language;
use crate::secret::SupplierPage;

use super::asset;

/// The parameter of a query by which a reader chooses the language.
const LANGUAGE: &str = "idioma";
/// Nothing but a style sheet, and forms to this server.
const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// The frame of a page.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) words: Words,
    /// The link, as it was presented; empty on pages without one.
    link: String,
    /// Whether the reader chose the language.
    is_chosen: bool,
    /// The path that was asked for.
    here: String,
    /// The path of the style sheet.
    pub(super) style: String,
}

impl Frame {
    pub(super) fn of(req: &Request, link: String) -> Self {
        let chosen = chosen(req.uri().query().unwrap_or_default());
        Self {
            words: Words(chosen.unwrap_or_else(|| language::of_request(req))),
            link,
            is_chosen: chosen.is_some(),
            here: req.uri().path().to_owned(),
            style: asset::style_path(),
        }
    }

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates pass references"
    )]
    /// The path of a page with the same link, in the language that the reader chose.
    pub(super) fn path(&self, page: &SupplierPage) -> String {
        let path = page.path(&self.link);
        if self.is_chosen {
            let language = language::name(self.words.0);
            return format!("{path}?{LANGUAGE}={language}");
        }
        path
    }

    /// This page, in the language that the reader chose.
    pub(super) fn itself(&self) -> String {
        if self.is_chosen {
            let language = language::name(self.words.0);
            return format!("{}?{LANGUAGE}={language}", self.here);
        }
        self.here.clone()
    }

    /// This page in the other language.
    pub(super) fn other_language(&self) -> String {
        let other = match self.words.0 {
            Language::English => Language::Portuguese,
            Language::Portuguese => Language::English,
        };
        format!("{}?{LANGUAGE}={}", self.here, language::name(other))
    }
}

/// The language in a query string.
fn chosen(query: &str) -> Option<Language> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(name, _)| *name == LANGUAGE);
    found.and_then(|(_, value)| language::parse(value))
}

/// A page as it is sent: kept nowhere, found by no search engine, and its address is given to nobody.
pub(super) fn page(status: StatusCode, template: &impl Template) -> Result<Reply, ApiError> {
    let html = template.render().map_err(ApiError::internal)?;
    Ok(headers::page(status, html, Referrer::Never)
        .header("content-security-policy", POLICY)
        .header("permissions-policy", "interest-cohort=()")
        .header("x-robots-tag", "noindex, nofollow"))
}
