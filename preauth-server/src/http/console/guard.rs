//! What stands before every page: the session, and for forms their origin and the session's token.

use std::sync::Arc;

use preauth_core::ErrorCode;
use preauth_core::value::OperatorName;
use salvo::http::{Request, Response};
use salvo::{Depot, FlowCtrl, Handler, async_trait};

use crate::fair::{Tenant, charged_to};
use crate::http::error::ApiError;
use crate::http::handler;
use crate::http::pages::form::Form;
use crate::http::pages::same_origin::is_same_origin;
use crate::http::pages::words::Words;
use crate::http::pages::{headers, language};
use crate::http::reply::Reply;
use crate::http::request_notes::RequestNotes;
use crate::log;

use super::failure::{self, Failure, Wanted};
use super::frame::Frame;
use super::links::{SIGN_IN, UNSENT, path_from, within_console};
use super::visit::{Visit, here};
use super::{Console, PREFIX};

/// A page for those who have signed in.
#[async_trait]
pub(super) trait Page: Send + Sync + 'static {
    async fn show(&self, visit: &Visit) -> Result<Reply, Failure>;
}

/// What a form does.
#[async_trait]
pub(super) trait Submit: Send + Sync + 'static {
    async fn submit(&self, visit: &Visit, form: &Form, req: &Request) -> Result<Reply, Failure>;
}

/// What stands at a method of a path.
pub(super) enum Place {
    Page(Box<dyn Page>),
    Submit(Box<dyn Submit>),
    /// For those who have not signed in.
    Open(Box<dyn Open>),
}

/// A page or form for those who have not signed in.
#[async_trait]
pub(super) trait Open: Send + Sync + 'static {
    async fn answer(&self, console: &Console, req: &mut Request) -> Result<Reply, Failure>;
}

/// Wraps every page and form of the console.
pub(super) struct Guarded {
    pub(super) console: Arc<Console>,
    pub(super) route: Arc<str>,
    pub(super) place: Place,
}

#[async_trait]
impl Handler for Guarded {
    async fn handle(
        &self,
        req: &mut Request,
        depot: &mut Depot,
        res: &mut Response,
        _ctrl: &mut FlowCtrl,
    ) {
        RequestNotes::of(depot).route = Some(Arc::clone(&self.route));
        let mut notes = Notes::default();
        let answer = self.answer(req, &mut notes);
        let outcome = charged_to(Tenant::Platform, handler::run(answer)).await;
        let all = RequestNotes::of(depot);
        (all.operator, all.code, all.cause) = (notes.operator, notes.code, notes.cause);
        let reply = match outcome {
            Ok(reply) => reply,
            Err(error) => {
                let failed = handler::settle(Err(error), depot);
                let frame = self.frame(req, Words(language::of_request(req)));
                let error = ApiError::new(ErrorCode::InternalError);
                failure::page(error.into(), self.wanted(), frame).unwrap_or(failed)
            }
        };
        reply.write(res);
    }
}

/// What the log learns of a request.
#[derive(Default)]
struct Notes {
    operator: Option<OperatorName>,
    code: Option<ErrorCode>,
    cause: Option<String>,
}

impl Notes {
    /// Notes a failure like those of the API, before its page is made.
    fn note(&mut self, failure: &Failure) {
        if let Failure::Api(error) = failure {
            self.code = Some(error.code);
            self.cause = error.cause().map(|cause| log::chain(cause));
        }
    }
}

impl Guarded {
    async fn answer(&self, req: &mut Request, notes: &mut Notes) -> Result<Reply, ApiError> {
        let words = Words(language::of_request(req));
        let (frame, wanted) = (self.frame(req, words), self.wanted());
        let open = |failure, notes: &mut Notes| {
            notes.note(&failure);
            failure::page(failure, wanted, frame)
        };
        if let Place::Open(place) = &self.place {
            let answered = place.answer(&self.console, req).await;
            return answered.or_else(|failure| open(failure, notes));
        }
        let signed = match self.console.signed(req).await {
            Ok(Some(signed)) => signed,
            Ok(None) => return Ok(headers::see_other(&self.sign_in_from(req))),
            Err(error) => return open(error.into(), notes),
        };
        notes.operator = Some(signed.operator.name.clone());
        let mut visit = Visit::new(&self.console, signed, words, req)?;
        let outcome = match &self.place {
            Place::Page(page) => page.show(&visit).await,
            Place::Submit(submit) => match self.form(&visit, req).await {
                // The form may have taken its time: the session may have ended since, or its operator been revoked.
                Ok(form) => match self.console.signed(req).await {
                    Ok(Some(signed)) => {
                        visit.signed = signed;
                        submit.submit(&visit, &form, req).await
                    }
                    Ok(None) => return Ok(headers::see_other(&self.sign_in_from(req))),
                    Err(error) => Err(error.into()),
                },
                Err(failure) => Err(failure),
            },
            Place::Open(_) => Err(ApiError::internal("it was answered").into()),
        };
        outcome.or_else(|failure| {
            notes.note(&failure);
            failure::page(failure, self.wanted(), visit.frame_at(self.again(req)))
        })
    }

    const fn wanted(&self) -> Wanted {
        match self.place {
            Place::Submit(_) => Wanted::Form,
            Place::Page(_) => Wanted::Page,
            // Signing in and choosing a language are done again without a thought.
            Place::Open(_) => Wanted::Open,
        }
    }

    /// Around a page for somebody who has not signed in, or may have.
    fn frame(&self, req: &Request, words: Words) -> Frame {
        Frame::open(words, &self.again(req))
    }

    /// The form for signing in, which leads back here. What a form held is lost, and the page says so.
    fn sign_in_from(&self, req: &Request) -> String {
        let form = path_from(&self.again(req));
        match self.place {
            // That has happened.
            Place::Submit(_) if &*self.route == SIGN_OUT => SIGN_IN.to_owned(),
            Place::Submit(_) => format!("{form}&{UNSENT}=1"),
            Place::Page(_) | Place::Open(_) => form,
        }
    }

    /// The page on which the reader may try again: nearly every form has a page at its own path.
    fn again(&self, req: &Request) -> String {
        match &*self.route {
            SIGN_OUT | LANGUAGE => PREFIX.to_owned(),
            _ => within_console(&here(req)).to_owned(),
        }
    }

    /// The fields of a form, if a page of this session sent them.
    async fn form(&self, visit: &Visit, req: &mut Request) -> Result<Form, Failure> {
        if !is_same_origin(req) {
            return Err(Failure::ForeignForm);
        }
        let form = Form::read(req).await?;
        let token = form.one(FORM_TOKEN).unwrap_or_default();
        if !visit.signed.secret.admits_form(token) {
            return Err(Failure::ForeignForm);
        }
        Ok(form)
    }
}

/// Forms without a page of their own.
const SIGN_OUT: &str = "/console/sign-out";
const LANGUAGE: &str = "/console/language";
/// The field of every form that holds the session's token.
const FORM_TOKEN: &str = "form_token";
