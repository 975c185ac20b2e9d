//! Pages of a sentence or two: the start page, refusals, and what went wrong.

use std::sync::Arc;

use askama::Template;
use salvo::http::{Request, Response, StatusCode};
use salvo::{Depot, FlowCtrl, Handler, Router, async_trait};

use crate::http::pages::words::Words;
use crate::http::reply::Reply;
use crate::http::request_notes::RequestNotes;

use super::frame::{self, Frame};

/// What a short page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The start page.
    Home,
    /// No link of this server, or of an operation that there is not.
    Unknown,
    /// A link that is no longer shown.
    Over,
    /// The address that a link was sent to is not stored any more.
    AddressForgotten,
    /// A form of another site.
    CrossSite,
    /// What was asked for is not possible any more.
    NotPossible,
    /// A request that makes no sense.
    Malformed,
    /// Too many requests of this address.
    TooMany,
    /// Nothing can be done now.
    Later,
    /// A defect of this server.
    Failed,
}

#[derive(Template)]
#[template(path = "portal/message.html")]
struct Short<'a> {
    frame: &'a Frame,
    heading: &'static str,
    text: &'static str,
}

impl Message {
    /// For a refusal with this status.
    pub(super) fn of_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::Unknown,
            StatusCode::TOO_MANY_REQUESTS => Self::TooMany,
            StatusCode::SERVICE_UNAVAILABLE => Self::Later,
            status if status.is_server_error() => Self::Failed,
            _ => Self::Malformed,
        }
    }

    const fn heading(self, words: Words) -> &'static str {
        match self {
            Self::Home => words.t(
                "Open the link in your e-mail",
                "Abra o link que você recebeu por e-mail",
            ),
            Self::Unknown => words.t("This link is not valid", "Este link não é válido"),
            Self::Over => words.t("This link has ended", "Este link foi encerrado"),
            Self::AddressForgotten => words.t(
                "Your address is no longer stored",
                "Seu endereço não está mais guardado",
            ),
            Self::CrossSite | Self::Malformed => words.t(
                "This was not understood",
                "Não foi possível entender o pedido",
            ),
            Self::NotPossible => words.t("No longer possible", "Não é mais possível"),
            Self::TooMany => words.t("Too many requests", "Acessos demais"),
            Self::Later => words.t("Please come back later", "Tente de novo mais tarde"),
            Self::Failed => words.t("Something went wrong", "Algo deu errado"),
        }
    }

    /// The sentence below the heading.
    pub(super) const fn text(self, words: Words) -> &'static str {
        match self {
            Self::Home => words.t(
                "Each offer has a page of its own. Its address is in the e-mail about the offer.",
                "Cada oferta tem uma página própria. O endereço dela está no e-mail sobre a oferta.",
            ),
            Self::Unknown => words.t(
                "Open the link in the e-mail again, or copy all of it. If that does not help, ask the company that made the offer.",
                "Abra de novo o link do e-mail ou copie o link inteiro. Se não resolver, fale com a empresa que fez a oferta.",
            ),
            Self::Over => words.t(
                "The page of an offer is shown until 30 days after the offer was answered or closed.",
                "A página de uma oferta fica disponível até 30 dias depois que a oferta é respondida ou encerrada.",
            ),
            Self::AddressForgotten => words.t(
                "It is removed 30 days after the e-mail was sent. To receive no more e-mails, use the link in the latest one.",
                "Ele é apagado 30 dias depois do envio do e-mail. Para não receber mais e-mails, use o link do mais recente.",
            ),
            Self::CrossSite => words.t(
                "The form was not sent by this page, so nothing was done. Open the link in your e-mail.",
                "O formulário não veio desta página, por isso nada foi feito. Abra o link que você recebeu por e-mail.",
            ),
            Self::NotPossible => words.t(
                "Nothing was done: the offer had already changed. Here is how it stands now.",
                "Nada foi feito: a oferta já tinha mudado. Veja abaixo como ela está agora.",
            ),
            Self::Malformed => words.t(
                "Nothing was done. Open the link in your e-mail again.",
                "Nada foi feito. Abra de novo o link que você recebeu por e-mail.",
            ),
            Self::TooMany => words.t(
                "There were too many requests from your network. Wait a minute, then try again.",
                "Houve acessos demais a partir da sua rede. Espere um minuto e tente de novo.",
            ),
            Self::Later => words.t(
                "The service cannot answer at the moment. If you were answering an offer, open its link again in a few minutes and look whether your answer was recorded.",
                "O serviço não pode responder neste momento. Se você estava respondendo a uma oferta, abra o link dela de novo em alguns minutos e veja se a resposta foi registrada.",
            ),
            Self::Failed => words.t(
                "The error was recorded. Open the link again in a few minutes and look how the offer stands.",
                "O erro foi registrado. Abra o link de novo em alguns minutos e veja como está a oferta.",
            ),
        }
    }
}

/// A short page.
pub(super) fn page(frame: &Frame, status: StatusCode, message: Message) -> Reply {
    let short = Short {
        frame,
        heading: message.heading(frame.words),
        text: message.text(frame.words),
    };
    // These templates cannot fail; without a body the framework would write its own.
    frame::page(status, &short).unwrap_or_else(|_| Reply::empty(status))
}

/// The start page.
pub(super) fn home() -> Router {
    Router::new().get(Home).head(Home)
}

#[derive(Clone, Copy)]
struct Home;

#[async_trait]
impl Handler for Home {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        RequestNotes::of(depot).route = Some(Arc::from("/"));
        let frame = Frame::of(req, String::new());
        page(&frame, StatusCode::OK, Message::Home).write(res);
    }
}
