//! Pages for what could not be shown or done.

use askama::Template;
use preauth_core::ErrorCode;
use preauth_core::wire::Open;
use salvo::http::StatusCode;

use crate::http::english;
use crate::http::error::ApiError;
use crate::http::pages::headers::{self, Referrer};
use crate::http::pages::words::Words;
use crate::http::reply::Reply;
use crate::language::Language;

use super::frame::Frame;

/// Why a page is not shown.
pub(super) enum Failure {
    /// The platform API refused.
    Refused(Refused),
    /// The console itself failed or refused.
    Api(ApiError),
    /// The request was not sent by a form of this session.
    ForeignForm,
}

/// A refusal of the platform API: a code and a message for each problem.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) items: Vec<(Open<ErrorCode>, String)>,
}

impl Refused {
    /// A sentence for each problem, in the reader's language. The API's messages are Portuguese; those about
    /// one field have no English counterpart.
    pub(super) fn sentences(&self, w: Words) -> Vec<String> {
        let sentence = |(code, message): &(Open<ErrorCode>, String)| match (w.0, code.known()) {
            (Language::English, Some(ErrorCode::ValidationError) | None)
            | (Language::Portuguese, _) => message.clone(),
            (Language::English, Some(code)) => capital(english(*code)),
        };
        self.items.iter().map(sentence).collect()
    }

    pub(super) fn has(&self, code: ErrorCode) -> bool {
        self.items
            .iter()
            .any(|(each, _)| each.known() == Some(&code))
    }
}

/// A sentence from a clause.
fn capital(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

#[derive(Template)]
#[template(path = "console/failure.html")]
struct FailurePage {
    f: Frame,
    title: String,
    sentences: Vec<String>,
}

/// The page of a failure.
pub(super) fn page(failure: Failure, f: Frame) -> Result<Reply, ApiError> {
    let w = f.w;
    let (status, sentences) = match failure {
        Failure::Refused(refused) => (refused.status, refused.sentences(w)),
        Failure::ForeignForm => {
            let sentence = w.t(
                "This form was not sent from a page of this session. Nothing was done; open the page again.",
                "Este formulário não veio de uma página desta sessão. Nada foi feito; abra a página de novo.",
            );
            (StatusCode::FORBIDDEN, vec![sentence.to_owned()])
        }
        Failure::Api(error) => {
            let status = crate::http::error::status(error.code);
            let refused = Refused {
                status,
                items: vec![(
                    error.code.into(),
                    crate::http::sentence(error.code).to_owned(),
                )],
            };
            (status, refused.sentences(w))
        }
    };
    let title = match status {
        StatusCode::NOT_FOUND => w.t("Not found", "Não encontrado"),
        StatusCode::FORBIDDEN => w.t("Not permitted", "Não permitido"),
        StatusCode::CONFLICT => w.t("Not possible any more", "Não é mais possível"),
        StatusCode::SERVICE_UNAVAILABLE => w.t(
            "The service is unavailable for the moment",
            "O serviço está indisponível no momento",
        ),
        status if status.is_server_error() => w.t("The server failed", "O servidor falhou"),
        _ => w.t("Not done", "Não foi feito"),
    };
    let page = FailurePage {
        f,
        title: title.to_owned(),
        sentences,
    };
    render(status, &page)
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

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}
