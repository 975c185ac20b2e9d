//! The same document in OpenAPI 3.0.3 with JSON bodies only.
//!
//! | 3.1 | 3.0.3 |
//! | --- | --- |
//! | `info.summary` | first paragraph of `info.description` |
//! | `info.license.identifier` | its name says it |
//! | `type: [T, "null"]` | `type: T`, `nullable: true` |
//! | `exclusiveMinimum: n` | `minimum: n`, `exclusiveMinimum: true` |
//! | scopes of a bearer scheme | none; the scheme's description names them |
//! | `webhooks` | `x-webhooks`, and its schemas, as before, under `components` |

use super::document::{Content, Document, Operation, PathItem, RefOr, Response};
use super::integration::FORM;
use super::listed::Listed;
use super::schema::Schema;

/// Says in 3.0.3 what a document says in 3.1.
pub(super) fn render(mut document: Document) -> Document {
    document.openapi = "3.0.3";
    if let Some(summary) = document.info.summary.take() {
        document.info.description = format!("{summary}\n\n{}", document.info.description);
    }
    document.info.license.identifier = None;
    document.x_webhooks = std::mem::take(&mut document.webhooks);
    items(&mut document.paths);
    items(&mut document.x_webhooks);
    let components = &mut document.components;
    components.schemas.retain(|name| name != FORM);
    let schemas = components.schemas.values_mut();
    schemas.for_each(Schema::put_in_3_0);
    components.responses.values_mut().for_each(response);
    let headers = components.headers.values_mut();
    headers.for_each(|header| header.schema.put_in_3_0());
    document
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
        body.content
            .retain(|media_type| media_type == Content::JSON);
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
