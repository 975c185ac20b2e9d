//! One operation of a description, before its API adds the common parts.

use preauth_core::ErrorCode;
use preauth_core::access::OperatorRole;

use super::document::{
    Content, Operation, Parameter, RefOr, RequestBody, Requirement, Response, Tag,
};
use super::headers;
use super::listed::Listed;
use super::refusals::Refusals;
use super::schema::Schema;
use super::shared;

/// The refusals of reading a body.
const OF_BODIES: [ErrorCode; 3] = [
    ErrorCode::ValidationError,
    ErrorCode::RequestTimeout,
    ErrorCode::PayloadTooLarge,
];

/// A method of a path, and its effect.
pub(in crate::http) struct Described {
    pub(in crate::http) path: String,
    pub(in crate::http) method: String,
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    security: Option<Vec<Requirement>>,
    minimum_role: Option<OperatorRole>,
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
    pub(in crate::http) fn new(
        method: impl Into<String>,
        path: impl Into<String>,
        tag: &'static str,
        id: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            id,
            tag,
            summary,
            ..Self::at(method, path)
        }
    }

    /// The operation of a route, still without a name.
    pub(in crate::http) fn at(method: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            method: method.into(),
            id: "",
            tag: "",
            summary: "",
            description: "",
            security: None,
            minimum_role: None,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            codes: Vec::new(),
        }
    }

    /// Sets its section, its name and what it does.
    pub(in crate::http) fn titled(self, tag: Tag, id: &'static str, summary: &'static str) -> Self {
        Self {
            tag: tag.name,
            id,
            summary,
            ..self
        }
    }

    /// Its name.
    pub(in crate::http) const fn name(&self) -> &'static str {
        self.id
    }

    /// Adds a description to the summary.
    pub(in crate::http) fn note(self, description: &'static str) -> Self {
        Self {
            description,
            ..self
        }
    }

    /// Sets other security than the API's own.
    pub(in crate::http) fn security(self, security: Vec<Requirement>) -> Self {
        Self {
            security: Some(security),
            ..self
        }
    }

    /// Sets the lowest role that permits it, and the refusal of lower ones.
    pub(in crate::http) fn for_role(self, minimum: OperatorRole) -> Self {
        let described = Self {
            minimum_role: Some(minimum),
            ..self
        };
        let is_for_all = OperatorRole::ALL.iter().all(|role| role.permits(minimum));
        if is_for_all {
            return described;
        }
        described.refuses(&[ErrorCode::OperatorForbidden])
    }

    pub(in crate::http) fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// Adds the `{id}` of a record of the platform, and 404 for an unknown one.
    pub(in crate::http) fn id(self, description: &str) -> Self {
        self.parameter(Parameter::path("id", Schema::uuid(description)))
            .refuses(&[ErrorCode::ResourceNotFound])
    }

    /// Adds the `{id}` of a numbered record: 400 when it is not a number, 404 with `not_found` for
    /// an unknown one.
    pub(in crate::http) fn number(self, description: &str, not_found: ErrorCode) -> Self {
        self.parameter(shared::numeric_id(description, 42))
            .refuses(&[ErrorCode::ValidationError, not_found])
    }

    /// Adds the parameters of every list.
    pub(in crate::http) fn paged(self) -> Self {
        let [page, limit] = shared::paging();
        let paged = self.parameter(page).parameter(limit);
        paged.refuses(&[ErrorCode::ValidationError])
    }

    /// Adds the idempotency key to a create that is described up to its success.
    pub(in crate::http) fn keyed(mut self) -> Self {
        if let Some((_, answer)) = self.answers.last_mut() {
            answer.headers.insert(0, headers::REPLAYED);
        }
        self.parameter(shared::idempotency_key()).refuses(&[
            ErrorCode::IdempotencyKeyInvalid,
            ErrorCode::IdempotencyKeyReused,
            ErrorCode::IdempotencyInProgress,
        ])
    }

    /// Adds a JSON body, and the refusals of reading one.
    pub(in crate::http) fn body(self, description: &'static str, schema: Schema) -> Self {
        self.with_body(description, schema, true)
    }

    /// Adds another form of the same body.
    pub(in crate::http) fn or_body(mut self, media_type: &str, content: Content) -> Self {
        if let Some(body) = &mut self.body {
            body.content.push(media_type, content);
        }
        self
    }

    /// Adds an optional JSON body.
    pub(in crate::http) fn optional_body(self, description: &'static str, schema: Schema) -> Self {
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

    /// Adds the refusals of a body that is not required but read if it was sent.
    pub(in crate::http) fn reads_body(self) -> Self {
        self.refuses(&OF_BODIES)
    }

    /// Adds an answer with a JSON body.
    pub(in crate::http) fn answers(
        self,
        status: u16,
        description: &'static str,
        body: Schema,
    ) -> Self {
        self.answers_content(status, description, Content::json(body))
    }

    /// Adds an answer without body.
    pub(in crate::http) fn answers_empty(self, status: u16, description: &'static str) -> Self {
        self.answers_content(status, description, Listed::default())
    }

    /// Adds an answer with any body.
    pub(in crate::http) fn answers_content(
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
    pub(in crate::http) fn header(mut self, name: &'static str) -> Self {
        if let Some((_, answer)) = self.answers.last_mut() {
            answer.headers.push(name);
        }
        self
    }

    /// Adds codes of its refusals.
    pub(in crate::http) fn refuses(mut self, codes: &[ErrorCode]) -> Self {
        self.codes.extend_from_slice(codes);
        self
    }

    /// The operation in an API where every success has these headers.
    pub(in crate::http) fn operation(
        self,
        refusals: &Refusals,
        success: &[&'static str],
    ) -> Operation {
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
            minimum_role: self.minimum_role.map(OperatorRole::as_str),
            parameters: self.parameters,
            request_body: self.body,
            responses,
        }
    }
}
