//! Sends deliveries again that were ticked in a list.

use std::collections::BTreeSet;

use preauth_core::ErrorCode;
use preauth_core::value::DeliveryId;
use salvo::async_trait;
use salvo::http::{Method, Request, StatusCode};

use crate::directory::DeliveryStatus;
use crate::http::error::ApiError;
use crate::http::pages::form::Form;
use crate::http::pages::headers;
use crate::http::pages::words::Words;
use crate::http::platform::deliveries::DeliveryShape;
use crate::http::reply::Reply;
use crate::labels;

use super::cell::Cell;
use super::failure::{Failure, Wanted, is_unsure};
use super::frame::Section;
use super::guard::{Page, Submit};
use super::links::within_console;
use super::list::LIMIT;
use super::names;
use super::problems::sentences;
use super::record::{Record, Table};
use super::ticks::TickForm;
use super::visit::Visit;

/// The path below the console's.
pub(super) const PATH: &str = "/resend-deliveries";
/// What the API does with each.
const ROUTE: &str = "deliveries/{id}/resend";
/// Maximum number of deliveries of one form: a page of the list.
const MAX_DELIVERIES: u32 = LIMIT;

/// The form around a list of deliveries, if the operator may send them.
pub(super) fn tick_form(visit: &Visit) -> Option<TickForm> {
    let title = visit
        .words
        .t("Send the ticked ones now", "Enviar agora as marcadas");
    let form = TickForm::new(visit, PATH, title);
    visit.permits(&Method::POST, ROUTE).then_some(form)
}

/// The form stands in lists; its own page leads there.
pub(super) struct ResendMany;

#[async_trait]
impl Page for ResendMany {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure> {
        visit.require(&Method::POST, ROUTE)?;
        Ok(headers::see_other("/console/deliveries"))
    }
}

#[async_trait]
impl Submit for ResendMany {
    async fn submit(&self, visit: &Visit, form: &Form, _req: &Request) -> Result<Reply, Failure> {
        let w = visit.words;
        let ids: BTreeSet<_> = form.all("id").collect();
        let record = Record::new(
            visit,
            Section::Deliveries,
            w.t("Deliveries sent again", "Entregas reenviadas"),
        )
        .under(
            within_console(form.one("next").unwrap_or_default()),
            w.t("← Back to the list", "← Voltar à lista"),
        );
        let count = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        if (1..=MAX_DELIVERIES).contains(&count) {
            return Results::of(visit, &ids).await?.page(record, w);
        }
        visit.require(&Method::POST, ROUTE)?;
        let nothing = w.t("Nothing was done.", "Nada foi feito.");
        let why = if ids.is_empty() {
            w.t("No delivery was ticked.", "Nenhuma entrega foi marcada.")
                .to_owned()
        } else {
            let max = w.t(
                "Maximum number of deliveries at once, a page of the list:",
                "Número máximo de entregas de uma vez, uma página da lista:",
            );
            format!("{max} {MAX_DELIVERIES}.")
        };
        let text = format!("{why} {nothing}");
        record.notice("bad", text).reply_as(StatusCode::BAD_REQUEST)
    }
}

/// What became of the deliveries.
#[derive(Default)]
struct Results {
    queued: Vec<DeliveryShape>,
    left: Vec<Left>,
    /// Whether of one of these it is not known.
    has_unknown: bool,
    /// The status of the first refusal.
    status: Option<StatusCode>,
}

/// A delivery that was not queued, or may not have been.
struct Left {
    id: String,
    /// As it stands, where that explains the refusal.
    delivery: Option<DeliveryShape>,
    reason: String,
}

impl Results {
    /// Sends one after the other. After a failure of the server it is asked no more.
    async fn of(visit: &Visit, ids: &BTreeSet<&str>) -> Result<Self, Failure> {
        let mut results = Self::default();
        let mut has_failed = false;
        for id in ids {
            if has_failed {
                let reason = visit.words.t(
                    "Not tried, because the server failed at another one.",
                    "Não foi tentada, porque o servidor falhou em outra.",
                );
                results.leave(id, None, reason.to_owned());
                continue;
            }
            match resend(visit, id).await {
                Ok(delivery) => results.queued.push(delivery),
                // What the role does not permit for one, it does not for any.
                Err(error) if error.status() == StatusCode::FORBIDDEN => return Err(error.into()),
                Err(error) => {
                    has_failed = error.status().is_server_error();
                    results.status = results.status.or(Some(error.status()));
                    results.refuse(visit, id, &error).await;
                }
            }
        }
        Ok(results)
    }

    /// Keeps a refusal with its reason, which the delivery's status explains better than the code does.
    async fn refuse(&mut self, visit: &Visit, id: &str, error: &ApiError) {
        let w = visit.words;
        let mut delivery: Option<DeliveryShape> = None;
        if error.code == ErrorCode::ResourceConflict {
            delivery = visit.get(format!("deliveries/{id}")).await.ok();
        }
        let status = delivery.as_ref().and_then(|it| it.status.known().copied());
        let reason = if status == Some(DeliveryStatus::Paused) {
            w.t(
                "Its endpoint is paused: it is sent when the endpoint is resumed.",
                "O endpoint está pausado: ela sai quando ele for retomado.",
            )
            .to_owned()
        } else if is_unsure(error, Wanted::Form) {
            self.has_unknown = true;
            w.t(
                "Not known whether it was queued: its own page and the audit log show it.",
                "Não se sabe se entrou na fila: a página dela e a auditoria mostram.",
            )
            .to_owned()
        } else {
            sentences(error, w).join(" ")
        };
        self.leave(id, delivery, reason);
    }

    fn leave(&mut self, id: &str, delivery: Option<DeliveryShape>, reason: String) {
        self.left.push(Left {
            id: id.to_owned(),
            delivery,
            reason,
        });
    }

    fn page(&self, mut record: Record, w: Words) -> Result<Reply, Failure> {
        let count = |number: usize| w.number(&u64::try_from(number).unwrap_or_default());
        if !self.queued.is_empty() {
            let text = w.t("Queued, and sent now:", "Na fila, e saem agora:");
            record = record
                .notice("good", format!("{text} {}.", count(self.queued.len())))
                .table(queued(&self.queued, w));
        }
        if !self.left.is_empty() {
            let text = if self.has_unknown {
                w.t("Not queued, or not known:", "Fora da fila, ou não se sabe:")
            } else {
                w.t("Not queued:", "Fora da fila:")
            };
            record = record
                .notice("bad", format!("{text} {}.", count(self.left.len())))
                .table(left(&self.left, text, w));
        }
        let status = self.status.filter(|_| self.queued.is_empty());
        record.reply_as(status.unwrap_or(StatusCode::OK))
    }
}

/// One delivery, as a form of its own would send it.
async fn resend(visit: &Visit, id: &str) -> Result<DeliveryShape, ApiError> {
    if DeliveryId::parse(id).is_err() {
        return Err(ApiError::new(ErrorCode::ResourceNotFound));
    }
    let path = format!("deliveries/{id}/resend");
    let sent = visit.send_one_of_several(Method::POST, path).await;
    match sent.and_then(|answer| answer.parse()) {
        Ok(delivery) => Ok(delivery),
        Err(Failure::Api(error)) => Err(error),
        Err(Failure::ForeignForm) => Err(ApiError::new(ErrorCode::OperatorForbidden)),
    }
}

fn queued(found: &[DeliveryShape], w: Words) -> Table {
    let row = |it: &DeliveryShape| {
        vec![
            link(it, w),
            operation(it),
            Cell::time(it.created_at, w),
            Cell::badge(&it.status, w),
        ]
    };
    Table {
        title: w.t("Queued", "Na fila").to_owned(),
        head: [
            labels::EVENT,
            labels::OPERATION,
            labels::CREATED,
            labels::STATUS,
        ]
        .map(|it| it.of(w.0))
        .to_vec(),
        rows: found.iter().map(row).collect(),
        more: None,
    }
}

fn left(found: &[Left], title: &str, w: Words) -> Table {
    let row = |it: &Left| {
        let delivery = it.delivery.as_ref();
        vec![
            delivery.map_or_else(|| by_id(&it.id), |delivery| link(delivery, w)),
            delivery.map_or(Cell::None, operation),
            Cell::text(it.reason.as_str()),
        ]
    };
    Table {
        title: title.trim_end_matches(':').to_owned(),
        head: [labels::EVENT, labels::OPERATION, labels::REASON]
            .map(|it| it.of(w.0))
            .to_vec(),
        rows: found.iter().map(row).collect(),
        more: None,
    }
}

/// A delivery of which only the id is known, if it is one.
fn by_id(id: &str) -> Cell {
    match DeliveryId::parse(id) {
        Ok(found) => Cell::link(format!("/console/deliveries/{found}"), id),
        Err(_) => Cell::code(id),
    }
}

fn link(it: &DeliveryShape, w: Words) -> Cell {
    let name = names::name(it.event_type.as_str(), w);
    Cell::link(format!("/console/deliveries/{}", it.id), name)
}

fn operation(it: &DeliveryShape) -> Cell {
    it.operation_id
        .map_or(Cell::None, |id| Cell::link(super::operations::path(id), id))
}
