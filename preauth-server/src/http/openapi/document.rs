//! The parts of an OpenAPI document that this service needs: serialized as 3.1, and [as
//! 3.0](super::in_3_0).

use serde::Serialize;

use super::example::Example;
use super::listed::Listed;
use super::schema::Schema;

/// The requirement of an operation: the scopes, by the security scheme's name.
pub(in crate::http) type Requirement = Listed<Vec<&'static str>>;
/// Operations by method.
pub(in crate::http) type PathItem = Listed<Operation>;

/// The root. Members are serialized in this order.
#[derive(Debug, Serialize)]
pub(in crate::http) struct Document {
    pub(in crate::http) openapi: &'static str,
    pub(in crate::http) info: Info,
    pub(in crate::http) servers: [Server; 1],
    pub(in crate::http) security: [Requirement; 1],
    pub(in crate::http) tags: Vec<Tag>,
    pub(in crate::http) paths: Listed<PathItem>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(in crate::http) webhooks: Listed<PathItem>,
    /// The webhooks in 3.0, which has no such section.
    #[serde(rename = "x-webhooks", skip_serializing_if = "Listed::is_empty")]
    pub(in crate::http) x_webhooks: Listed<PathItem>,
    pub(in crate::http) components: Components,
}

#[derive(Debug, Serialize)]
pub(in crate::http) struct Info {
    pub(in crate::http) title: &'static str,
    pub(in crate::http) version: &'static str,
    /// Not in 3.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::http) summary: Option<&'static str>,
    pub(in crate::http) description: String,
    pub(in crate::http) license: License,
}

#[derive(Debug, Serialize)]
pub(in crate::http) struct License {
    pub(in crate::http) name: &'static str,
    /// Not in 3.0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::http) identifier: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub(in crate::http) struct Server {
    pub(in crate::http) url: &'static str,
    pub(in crate::http) description: &'static str,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(in crate::http) struct Tag {
    pub(in crate::http) name: &'static str,
    pub(in crate::http) description: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Operation {
    #[serde(rename = "operationId")]
    pub(in crate::http) id: &'static str,
    pub(in crate::http) tags: [&'static str; 1],
    pub(in crate::http) summary: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(in crate::http) description: String,
    /// `None` means the document's own; an empty list means no security.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::http) security: Option<Vec<Requirement>>,
    /// The lowest role of an operator that permits it.
    #[serde(rename = "x-minimum-role", skip_serializing_if = "Option::is_none")]
    pub(in crate::http) minimum_role: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::http) parameters: Vec<Parameter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::http) request_body: Option<RequestBody>,
    pub(in crate::http) responses: Listed<RefOr<Response>>,
}

#[derive(Clone, Debug, Serialize)]
pub(in crate::http) struct Parameter {
    pub(in crate::http) name: &'static str,
    #[serde(rename = "in")]
    pub(in crate::http) place: &'static str,
    pub(in crate::http) description: String,
    pub(in crate::http) required: bool,
    pub(in crate::http) schema: Schema,
    pub(in crate::http) example: Example,
}

#[derive(Clone, Debug, Serialize)]
pub(in crate::http) struct RequestBody {
    pub(in crate::http) description: &'static str,
    pub(in crate::http) required: bool,
    pub(in crate::http) content: Listed<Content>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Response {
    pub(in crate::http) description: String,
    /// The possible codes of a refusal with this status.
    #[serde(rename = "x-error-codes", skip_serializing_if = "Vec::is_empty")]
    pub(in crate::http) error_codes: Vec<&'static str>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(in crate::http) headers: Listed<Ref>,
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(in crate::http) content: Listed<Content>,
}

#[derive(Clone, Debug, Serialize)]
pub(in crate::http) struct Content {
    pub(in crate::http) schema: Schema,
    pub(in crate::http) example: Example,
    /// The encoding of a form's parts, where it differs from the one that their schema implies.
    #[serde(skip_serializing_if = "Listed::is_empty")]
    pub(in crate::http) encoding: Listed<Encoding>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Encoding {
    pub(in crate::http) content_type: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub(in crate::http) struct Header {
    pub(in crate::http) description: &'static str,
    pub(in crate::http) schema: Schema,
    pub(in crate::http) example: Example,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::http) struct Components {
    pub(in crate::http) schemas: Listed<Schema>,
    pub(in crate::http) responses: Listed<Response>,
    pub(in crate::http) headers: Listed<Header>,
    pub(in crate::http) security_schemes: Listed<SecurityScheme>,
}

#[derive(Debug, Serialize)]
pub(in crate::http) struct SecurityScheme {
    #[serde(rename = "type")]
    pub(in crate::http) kind: &'static str,
    pub(in crate::http) scheme: &'static str,
    pub(in crate::http) description: &'static str,
}

/// A reference to an entry of `components`.
#[derive(Clone, Debug, Serialize)]
pub(in crate::http) struct Ref {
    #[serde(rename = "$ref")]
    target: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(in crate::http) enum RefOr<T> {
    Ref(Ref),
    Here(T),
}

/// The head of a document.
pub(in crate::http) fn info(
    title: &'static str,
    summary: &'static str,
    description: String,
) -> Info {
    Info {
        title,
        version: "1.0.0",
        summary: Some(summary),
        description,
        license: License {
            name: "MIT OR Apache-2.0",
            identifier: Some("MIT OR Apache-2.0"),
        },
    }
}

/// The server that the document was fetched from.
pub(in crate::http) const fn servers() -> [Server; 1] {
    [Server {
        url: "/",
        description: "The server that this document comes from.",
    }]
}

impl Ref {
    pub(in crate::http) fn header(name: &str) -> Self {
        Self::to("headers", name)
    }

    pub(in crate::http) fn response(name: &str) -> Self {
        Self::to("responses", name)
    }

    fn to(kind: &str, name: &str) -> Self {
        Self {
            target: format!("#/components/{kind}/{name}"),
        }
    }
}

impl Content {
    pub(in crate::http) const JSON: &str = "application/json";
    pub(in crate::http) const FORM: &str = "multipart/form-data";

    /// JSON of this schema, with the schema's example.
    pub(in crate::http) fn json(schema: Schema) -> Listed<Self> {
        Self::of(Self::JSON, schema)
    }

    /// A form; its part `part` has one of these content types.
    pub(in crate::http) fn form(schema: Schema, part: &str, content_type: &'static str) -> Self {
        Self {
            encoding: Listed::from_iter([(part, Encoding { content_type })]),
            ..Self::new(schema)
        }
    }

    /// A body of this media type.
    pub(in crate::http) fn of(media_type: &str, schema: Schema) -> Listed<Self> {
        Listed::from_iter([(media_type, Self::new(schema))])
    }

    /// A body with this schema, with the schema's example.
    pub(in crate::http) fn new(schema: Schema) -> Self {
        Self {
            example: schema.example(),
            schema,
            encoding: Listed::default(),
        }
    }
}

impl Header {
    pub(in crate::http) fn new(description: &'static str, schema: Schema) -> Self {
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

    pub(in crate::http) fn path(name: &'static str, schema: Schema) -> Self {
        Self::new("path", name, schema)
    }

    pub(in crate::http) fn query(name: &'static str, schema: Schema) -> Self {
        Self::new("query", name, schema)
    }

    pub(in crate::http) fn header(name: &'static str, schema: Schema) -> Self {
        Self::new("header", name, schema)
    }

    pub(in crate::http) fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }
}
