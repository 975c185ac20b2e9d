//! Mails to suppliers and companies.

use preauth_core::port::MailKind;
use preauth_core::value::CompanyId;
use salvo::async_trait;

use crate::directory::MailStatus;
use crate::http::pages::words::Words;
use crate::http::platform::mails::MailShape;
use crate::http::reply::Reply;
use crate::labels;
use crate::language::Text;

use super::action_forms::webhooks;
use super::cell::Cell;
use super::company_list;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::list::{Column, Filter, FilterKind, List};
use super::mail_errors;
use super::names;
use super::record::Record;
use super::visit::Visit;

/// Everybody's mails.
pub(super) struct All;

impl List for All {
    type Row = MailShape;

    const SECTION: Section = Section::Mails;
    const PATH: &'static str = "/mails";
    const COMPANY: Option<(usize, Text)> = Some((3, labels::COMPANY));

    fn title(&self, w: Words) -> String {
        w.t("Mails", "E-mails").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("notices".to_owned())
    }

    fn company(&self, it: &MailShape) -> Option<CompanyId> {
        Some(it.company_id)
    }

    fn filters(&self) -> &'static [Filter] {
        FILTERS
    }

    fn columns(&self) -> &'static [Column<MailShape>] {
        COLUMNS
    }
}

const FILTERS: &[Filter] = &[
    Filter {
        name: "status",
        label: labels::STATUS,
        kind: FilterKind::Named(
            || MailStatus::ALL.iter().map(|it| it.as_str()).collect(),
            names::masculine_name,
        ),
    },
    Filter {
        name: "kind",
        label: labels::KIND,
        kind: FilterKind::Choice(|| MailKind::ALL.iter().map(|it| it.as_str()).collect()),
    },
    Filter {
        name: "operationId",
        label: labels::OPERATION,
        kind: FilterKind::Text,
    },
];

const COLUMNS: &[Column<MailShape>] = &[
    Column::new(labels::KIND, |it, w| {
        let href = format!("/console/mails/{}", it.id);
        Cell::link(href, names::name(it.kind.as_str(), w))
    }),
    Column::new(labels::STATUS, |it, w| Cell::masculine_badge(&it.status, w)),
    Column::new(labels::RECIPIENT, |it, _| Cell::text(it.recipient.as_str())),
    Column::new(labels::OPERATION, operation),
    Column::new(labels::ATTEMPTS_MADE, |it, w| {
        Cell::number(it.attempts.into(), w)
    }),
    Column::new(labels::LAST_ERROR, error),
    Column::new(labels::CREATED, |it, w| Cell::time(it.created_at, w)),
];

fn operation(it: &MailShape, _w: Words) -> Cell {
    it.operation_id
        .map_or(Cell::None, |id| Cell::link(super::operations::path(id), id))
}

/// The mails of a head office.
pub(super) struct OfCompany;

impl List for OfCompany {
    type Row = MailShape;

    const SECTION: Section = Section::Companies;
    const PATH: &'static str = "/companies/{id}/mails";

    fn title(&self, w: Words) -> String {
        w.t("Mails of the company", "E-mails da empresa").to_owned()
    }

    fn source(&self, visit: &Visit) -> Result<String, Failure> {
        Ok(format!("companies/{}/notices", visit.id("id")?))
    }

    fn filters(&self) -> &'static [Filter] {
        FILTERS
    }

    fn columns(&self) -> &'static [Column<MailShape>] {
        COLUMNS
    }

    fn crumb(&self, visit: &Visit) -> Option<(String, String)> {
        Some(company_list::crumb(visit))
    }
}

/// Why the last attempt failed.
fn error(it: &MailShape, w: Words) -> Cell {
    let error = it.last_error.as_deref();
    error.map_or(Cell::None, |error| mail_errors::cell(error, w))
}

/// Why a mail is not sent now, in words.
fn reason(it: &MailShape, w: Words) -> Option<&'static str> {
    let is = |status: MailStatus| it.status.as_str() == status.as_str();
    if is(MailStatus::Held) {
        return Some(w.t(
            "Held: the settings allow no more today, of mails to this address (mail.daily_share_per_company, mail.daily_share) or of addresses that the company reaches for the first time (mail.new_addresses_per_day). It is sent by itself later, with the other offers that wait for the address.",
            "Retido: as configurações não permitem mais hoje, de e-mails para este endereço (mail.daily_share_per_company, mail.daily_share) ou de endereços que a empresa alcança pela primeira vez (mail.new_addresses_per_day). Ele sai sozinho mais tarde, com as outras ofertas que esperam pelo endereço.",
        ));
    }
    if is(MailStatus::Canceled) {
        return Some(w.t(
            "Not sent: what it is about was over before its turn came, such as an offer that was answered, withdrawn or expired.",
            "Não enviado: o assunto se encerrou antes da vez dele, como uma oferta respondida, retirada ou expirada.",
        ));
    }
    is(MailStatus::Suppressed).then(|| {
        w.t(
            "Not sent: the reader of this address wants no mails. To undo that, remove the address under Suppressed addresses, and send this mail again.",
            "Não enviado: quem lê este endereço não quer receber e-mails. Para desfazer, remova-o em Endereços suprimidos e envie este e-mail de novo.",
        )
    })
}

/// The page of a mail.
pub(super) struct One;

#[async_trait]
impl Page for One {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        let w = visit.words;
        let id = visit.id("id")?;
        let it: MailShape = visit.get(format!("notices/{id}")).await?;
        let has = |status: MailStatus| it.status.as_str() == status.as_str();
        let can_resend = has(MailStatus::Failed) || has(MailStatus::Suppressed);
        let resend = webhooks::RESEND_MAIL.link(visit, &[("id", id)]);
        let company = company_list::link(visit, it.company_id).await?;
        let mut record = Record::new(visit, Section::Mails, names::name(it.kind.as_str(), w));
        if let Some(reason) = reason(&it, w) {
            record = record.notice("wait", reason);
        }
        record
            .under("/console/mails", w.t("Mails", "E-mails"))
            .badge(names::masculine_badge(it.status.as_str(), w))
            .action_links(resend.filter(|_| can_resend))
            .fields(vec![
                (labels::RECIPIENT.of(w.0), Cell::text(it.recipient.as_str())),
                (labels::OPERATION.of(w.0), operation(&it, w)),
                (labels::COMPANY.of(w.0), company),
                (labels::CREATED.of(w.0), Cell::time(it.created_at, w)),
                (
                    labels::NEXT_ATTEMPT.of(w.0),
                    Cell::time(it.next_attempt_at, w),
                ),
                (labels::ENDED.of(w.0), Cell::time(it.ended_at, w)),
                (
                    labels::ATTEMPTS_MADE.of(w.0),
                    Cell::number(it.attempts.into(), w),
                ),
                (labels::LAST_ERROR.of(w.0), error(&it, w)),
                (
                    labels::JOINED_TO.of(w.0),
                    it.joined_to.map_or(Cell::None, |id| {
                        Cell::link(format!("/console/mails/{id}"), id)
                    }),
                ),
                (labels::ID.of(w.0), Cell::code(it.id)),
            ])
            .live(it.ended_at.is_none())
            .reply()
    }
}
