//! Finds the key that a leaked text belongs to, in all companies, and leads to its revocation.

use askama::Template;
use preauth_core::ErrorCode;
use preauth_core::access::KeyState;
use salvo::async_trait;
use salvo::http::{Method, Request, StatusCode};
use serde_json::json;

use crate::http::pages::form::Form;
use crate::http::pages::words::Words;
use crate::http::platform::api_keys::{Found, FoundKey};
use crate::http::reply::Reply;
use crate::labels;

use super::PREFIX;
use super::action_forms::companies;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::{Failure, render};
use super::frame::{Frame, Section};
use super::guard::{Page, Submit};
use super::named_company::{name, path};
use super::problems::{Problems, beside};
use super::visit::Visit;

/// The path below the console's.
pub(super) const PATH: &str = "/leaked-key";
/// What the API does.
const ROUTE: &str = "api-key-search";

/// A link to the form, if the operator may look for keys.
pub(super) fn link(visit: &Visit) -> Option<ActionLink> {
    let w = visit.words;
    visit.permits(&Method::POST, ROUTE).then(|| ActionLink {
        href: format!("{PREFIX}{PATH}"),
        title: title(w),
        is_final: false,
    })
}

fn title(w: Words) -> &'static str {
    w.t("Find a leaked key", "Encontrar uma chave vazada")
}

/// The form never shows the text again: it may be a whole key.
#[derive(Template)]
#[template(path = "console/leaked_key.html")]
struct LeakedKeyPage {
    f: Frame,
    title: &'static str,
    refusal: Vec<String>,
    error: Option<String>,
    head: Vec<&'static str>,
    /// What was found, if it was looked for.
    found: Option<Vec<Vec<Cell>>>,
    has_more: bool,
}

impl LeakedKeyPage {
    fn new(visit: &Visit) -> Self {
        let w = visit.words;
        Self {
            f: visit.frame(Section::Companies),
            title: title(w),
            refusal: Vec::new(),
            error: None,
            head: vec![
                labels::COMPANY.of(w.0),
                labels::NAME.of(w.0),
                labels::BEGINS_WITH.of(w.0),
                labels::STATE.of(w.0),
                labels::EXPIRES.of(w.0),
                labels::LAST_USED.of(w.0),
                w.t("actions", "ações"),
            ],
            found: None,
            has_more: false,
        }
    }
}

/// The form, and what it finds.
pub(super) struct LeakedKey;

#[async_trait]
impl Page for LeakedKey {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        visit.require(&Method::POST, ROUTE)?;
        Ok(render(StatusCode::OK, &LeakedKeyPage::new(visit))?)
    }
}

#[async_trait]
impl Submit for LeakedKey {
    async fn submit(&self, visit: &Visit, form: &Form, _req: &Request) -> Result<Reply, Failure> {
        let text = form.one("text").unwrap_or_default();
        let body = Some(json!({ "text": text }).to_string());
        let mut page = LeakedKeyPage::new(visit);
        match visit.send(Method::POST, ROUTE.to_owned(), body, None).await {
            Ok(answer) => {
                let found: Found = answer.parse()?;
                let rows = found.data.iter().map(|it| row(visit, it));
                page.found = Some(rows.collect());
                page.has_more = found.has_more;
                Ok(render(StatusCode::OK, &page)?)
            }
            Err(Failure::Api(error)) if error.code == ErrorCode::ValidationError => {
                let w = visit.words;
                let mut problems = Problems::of(&error);
                let defects = problems.take("text");
                page.error = defects.first().map(|defect| beside(defect, w));
                page.refusal = problems.rest(w);
                Ok(render(StatusCode::BAD_REQUEST, &page)?)
            }
            Err(failure) => Err(failure),
        }
    }
}

fn row(visit: &Visit, it: &FoundKey) -> Vec<Cell> {
    let w = visit.words;
    let FoundKey { key, company } = it;
    let id = key.id.to_string();
    let is_active = key.state.as_str() == KeyState::Active.as_str();
    let revoke = companies::REVOKE_KEY.link(visit, &[("id", &id)]);
    vec![
        Cell::link(path(company), name(company, w)).and(company.cnpj.masked()),
        Cell::text(key.name.as_str()),
        Cell::code(&key.prefix),
        Cell::badge(&key.state, w),
        Cell::time(key.expires_at, w),
        Cell::time(key.last_used_at, w),
        Cell::ActionLinks(revoke.into_iter().filter(|_| is_active).collect()),
    ]
}
