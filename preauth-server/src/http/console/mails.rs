//! Mails to suppliers and companies.

use preauth_core::port::MailKind;
use salvo::async_trait;

use crate::directory::MailStatus;
use crate::http::pages::words::Words;
use crate::http::platform::mails::MailShape;
use crate::http::reply::Reply;
use crate::labels;

use super::action_forms::webhooks;
use super::cell::Cell;
use super::company_list;
use super::failure::Failure;
use super::frame::Section;
use super::guard::Page;
use super::list::{Column, Filter, FilterKind, List};
use super::names;
use super::record::Record;
use super::visit::Visit;

/// Everybody's mails.
pub(super) struct All;

impl List for All {
    type Row = MailShape;

    const SECTION: Section = Section::Mails;
    const PATH: &'static str = "/mails";

    fn title(&self, w: Words) -> String {
        w.t("Mails", "E-mails").to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("notices".to_owned())
    }

    fn filters(&self) -> &'static [Filter] {
        const FILTERS: &[Filter] = &[
            Filter {
                name: "status",
                label: labels::STATUS,
                kind: FilterKind::Choice(|| MailStatus::ALL.iter().map(|it| it.as_str()).collect()),
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
        FILTERS
    }

    fn columns(&self) -> &'static [Column<MailShape>] {
        const COLUMNS: &[Column<MailShape>] = &[
            Column::new(labels::KIND, |it, w| {
                let href = format!("/console/mails/{}", it.id);
                Cell::link(href, names::name(it.kind.as_str(), w))
            }),
            Column::new(labels::STATUS, |it, w| Cell::badge(&it.status, w)),
            Column::new(labels::RECIPIENT, |it, _| Cell::text(it.recipient.as_str())),
            Column::new(labels::OPERATION, operation),
            Column::new(labels::ATTEMPTS_MADE, |it, w| {
                Cell::number(it.attempts.into(), w)
            }),
            Column::new(labels::LAST_ERROR, |it, _| {
                Cell::maybe(it.last_error.as_deref())
            }),
            Column::new(labels::CREATED, |it, w| Cell::time(it.created_at, w)),
        ];
        COLUMNS
    }
}

fn operation(it: &MailShape, _w: Words) -> Cell {
    it.operation_id
        .map_or(Cell::None, |id| Cell::link(super::operations::path(id), id))
}

/// Why a mail is not sent now, in words.
fn reason(it: &MailShape, w: Words) -> Option<&'static str> {
    let is = |status: MailStatus| it.status.as_str() == status.as_str();
    if is(MailStatus::Held) {
        return Some(w.t(
            "Held: this address has had as many mails today as the settings allow (mail.daily_share_per_company, mail.daily_share). It is sent by itself, in one mail with the other offers that wait, before they expire.",
            "Retido: este endereço já recebeu hoje quantos e-mails as configurações permitem (mail.daily_share_per_company, mail.daily_share). Ele sai sozinho, em um só e-mail com as outras ofertas que esperam, antes que elas expirem.",
        ));
    }
    is(MailStatus::Suppressed).then(|| {
        w.t(
            "Not sent: the reader of this address wants no mails. To undo that, remove the address under Suppressed addresses.",
            "Não enviado: quem lê este endereço não quer receber e-mails. Para desfazer, remova-o em Endereços suprimidos.",
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
        let can_resend = it.status.as_str() == MailStatus::Failed.as_str();
        let resend = webhooks::RESEND_MAIL.link(visit, &[("id", id)]);
        let company = company_list::link(visit, it.company_id).await?;
        let mut record = Record::new(visit, Section::Mails, names::name(it.kind.as_str(), w));
        if let Some(reason) = reason(&it, w) {
            record = record.notice("wait", reason);
        }
        record
            .under("/console/mails", w.t("Mails", "E-mails"))
            .badge(names::badge(it.status.as_str(), w))
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
                (
                    labels::LAST_ERROR.of(w.0),
                    Cell::maybe(it.last_error.as_deref()),
                ),
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
