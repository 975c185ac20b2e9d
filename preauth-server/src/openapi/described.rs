//! One operation of a description, before its API adds the common parts.

use preauth_core::ErrorCode;

use super::document::{Content, Operation, Parameter, RefOr, RequestBody, Requirement, Response};
use super::headers;
use super::listed::Listed;
use super::refusals::Refusals;
use super::schema::Schema;

/// The refusals of reading a body.
const OF_BODIES: [ErrorCode; 3] = [
    ErrorCode::ValidationError,
    ErrorCode::RequestTimeout,
    ErrorCode::PayloadTooLarge,
];

/// A method of a path, and its effect.
pub(super) struct Described {
    pub(super) path: String,
    pub(super) method: &'static str,
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    security: Option<Vec<Requirement>>,
    parameters: Vec<Parameter>,
    body: Option<RequestBody>,
    answers: Vec<(u16, Answer)>,
    codes: Vec<ErrorCode>,
}

struct Answer {
    description: &'static str,
    content: Listed<Content>,
    headers: Vec<&'static str>,
}

impl Described {
    pub(super) fn new(
        method: &'static str,
        path: impl Into<String>,
        tag: &'static str,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            path: path.into(),
            method,
            id,
            tag,
            summary,
            description: "",
            security: None,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            codes: Vec::new(),
        }
    }

    /// Adds a description to the summary.
    pub(super) fn note(self, description: &'static str) -> Self {
        Self {
            description,
            ..self
        }
    }

    /// Sets other security than the API's own.
    pub(super) fn security(self, security: Vec<Requirement>) -> Self {
        Self {
            security: Some(security),
            ..self
        }
    }

    pub(super) fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Adds a JSON body, and the refusals of reading one.
    pub(super) fn body(self, description: &'static str, schema: Schema) -> Self {
        self.with_body(description, schema, true)
    }

    /// Adds another form of the same body.
    pub(super) fn or_body(mut self, media_type: &str, content: Content) -> Self {
        if let Some(body) = &mut self.body {
            body.content.push(media_type, content);
        }
        self
    }

    /// Adds an optional JSON body.
    pub(super) fn optional_body(self, description: &'static str, schema: Schema) -> Self {
        self.with_body(description, schema, false)
    }

    fn with_body(self, description: &'static str, schema: Schema, required: bool) -> Self {
        let content = Content::json(schema);
        Self {
            body: Some(RequestBody {
                description,
                required,
                content,
            }),
            ..self.refuses(&OF_BODIES)
        }
    }

    /// Adds the refusals of reading a body that is not needed but is read if it was sent.
    pub(super) fn reads_body(self) -> Self {
        self.refuses(&OF_BODIES)
    }

    /// Adds an answer with a JSON body.
    pub(super) fn answers(self, status: u16, description: &'static str, body: Schema) -> Self {
        self.answers_content(status, description, Content::json(body))
    }

    /// Adds an answer without body.
    pub(super) fn answers_empty(self, status: u16, description: &'static str) -> Self {
        self.answers_content(status, description, Listed::default())
    }

    /// Adds an answer with any body.
    pub(super) fn answers_content(
        mut self,
        status: u16,
        description: &'static str,
        content: Listed<Content>,
    ) -> Self {
        let answer = Answer {
            description,
            content,
            headers: Vec::new(),
        };
        self.answers.push((status, answer));
        self
    }

    /// Adds a header to the last answer.
    pub(super) fn header(mut self, name: &'static str) -> Self {
        if let Some((_, answer)) = self.answers.last_mut() {
            answer.headers.push(name);
        }
        self
    }

    /// Adds codes of its refusals.
    pub(super) fn refuses(mut self, codes: &[ErrorCode]) -> Self {
        self.codes.extend_from_slice(codes);
        self
    }

    /// The operation in an API where every success has these headers.
    pub(super) fn operation(self, refusals: &Refusals, success: &[&'static str]) -> Operation {
        let answers = self.answers.into_iter().map(|(status, answer)| {
            let response = Response {
                description: answer.description.to_owned(),
                error_codes: Vec::new(),
                headers: headers::of(success.iter().chain(&answer.headers)),
                content: answer.content,
            };
            (status, RefOr::Here(response))
        });
        let responses: Listed<_> = answers
            .chain(refusals.answers(&self.codes))
            .map(|(status, response)| (status.to_string(), response))
            .collect();
        Operation {
            id: self.id,
            tags: [self.tag],
            summary: self.summary,
            description: self.description.to_owned(),
            security: self.security,
            parameters: self.parameters,
            request_body: self.body,
            responses,
        }
    }
}
