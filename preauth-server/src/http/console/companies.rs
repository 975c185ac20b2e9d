//! A company, with credit, users, keys, endpoint, branches and invitations.

use preauth_core::value::EventType;
use salvo::async_trait;
use salvo::http::StatusCode;

use crate::http::pages::words::Words;
use crate::http::platform::companies::CompanyShape;
use crate::http::platform::credit_analysis::CreditAnalysis;
use crate::http::platform::webhook_endpoint::EndpointShape;
use crate::http::reply::Reply;
use crate::labels;

use super::action_forms::companies;
use super::api_keys::ApiKeys;
use super::blocked_suppliers::BlockedSuppliers;
use super::branches::Branches;
use super::cell::Cell;
use super::company_list::link;
use super::excerpt::excerpt;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::invitations::Invitations;
use super::log;
use super::named_company::{name, path};
use super::personal_data;
use super::record::{Part, Record, Table};
use super::users::Users;
use super::visit::Visit;

/// The page of a company.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let id = visit.id("id")?;
        let it: CompanyShape = visit.get(format!("companies/{id}")).await?;
        let ids = [("id", id)];
        let is_suspended = it.suspension.is_some();
        let suspension = if is_suspended {
            &companies::RESUME
        } else {
            &companies::SUSPEND
        };
        let register = companies::REGISTER.link(visit, &ids);
        let mut record = Record::new(visit, Section::Companies, name(&it, w))
            .under("/console/companies", w.t("Companies", "Empresas"))
            .action_links(register.filter(|_| !it.registered))
            .action_links(
                companies::UPDATE
                    .link(visit, &ids)
                    .filter(|_| it.registered),
            )
            .action_links(suspension.link(visit, &ids))
            .action_links(personal_data::link(visit, it.cnpj.as_str()))
            .action_links(log::of_company(visit, id))
            .fields(fields(&it, head_office(visit, &it).await?, w))
            .fields(lists(&it, w));
        if let Some(suspension) = &it.suspension {
            let text = w.t(
                "Suspended: its keys are refused.",
                "Suspensa: suas chaves são recusadas.",
            );
            let reason = suspension.reason.as_str();
            record = record.notice("bad", format!("{text} {reason}"));
        }
        if it.head_office_id.is_none() {
            record = endpoint(visit, record, id).await?;
            record = credit(visit, record, id).await?;
        }
        record = record
            .table(excerpt(&Users, visit).await?)
            .action_links_below(companies::ADD_USER.link(visit, &ids))
            .table(excerpt(&ApiKeys, visit).await?)
            .action_links_below(companies::ADD_KEY.link(visit, &ids));
        if it.head_office_id.is_none() {
            record = record
                .table(excerpt(&BlockedSuppliers, visit).await?)
                .action_links_below(companies::BLOCK.link(visit, &ids));
        }
        if !it.registered {
            record = record.table(excerpt(&Invitations, visit).await?);
        } else if it.head_office_id.is_none() {
            record = record
                .table(excerpt(&Branches, visit).await?)
                .action_links_below(companies::ADD_BRANCH.link(visit, &ids));
        }
        record.reply()
    }
}

/// The head office of a branch, by its name.
async fn head_office(visit: &Visit, it: &CompanyShape) -> Result<Option<Cell>, Failure> {
    let Some(id) = it.head_office_id else {
        return Ok(None);
    };
    Ok(Some(link(visit, id).await?))
}

fn fields(it: &CompanyShape, head_office: Option<Cell>, w: Words) -> Vec<(&'static str, Cell)> {
    let mut rows = vec![
        (labels::CNPJ.of(w.0), Cell::code(it.cnpj.masked())),
        (labels::KIND.of(w.0), Cell::name(it.kind.as_str(), w)),
        (
            labels::REGISTERED.of(w.0),
            Cell::yes_or_no(it.registered, w),
        ),
        (labels::CREATED.of(w.0), Cell::time(it.created_at, w)),
        (labels::ID.of(w.0), Cell::code(it.id)),
    ];
    if let Some(head_office) = head_office {
        rows.push((labels::HEAD_OFFICE.of(w.0), head_office));
    }
    if let Some(contact) = &it.contact {
        rows.push((
            labels::CONTACT.of(w.0),
            Cell::text(contact.name.as_str()).and(contact.email.as_str()),
        ));
    }
    rows
}

/// The lists of what belongs to a company. Events and mails are those of a head office, its branches included.
fn lists(it: &CompanyShape, w: Words) -> Vec<(&'static str, Cell)> {
    let own = path(it);
    let cnpj = it.cnpj.as_str();
    let all = w.t("All of this company", "Todas desta empresa");
    let mut rows = vec![(
        w.t("operations", "operações"),
        Cell::link(format!("/console/operations?cnpj={cnpj}"), all),
    )];
    if it.head_office_id.is_none() {
        let mails = w.t("All of this company", "Todos desta empresa");
        rows.extend([
            (
                w.t("deliveries", "entregas"),
                Cell::link(format!("{own}/deliveries"), all),
            ),
            (
                w.t("mails", "e-mails"),
                Cell::link(format!("{own}/mails"), mails),
            ),
        ]);
    }
    let report = format!("/console/reports?companyId={}", it.id);
    let months = w.t("The last 30 days", "Os últimos 30 dias");
    rows.push((w.t("report", "relatório"), Cell::link(report, months)));
    rows
}

/// The webhook endpoint, if there is one.
async fn endpoint(visit: &Visit, record: Record, id: &str) -> Result<Record, Failure> {
    let w = visit.words;
    let ids = [("id", id)];
    let found = maybe(
        visit
            .get::<EndpointShape>(format!("companies/{id}/webhook-endpoint"))
            .await,
    )?;
    let title = w.t("Webhook endpoint", "Endpoint de webhook").to_owned();
    let Some(it) = found else {
        let none = Table {
            title,
            head: Vec::new(),
            rows: Vec::new(),
            more: None,
        };
        return Ok(record
            .table(none)
            .action_links_below(companies::SET_ENDPOINT.link(visit, &ids)));
    };
    let is_paused = it.paused_at.is_some();
    let switch = if is_paused {
        &companies::RESUME_ENDPOINT
    } else {
        &companies::PAUSE_ENDPOINT
    };
    let events = if it.events.len() == EventType::ALL.len() {
        Cell::text(w.t("all", "todos"))
    } else {
        Cell::words(&it.events, w)
    };
    let rows = vec![
        (labels::URL.of(w.0), Cell::code(&it.url)),
        (labels::STATUS.of(w.0), Cell::masculine_badge(&it.status, w)),
        (labels::PAUSED.of(w.0), Cell::time(it.paused_at, w)),
        (
            labels::LAST_SUCCESS.of(w.0),
            Cell::time(it.last_success_at, w),
        ),
        (
            labels::EARLIER_SECRET_UNTIL.of(w.0),
            Cell::time(it.earlier_secret_until, w),
        ),
        (labels::CREATED.of(w.0), Cell::time(it.created_at, w)),
        (labels::EVENTS.of(w.0), events),
    ];
    let forms = [
        &companies::TEST_ENDPOINT,
        switch,
        &companies::ROTATE_SECRET,
        &companies::SET_ENDPOINT,
        &companies::DELETE_ENDPOINT,
    ];
    Ok(record
        .part(Part::Fields {
            title: Some(title),
            rows,
        })
        .action_links_below(forms.into_iter().filter_map(|form| form.link(visit, &ids))))
}

async fn credit(visit: &Visit, record: Record, id: &str) -> Result<Record, Failure> {
    let w = visit.words;
    let found = visit
        .get::<CreditAnalysis>(format!("companies/{id}/credit-analysis"))
        .await;
    let rows = maybe(found)?.map(|it| {
        vec![
            (
                labels::MAX_TERM_DAYS.of(w.0),
                Cell::number(it.max_term_days.into(), w),
            ),
            (
                labels::MAX_INVOICE_AMOUNT.of(w.0),
                Cell::money(it.max_invoice_amount, w),
            ),
        ]
    });
    Ok(record
        .part(Part::Fields {
            title: Some(w.t("Credit analysis", "Análise de crédito").to_owned()),
            rows: rows.unwrap_or_default(),
        })
        .action_links_below(companies::SET_CREDIT.link(visit, &[("id", id)])))
}

/// A record that need not exist.
fn maybe<T>(found: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Failure::Api(error)) if error.status() == StatusCode::NOT_FOUND => Ok(None),
        Err(failure) => Err(failure),
    }
}
