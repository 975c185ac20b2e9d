//! API keys of a company.

use preauth_core::access::KeyState;
use preauth_core::wire::Open;
use salvo::async_trait;

use crate::http::pages::words::Words;
use crate::http::platform::api_keys::ApiKeyShape;
use crate::http::reply::Reply;
use crate::labels;

use super::action_forms::companies as forms;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::company_list;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::list::{Column, List};
use super::names;
use super::record::Record;
use super::visit::Visit;

/// The keys of a company.
pub(super) struct ApiKeys;

impl List for ApiKeys {
    type Row = ApiKeyShape;

    const SECTION: Section = Section::Companies;
    const PATH: &'static str = "/companies/{id}/api-keys";
    const HAS_ROW_LINKS: bool = true;

    fn title(&self, w: Words) -> String {
        w.t("API keys", "Chaves de API").to_owned()
    }

    fn source(&self, visit: &Visit) -> Result<String, Failure> {
        Ok(format!("companies/{}/api-keys", visit.id("id")?))
    }

    fn columns(&self) -> &'static [Column<ApiKeyShape>] {
        const COLUMNS: &[Column<ApiKeyShape>] = &[
            Column::new(labels::NAME, |it, _| Cell::link(path(it), it.name.as_str())),
            Column::new(labels::BEGINS_WITH, |it, _| Cell::code(&it.prefix)),
            Column::new(labels::STATE, |it, w| Cell::badge(&it.state, w)),
            Column::new(labels::SCOPES, |it, _| Cell::text(scopes(it))),
            Column::new(labels::EXPIRES, |it, w| Cell::time(it.expires_at, w)),
            Column::new(labels::LAST_USED, |it, w| Cell::time(it.last_used_at, w)),
        ];
        COLUMNS
    }

    fn row_links(&self, it: &ApiKeyShape, visit: &Visit) -> Vec<ActionLink> {
        links(it, visit)
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        let id = visit.id("id").unwrap_or_default();
        let link = forms::ADD_KEY.link(visit, &[("id", id)]);
        link.into_iter().collect()
    }

    fn crumb(&self, visit: &Visit) -> Option<(String, String)> {
        Some(company_list::crumb(visit))
    }
}

fn path(it: &ApiKeyShape) -> String {
    format!("/console/api-keys/{}", it.id)
}

fn scopes(it: &ApiKeyShape) -> String {
    let scopes: Vec<_> = it.scopes.iter().map(Open::as_str).collect();
    scopes.join(", ")
}

/// What leads to the forms of a key.
fn links(it: &ApiKeyShape, visit: &Visit) -> Vec<ActionLink> {
    let is_active = it.state.as_str() == KeyState::Active.as_str();
    let link = forms::REVOKE_KEY.link(visit, &[("id", &it.id.to_string())]);
    link.into_iter().filter(|_| is_active).collect()
}

/// The page of a key.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let it: ApiKeyShape = visit.get(format!("api-keys/{}", visit.id("id")?)).await?;
        let company = company_list::link(visit, it.company_id).await?;
        let keys = format!("/console/companies/{}/api-keys", it.company_id);
        let user = it.responsible_user_id;
        Record::new(visit, Section::Companies, it.name.as_str())
            .under(keys, w.t("API keys", "Chaves de API"))
            .badge(names::badge(it.state.as_str(), w))
            .action_links(links(&it, visit))
            .fields(vec![
                (labels::COMPANY.of(w.0), company),
                (labels::BEGINS_WITH.of(w.0), Cell::code(&it.prefix)),
                (
                    labels::USER.of(w.0),
                    Cell::link(format!("/console/users/{user}"), user),
                ),
                (labels::SCOPES.of(w.0), Cell::text(scopes(&it))),
                (labels::CREATED.of(w.0), Cell::time(it.created_at, w)),
                (labels::EXPIRES.of(w.0), Cell::time(it.expires_at, w)),
                (labels::REVOKED.of(w.0), Cell::time(it.revoked_at, w)),
                (labels::LAST_USED.of(w.0), Cell::time(it.last_used_at, w)),
                (labels::ID.of(w.0), Cell::code(it.id)),
            ])
            .reply()
    }
}
