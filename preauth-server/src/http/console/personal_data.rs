//! The personal data of a company: what is stored, what prevents an erasure, and a copy to download.

use salvo::async_trait;
use salvo::http::{Method, StatusCode};

use crate::http::pages::headers::harmless;
use crate::http::pages::words::Words;
use crate::http::platform::personal_data::{ErasureShape, PersonalDataShape};
use crate::http::reply::Reply;
use crate::labels;

use super::PREFIX;
use super::action_forms::personal_data as forms;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::record::{Record, Table};
use super::visit::Visit;

/// The link from a company's page, for those who may read it.
pub(super) fn link(visit: &Visit, cnpj: &str) -> Option<ActionLink> {
    let link = ActionLink {
        href: format!("{PREFIX}/personal-data/{cnpj}"),
        title: visit.words.t("Personal data", "Dados pessoais"),
        is_final: false,
    };
    visit
        .permits(&Method::GET, "personal-data/{cnpj}")
        .then_some(link)
}

/// What is stored.
pub(super) struct PersonalData;

#[async_trait]
impl Page for PersonalData {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let cnpj = visit.id("cnpj")?;
        let it: PersonalDataShape = visit.get(format!("personal-data/{cnpj}")).await?;
        let title = format!(
            "{} – {}",
            w.t("Personal data", "Dados pessoais"),
            it.cnpj.masked()
        );
        let copy = ActionLink {
            href: format!("{PREFIX}/personal-data/{cnpj}/export"),
            title: w.t("Download a copy", "Baixar uma cópia"),
            is_final: false,
        };
        let is_prevented = it.operations_in_progress > 0 || it.open_payment_orders > 0;
        let erase = forms::ERASE.link(visit, &[("cnpj", cnpj)]);
        let mut record = Record::new(visit, Section::Companies, title)
            .under(
                format!("{PREFIX}/companies/{}", it.company_id),
                w.t("The company", "A empresa"),
            )
            .action_links([copy])
            .action_links(erase.filter(|_| !is_prevented));
        if is_prevented {
            record = record.notice("wait", forms::IN_PROGRESS.of(w.0));
        }
        if it.erasures.iter().any(|it| it.completed_at.is_none()) {
            let text = w.t(
                "An erasure has not ended: erase again to continue it.",
                "Uma exclusão não terminou: apague de novo para continuá-la.",
            );
            record = record.notice("wait", text);
        }
        record
            .fields(counts(&it, w))
            .table(erasures(&it.erasures, w))
            .reply()
    }
}

fn counts(it: &PersonalDataShape, w: Words) -> Vec<(&'static str, Cell)> {
    [
        (labels::CONTACTS, it.contacts),
        (labels::USERS, it.users),
        (labels::MAILS, it.mails),
        (labels::INVOICE_FILES, it.files),
        (labels::NO_MAILS_WANTED, it.suppressed_addresses),
        (labels::IN_PROGRESS, it.operations_in_progress),
        (labels::OPEN_ORDERS, it.open_payment_orders),
    ]
    .map(|(label, number)| (label.of(w.0), Cell::number(number, w)))
    .into()
}

fn erasures(found: &[ErasureShape], w: Words) -> Table {
    let row = |it: &ErasureShape| {
        vec![
            Cell::time(it.began_at, w),
            Cell::time(it.completed_at, w),
            Cell::text(it.operator.as_str()),
            Cell::number(it.contacts, w),
            Cell::number(it.users, w),
            Cell::number(it.mails, w),
            Cell::number(it.files, w),
        ]
    };
    Table {
        title: labels::ERASURES.of(w.0).to_owned(),
        head: [
            labels::BEGAN,
            labels::COMPLETED,
            labels::BY,
            labels::CONTACTS,
            labels::USERS,
            labels::MAILS,
            labels::INVOICE_FILES,
        ]
        .map(|it| it.of(w.0))
        .to_vec(),
        rows: found.iter().map(row).collect(),
        more: None,
    }
}

/// A copy as a JSON file.
pub(super) struct Export;

#[async_trait]
impl Page for Export {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let cnpj = visit.id("cnpj")?;
        let path = format!("personal-data/{cnpj}/export");
        let answer = visit.send(Method::GET, path, None, None).await?;
        let json = "application/json; charset=utf-8";
        let reply = Reply::text(StatusCode::OK, json, answer.body);
        let name = format!("attachment; filename=\"personal-data-{cnpj}.json\"");
        Ok(harmless(reply)
            .header("cache-control", "no-store")
            .header("content-disposition", &name))
    }
}
