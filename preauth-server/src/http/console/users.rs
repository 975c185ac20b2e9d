//! Users of a company, on whose behalf keys act.

use salvo::async_trait;

use crate::http::pages::words::Words;
use crate::http::platform::users::User;
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
use super::record::Record;
use super::visit::Visit;

/// The users of a company.
pub(super) struct Users;

impl List for Users {
    type Row = User;

    const SECTION: Section = Section::Companies;
    const PATH: &'static str = "/companies/{id}/users";
    const HAS_ROW_LINKS: bool = true;

    fn title(&self, w: Words) -> String {
        w.t("Users", "Usuários").to_owned()
    }

    fn source(&self, visit: &Visit) -> Result<String, Failure> {
        Ok(format!("companies/{}/users", visit.id("id")?))
    }

    fn columns(&self) -> &'static [Column<User>] {
        const COLUMNS: &[Column<User>] = &[
            Column::new(labels::NAME, |it, _| {
                Cell::link(format!("/console/users/{}", it.id), it.name.as_str())
            }),
            Column::new(labels::EMAIL, |it, _| Cell::text(it.email.as_str())),
            Column::new(labels::PERMISSIONS, |it, w| Cell::words(&it.permissions, w)),
            Column::new(labels::ACTIVE_USER, |it, w| Cell::yes_or_no(it.active, w)),
        ];
        COLUMNS
    }

    fn row_links(&self, it: &User, visit: &Visit) -> Vec<ActionLink> {
        links(it, visit)
    }

    fn action_links(&self, visit: &Visit) -> Vec<ActionLink> {
        let id = visit.id("id").unwrap_or_default();
        let link = forms::ADD_USER.link(visit, &[("id", id)]);
        link.into_iter().collect()
    }

    fn crumb(&self, visit: &Visit) -> Option<(String, String)> {
        Some(company_list::crumb(visit))
    }
}

/// What leads to the forms of a user.
fn links(it: &User, visit: &Visit) -> Vec<ActionLink> {
    let id = it.id.to_string();
    let change = if it.active {
        &forms::DEACTIVATE_USER
    } else {
        &forms::ACTIVATE_USER
    };
    let links = [&forms::UPDATE_USER, change]
        .into_iter()
        .map(|form| form.link(visit, &[("id", &id)]));
    links.flatten().collect()
}

/// The page of a user.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let it: User = visit.get(format!("users/{}", visit.id("id")?)).await?;
        let company = company_list::link(visit, it.company_id).await?;
        let users = format!("/console/companies/{}/users", it.company_id);
        Record::new(visit, Section::Companies, it.name.as_str())
            .under(users, w.t("Users", "Usuários"))
            .action_links(links(&it, visit))
            .fields(vec![
                (labels::COMPANY.of(w.0), company),
                (labels::EMAIL.of(w.0), Cell::text(it.email.as_str())),
                (labels::PERMISSIONS.of(w.0), Cell::words(&it.permissions, w)),
                (labels::ACTIVE_USER.of(w.0), Cell::yes_or_no(it.active, w)),
                (labels::CREATED.of(w.0), Cell::time(it.created_at, w)),
                (labels::ID.of(w.0), Cell::code(it.id)),
            ])
            .reply()
    }
}
