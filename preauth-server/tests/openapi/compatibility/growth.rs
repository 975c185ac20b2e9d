//! Every kind of change that the contract calls compatible passes.

use serde_json::{Value, json};

use super::{CREATE, EVENT, LIST, add, breaches_of, schema};
use crate::description::at;

#[track_caller]
fn grows(edit: impl FnOnce(&mut Value)) {
    assert_eq!(breaches_of(edit), Vec::<String>::new());
}

fn text() -> Value {
    json!({ "type": "string" })
}

#[test]
fn a_new_endpoint() {
    grows(|next| {
        let list = at(next, LIST).clone();
        at(next, "/paths")["/api/integration/v1/events"] = json!({ "get": list });
    });
}

#[test]
fn a_new_optional_field_of_a_request() {
    grows(|next| at(next, &schema("CreateInvoice", "/properties"))["series"] = text());
}

#[test]
fn null_for_an_optional_field_of_a_request() {
    grows(|next| {
        let field = schema("CreateInvoice", "/properties/withheldTaxAmount/type");
        *at(next, &field) = json!(["number", "null"]);
    });
}

#[test]
fn a_new_optional_parameter() {
    grows(|next| {
        let parameters = at(next, LIST)["parameters"].as_array_mut().unwrap();
        parameters.push(json!({ "name": "since", "in": "query", "required": false }));
    });
}

#[test]
fn a_new_form_of_a_body() {
    grows(|next| {
        let content = at(next, &format!("{CREATE}/requestBody/content"));
        content["multipart/form-data"] = json!({ "schema": { "type": "object" } });
    });
}

#[test]
fn a_new_field_of_an_answer() {
    grows(|next| {
        at(next, &schema("PreAuthorization", "/properties"))["channel"] = text();
        add(next, &schema("PreAuthorization", "/required"), "channel");
    });
}

#[test]
fn a_new_field_of_an_event() {
    grows(|next| at(next, &schema("OperationEventData", "/properties"))["channel"] = text());
}

#[test]
fn a_new_header() {
    grows(|next| {
        let header = json!({ "$ref": "#/components/headers/Retry-After" });
        at(next, &format!("{CREATE}/responses/201/headers"))["Retry-After"] = header;
        let headers = at(next, EVENT)["parameters"].as_array_mut().unwrap();
        headers.push(json!({ "name": "x-service-attempt", "in": "header", "required": true }));
    });
}

#[test]
fn a_new_type_of_event() {
    grows(|next| {
        let types = schema("EventEnvelope", "/properties/type/x-enum-values");
        add(next, &types, "anticipation.renegotiated");
    });
}

#[test]
fn a_new_status_of_operations() {
    grows(|next| {
        let statuses = schema("PreAuthorization", "/properties/status/x-enum-values");
        add(next, &statuses, "RENEGOTIATING");
        let parameters = at(next, LIST)["parameters"].as_array_mut().unwrap();
        let status = parameters.iter_mut().find(|each| each["name"] == "status");
        let values = status.unwrap().pointer_mut("/schema/items/enum").unwrap();
        values.as_array_mut().unwrap().push("RENEGOTIATING".into());
    });
}

#[test]
fn a_new_stage() {
    grows(|next| {
        let stages = schema("OperationEventData", "/properties/stage/x-enum-values");
        add(next, &stages, "BANK");
    });
}

#[test]
fn a_new_code() {
    grows(|next| {
        add(
            next,
            &format!("{CREATE}/responses/422/x-error-codes"),
            "NEW",
        );
        let lines = at(next, &format!("{CREATE}/responses/422/description"));
        *lines = format!(
            "{}\n- `NEW`: for what there was not before",
            lines.as_str().unwrap()
        )
        .into();
        let refusal = json!({ "description": "- `GONE`: new", "x-error-codes": ["GONE"] });
        at(next, &format!("{CREATE}/responses"))["410"] = refusal;
    });
}

#[test]
fn better_words() {
    grows(|next| {
        at(next, "/info")["description"] = "Better.".into();
        at(next, CREATE)["summary"] = "Better.".into();
        at(next, &schema("Pagination", ""))["description"] = "Better.".into();
    });
}
