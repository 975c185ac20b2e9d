//! Pages for what could not be shown or done.

use askama::Template;
use preauth_core::ErrorCode;
use salvo::http::StatusCode;

use crate::http::error::ApiError;
use crate::http::pages::headers::{self, Referrer};
use crate::http::pages::words::Words;
use crate::http::reply::Reply;

use super::PREFIX;
use super::frame::Frame;
use super::problems::sentences;

/// Why a page is not shown, or a form not done.
pub(super) enum Failure {
    /// The platform API or the console refused or failed.
    Api(ApiError),
    /// The request was not sent by a form of this session.
    ForeignForm,
}

/// What the failed request wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// To sign in, or to read in another language: nobody needs to have signed in.
    Open,
    /// To see something.
    Page,
    /// To do something.
    Form,
}

#[derive(Template)]
#[template(path = "console/failure.html")]
struct FailurePage {
    f: Frame,
    title: &'static str,
    sentences: Vec<String>,
    /// Where to go on.
    links: Vec<(String, &'static str)>,
}

/// The page of a failure; `f.here` is where the reader may try again.
pub(super) fn page(failure: Failure, wanted: Wanted, f: Frame) -> Result<Reply, ApiError> {
    let w = f.w;
    let error = match failure {
        Failure::Api(error) => error,
        Failure::ForeignForm => {
            let sentence = w.t(
                "This form was not sent from a page of this session. Nothing was done; open the page again.",
                "Este formulário não veio de uma página desta sessão. Nada foi feito; abra a página de novo.",
            );
            return short(StatusCode::FORBIDDEN, sentence, f);
        }
    };
    let status = error.status();
    let mut links = Vec::new();
    let mut sentences = plight(&error, wanted, w).unwrap_or_else(|| sentences(&error, w));
    if status.is_server_error() {
        if wanted == Wanted::Form {
            let kept = w.t(
                "Your browser's back button keeps what you typed.",
                "O botão de voltar do navegador mantém o que você digitou.",
            );
            sentences.push(kept.to_owned());
        }
        let again = match wanted {
            Wanted::Open | Wanted::Page => w.t("Try again", "Tentar de novo"),
            Wanted::Form => w.t("To the form", "Para o formulário"),
        };
        links.push((f.here.clone(), again));
    }
    if is_unsure(&error, wanted) {
        links.push(audit_log(w));
    }
    links.push(overview(w));
    let page = FailurePage {
        title: title(status, w),
        sentences,
        links,
        f,
    };
    Ok(error.add_retry_after(render(status, &page)?))
}

/// The page for an address that has none.
pub(super) fn no_such_page(f: Frame) -> Result<Reply, ApiError> {
    let sentence = f.t(
        "The console has no page at this address, or its form is opened from another page.",
        "O console não tem página neste endereço, ou o formulário dela é aberto a partir de outra página.",
    );
    short(StatusCode::NOT_FOUND, sentence, f)
}

/// A page of one sentence, from which only the overview leads on.
fn short(status: StatusCode, sentence: &str, f: Frame) -> Result<Reply, ApiError> {
    let page = FailurePage {
        title: title(status, f.w),
        sentences: vec![sentence.to_owned()],
        links: vec![overview(f.w)],
        f,
    };
    render(status, &page)
}

fn title(status: StatusCode, w: Words) -> &'static str {
    match status {
        StatusCode::NOT_FOUND => w.t("Not found", "Não encontrado"),
        StatusCode::FORBIDDEN => w.t("Not permitted", "Não permitido"),
        StatusCode::CONFLICT => w.t("Not possible any more", "Não é mais possível"),
        StatusCode::SERVICE_UNAVAILABLE => w.t(
            "The service is unavailable for the moment",
            "O serviço está indisponível no momento",
        ),
        status if status.is_server_error() => w.t("The server failed", "O servidor falhou"),
        _ => w.t("Not done", "Não foi feito"),
    }
}

/// Whether the request may have been done, or may yet be.
pub(super) fn is_unsure(error: &ApiError, wanted: Wanted) -> bool {
    wanted == Wanted::Form && error.code == ErrorCode::InternalError
}

/// What became of a request that the server could not answer, and what to do next; `None` for refusals.
pub(super) fn plight(error: &ApiError, wanted: Wanted, w: Words) -> Option<Vec<String>> {
    let is_unavailable = error.code == ErrorCode::ServiceUnavailable;
    if !is_unavailable && error.code != ErrorCode::InternalError {
        return None;
    }
    // What says more than its code says what became of it, too.
    if error.has_message() && !is_unsure(error, wanted) {
        return Some(vec![error.sentence(w.0)]);
    }
    let became = match wanted {
        Wanted::Form if is_unsure(error, wanted) => w.t(
            "It is not known whether this was done: the server failed, or lost its database, on the way. The audit log has a row if it was done, after a few seconds at the latest.",
            "Não se sabe se isto foi feito: o servidor falhou, ou perdeu o banco de dados, no meio do caminho. Se foi feito, a auditoria tem uma linha, no máximo alguns segundos depois.",
        ),
        Wanted::Form => w.t(
            "Nothing was done. Send the form again in a moment.",
            "Nada foi feito. Envie o formulário de novo em instantes.",
        ),
        Wanted::Open => w.t(
            "Nothing was done. Try again in a moment.",
            "Nada foi feito. Tente de novo em instantes.",
        ),
        Wanted::Page => w.t(
            "Nothing was lost, and your session stays open. Try again in a moment.",
            "Nada se perdeu, e sua sessão continua aberta. Tente de novo em instantes.",
        ),
    };
    let cause = if error.has_message() {
        error.sentence(w.0)
    } else if is_unavailable {
        w.t(
            "The database does not answer, or is too busy.",
            "O banco de dados não responde, ou está ocupado demais.",
        )
        .to_owned()
    } else {
        w.t("The log has the cause.", "O log tem a causa.")
            .to_owned()
    };
    let lasting = w.t(
        "If it lasts: “preauth-server doctor” and /readyz name what is missing.",
        "Se persistir: “preauth-server doctor” e /readyz mostram o que falta.",
    );
    Some(vec![cause, became.to_owned(), lasting.to_owned()])
}

fn overview(w: Words) -> (String, &'static str) {
    let text = w.t("To the overview", "Para a visão geral");
    (PREFIX.to_owned(), text)
}

pub(super) fn audit_log(w: Words) -> (String, &'static str) {
    (format!("{PREFIX}/log"), w.t("Audit log", "Auditoria"))
}

/// A page as an answer.
pub(super) fn render(status: StatusCode, page: &impl Template) -> Result<Reply, ApiError> {
    let html = page.render().map_err(ApiError::internal)?;
    Ok(headers::page(status, html, Referrer::SameOrigin))
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}
