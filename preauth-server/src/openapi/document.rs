//! The parts of an OpenAPI document that this service needs: serialized as 3.1, and [as
//! 3.0](super::in_3_0).

use serde::Serialize;

use super::example::Example;
use super::listed::Listed;
use super::schema::Schema;

/// The requirement of an operation: the scopes, by the security scheme's name.
pub(super) type Requirement = Listed<Vec<&'static str>>;
/// Operations by method.
pub(super) type PathItem = Listed<Operation>;

/// The root. Members are serialized in this order.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    pub(super) openapi: &'static str,
    pub(super) info: Info,
    pub(super) servers: [Server; 1],
    pub(super) security: [Requirement; 1],
    pub(super) tags: Vec<Tag>,
    pub(super) paths: Listed<PathItem>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(super) webhooks: Listed<PathItem>,
    /// The webhooks in 3.0, which has no such section.
    #[serde(rename = "x-webhooks", skip_serializing_if = "Listed::is_empty")]
    pub(super) x_webhooks: Listed<PathItem>,
    pub(super) components: Components,
}

#[derive(Debug, Serialize)]
pub(super) struct Info {
    pub(super) title: &'static str,
    pub(super) version: &'static str,
    /// Not in 3.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<&'static str>,
    pub(super) description: String,
    pub(super) license: License,
}

#[derive(Debug, Serialize)]
pub(super) struct License {
    pub(super) name: &'static str,
    /// Not in 3.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) identifier: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub(super) struct Server {
    pub(super) url: &'static str,
    pub(super) description: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Tag {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Operation {
    #[serde(rename = "operationId")]
    pub(super) id: &'static str,
    pub(super) tags: [&'static str; 1],
    pub(super) summary: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    /// `None` means the document's own; an empty list means no security.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) security: Option<Vec<Requirement>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parameters: Vec<Parameter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request_body: Option<RequestBody>,
    pub(super) responses: Listed<RefOr<Response>>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    #[serde(rename = "in")]
    pub(super) place: &'static str,
    pub(super) description: String,
    pub(super) required: bool,
    pub(super) schema: Schema,
    pub(super) example: Example,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct RequestBody {
    pub(super) description: &'static str,
    pub(super) required: bool,
    pub(super) content: Listed<Content>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response {
    pub(super) description: String,
    /// The possible codes of a refusal with this status.
    #[serde(rename = "x-error-codes", skip_serializing_if = "Vec::is_empty")]
    pub(super) error_codes: Vec<&'static str>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(super) headers: Listed<Ref>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(super) content: Listed<Content>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Content {
    pub(super) schema: Schema,
    pub(super) example: Example,
    /// The encoding of a form's parts, where it differs from the one that their schema implies.
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(super) encoding: Listed<Encoding>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Encoding {
    pub(super) content_type: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Header {
    pub(super) description: &'static str,
    pub(super) schema: Schema,
    pub(super) example: Example,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Components {
    pub(super) schemas: Listed<Schema>,
    pub(super) responses: Listed<Response>,
    pub(super) headers: Listed<Header>,
    pub(super) security_schemes: Listed<SecurityScheme>,
}

#[derive(Debug, Serialize)]
pub(super) struct SecurityScheme {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) scheme: &'static str,
    pub(super) description: &'static str,
}

/// A reference to an entry of `components`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Ref {
    #[serde(rename = "$ref")]
    target: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum RefOr<T> {
    Ref(Ref),
    Here(T),
}

impl Ref {
    pub(super) fn header(name: &str) -> Self {
        Self::to("headers", name)
    }

    pub(super) fn response(name: &str) -> Self {
        Self::to("responses", name)
    }

    fn to(kind: &str, name: &str) -> Self {
        Self {
            target: format!("#/components/{kind}/{name}"),
        }
    }
}

impl Content {
    pub(super) const JSON: &str = "application/json";
    pub(super) const FORM: &str = "multipart/form-data";

    /// JSON of this schema, with the schema's example.
    pub(super) fn json(schema: Schema) -> Listed<Self> {
        Self::of(Self::JSON, schema)
    }

    /// A form; its part `part` has one of these content types.
    pub(super) fn form(schema: Schema, part: &str, content_type: &'static str) -> Self {
        Self {
            encoding: Listed::from_iter([(part, Encoding { content_type })]),
            ..Self::new(schema)
        }
    }

    /// A body of this media type.
    pub(super) fn of(media_type: &str, schema: Schema) -> Listed<Self> {
        Listed::from_iter([(media_type, Self::new(schema))])
    }

    /// A body with this schema, with the schema's example.
    pub(super) fn new(schema: Schema) -> Self {
        Self {
            example: schema.example(),
            schema,
            encoding: Listed::default(),
        }
    }
}

impl Header {
    pub(super) fn new(description: &'static str, schema: Schema) -> Self {
        let example = schema.example();
        Self {
            description,
            schema,
            example,
        }
    }
}

impl Parameter {
    fn new(place: &'static str, name: &'static str, schema: Schema) -> Self {
        Self {
            name,
            place,
            description: schema.description().to_owned(),
            required: place == "path",
            example: schema.example(),
            schema: schema.undescribed(),
        }
    }

    pub(super) fn path(name: &'static str, schema: Schema) -> Self {
        Self::new("path", name, schema)
    }

    pub(super) fn query(name: &'static str, schema: Schema) -> Self {
        Self::new("query", name, schema)
    }

    pub(super) fn header(name: &'static str, schema: Schema) -> Self {
        Self::new("header", name, schema)
    }

    pub(super) fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }
}
