//! The same document in OpenAPI 3.0.3, with bodies of one form only.
//!
//! | 3.1 | 3.0.3 |
//! | --- | --- |
//! | `info.summary` | first paragraph of `info.description` |
//! | `info.license.identifier` | none; the license's name identifies it |
//! | `type: [T, "null"]` | `type: T`, `nullable: true` |
//! | `exclusiveMinimum: n` | `minimum: n`, `exclusiveMinimum: true` |
//! | scopes of a bearer scheme | none; the scheme's description names them |
//! | `webhooks` | `x-webhooks`, and its schemas, as before, under `components` |
//! | a part of a form that is an object | its JSON as a text: generated clients encode objects in different ways |

use super::document::{Content, Document, Operation, PathItem, RefOr, RequestBody, Response};
use super::listed::Listed;
use super::schema::Schema;

/// The form of bodies in a rendering: most code generators generate a method for the first form
/// alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `application/json`.
    Json,
    /// `multipart/form-data`: a create may bring its invoice file.
    Multipart,
}

impl Form {
    const fn media_type(self) -> &'static str {
        match self {
            Self::Json => Content::JSON,
            Self::Multipart => Content::FORM,
        }
    }
}

/// Converts a document from 3.1 to 3.0.3, with bodies of this form.
pub(super) fn render(mut document: Document, form: Form) -> Document {
    document.openapi = "3.0.3";
    if let Some(summary) = document.info.summary.take() {
        document.info.description = format!("{summary}\n\n{}", document.info.description);
    }
    document.info.license.identifier = None;
    choose(&mut document, form);
    document.x_webhooks = std::mem::take(&mut document.webhooks);
    items(&mut document.paths);
    items(&mut document.x_webhooks);
    let components = &mut document.components;
    let schemas = components.schemas.values_mut();
    schemas.for_each(Schema::put_in_3_0);
    components.responses.values_mut().for_each(response);
    let headers = components.headers.values_mut();
    headers.for_each(|header| header.schema.put_in_3_0());
    document
}

/// Keeps the bodies of this form where there is a choice, and removes the schema of the other one. A JSON body's
/// schema stays: other operations refer to it.
fn choose(document: &mut Document, form: Form) {
    let schemas = &mut document.components.schemas;
    for operation in document.paths.values_mut().flat_map(Listed::values_mut) {
        let Some(RequestBody { content, .. }) = &mut operation.request_body else {
            continue;
        };
        if content.iter_mut().count() < 2 {
            continue;
        }
        for (media_type, body) in content.iter_mut() {
            let Some(name) = body.schema.target() else {
                continue;
            };
            if media_type != form.media_type() && form == Form::Json {
                schemas.retain(|each| each != name);
            } else if media_type == form.media_type() && form == Form::Multipart {
                schemas.entry(name).put_objects_as_texts();
                body.example.put_objects_as_texts();
            }
        }
        content.retain(|media_type| media_type == form.media_type());
    }
}

fn items(items: &mut Listed<PathItem>) {
    for item in items.values_mut() {
        item.values_mut().for_each(operation);
    }
}

fn operation(operation: &mut Operation) {
    for requirement in operation.security.iter_mut().flatten() {
        requirement.values_mut().for_each(Vec::clear);
    }
    for parameter in &mut operation.parameters {
        parameter.schema.put_in_3_0();
    }
    if let Some(body) = &mut operation.request_body {
        contents(&mut body.content);
    }
    for answer in operation.responses.values_mut() {
        if let RefOr::Here(answer) = answer {
            response(answer);
        }
    }
}

fn response(response: &mut Response) {
    contents(&mut response.content);
}

fn contents(contents: &mut Listed<Content>) {
    let contents = contents.values_mut();
    contents.for_each(|content| content.schema.put_in_3_0());
}
