//! Each kind of incompatible change is found.

use serde_json::{Value, json};

use super::{CANCEL, CREATE, EVENT, LIST, add, breaches_of, schema, strike};
use crate::description::{at, take};

/// Expects that this edit is found in each of these places, and nothing else.
#[track_caller]
fn breaks(expected: &[&str], edit: impl FnOnce(&mut Value)) {
    let found = breaches_of(edit);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found:?} has {expected:?}");
    }
}

#[test]
fn an_endpoint_that_goes_away() {
    breaks(&["/{id}/cancel: was removed"], |next| {
        let path = "/api/integration/v1/pre-authorizations/{id}/cancel";
        take(next, "/paths", path);
    });
}

#[test]
fn a_method_of_generated_clients_with_another_name() {
    breaks(&["operationId"], |next| {
        at(next, CREATE)["operationId"] = "offer".into();
    });
}

#[test]
fn another_scope() {
    breaks(&["security"], |next| {
        at(next, CANCEL)["security"] = json!([{ "apiKey": ["preauth:cancel"] }]);
    });
}

#[test]
fn a_field_of_an_answer_that_goes_away() {
    // List, create, get and cancel return it.
    breaks(&[".expiresAt: was removed"; 4], |next| {
        take(
            next,
            &schema("PreAuthorization", "/properties"),
            "expiresAt",
        );
    });
}

#[test]
fn a_field_of_an_answer_that_may_be_absent() {
    breaks(&["pagination.total: may be absent now"], |next| {
        strike(next, &schema("Pagination", "/required"), "total");
    });
}

#[test]
fn a_field_of_a_request_with_another_name() {
    breaks(&["json.supplier.phone: was removed"], |next| {
        let properties = schema("CreateSupplier", "/properties");
        let phone = take(next, &properties, "phone");
        at(next, &properties)["telephone"] = phone;
    });
}

#[test]
fn a_field_of_an_event_that_goes_away() {
    breaks(&["OperationEventData.reason: was removed"], |next| {
        take(next, &schema("OperationEventData", "/properties"), "reason");
    });
}

#[test]
fn a_field_of_another_type() {
    breaks(
        &["total: type: was \"integer\" and is \"string\""],
        |next| {
            *at(next, &schema("Pagination", "/properties/total/type")) = "string".into();
        },
    );
}

#[test]
fn a_field_of_an_event_that_may_be_null() {
    breaks(&["createdAt: type"], |next| {
        *at(next, &schema("EventEnvelope", "/properties/createdAt/type")) =
            json!(["string", "null"]);
    });
}

// Contract: version/optional-fields
#[test]
fn an_optional_field_that_is_required() {
    breaks(&["supplier.phone: is required now"], |next| {
        add(next, &schema("CreateSupplier", "/required"), "phone");
    });
}

#[test]
fn a_new_field_that_is_required() {
    breaks(&["invoice.series: is new and required"], |next| {
        let series = json!({ "type": "string" });
        at(next, &schema("CreateInvoice", "/properties"))["series"] = series;
        add(next, &schema("CreateInvoice", "/required"), "series");
    });
}

#[test]
fn a_narrower_limit() {
    breaks(&["number: maxLength: was 50 and is 20"], |next| {
        *at(
            next,
            &schema("CreateInvoice", "/properties/number/maxLength"),
        ) = 20.into();
    });
}

#[test]
fn a_parameter_that_goes_away() {
    breaks(&["parameter \"externalReference\": was removed"], |next| {
        let parameters = at(next, LIST)["parameters"].as_array_mut().unwrap();
        parameters.retain(|each| each["name"] != "externalReference");
    });
}

#[test]
fn an_optional_parameter_that_is_required() {
    breaks(&["parameter \"Idempotency-Key\": is required"], |next| {
        *at(next, &format!("{CREATE}/parameters/0/required")) = true.into();
    });
}

#[test]
fn a_new_parameter_that_is_required() {
    breaks(&["parameter \"company\": is new and required"], |next| {
        let parameters = at(next, LIST)["parameters"].as_array_mut().unwrap();
        parameters.push(json!({ "name": "company", "in": "query", "required": true }));
    });
}

#[test]
fn a_value_that_a_request_may_not_have_any_more() {
    breaks(&["TO_BILL was removed"], |next| {
        let list = at(next, LIST)["parameters"].as_array_mut().unwrap();
        let status = list.iter_mut().find(|each| each["name"] == "status");
        let values = status.unwrap().pointer_mut("/schema/items/enum").unwrap();
        values
            .as_array_mut()
            .unwrap()
            .retain(|each| each != "TO_BILL");
    });
}

#[test]
fn a_body_that_is_required_all_at_once() {
    breaks(&["a body is required now"], |next| {
        at(next, CANCEL)["requestBody"] = json!({ "required": true, "content": {} });
    });
}

#[test]
fn a_body_that_is_taken_in_this_form_no_longer() {
    breaks(&["body: application/json: was removed"], |next| {
        let content = format!("{CREATE}/requestBody/content");
        take(next, &content, "application/json");
    });
}

// Contract: version/no-event-type-ceases
#[test]
fn a_type_of_event_that_occurs_no_longer() {
    breaks(&["type: anticipation.reopened was removed"], |next| {
        let types = schema("EventEnvelope", "/properties/type/x-enum-values");
        strike(next, &types, "anticipation.reopened");
    });
}

#[test]
fn a_status_of_operations_that_occurs_no_longer() {
    breaks(&["status: IN_VERIFICATION was removed"; 4], |next| {
        let statuses = schema("PreAuthorization", "/properties/status/x-enum-values");
        strike(next, &statuses, "IN_VERIFICATION");
    });
}

#[test]
fn a_header_of_an_event_that_goes_away() {
    breaks(&["parameter \"x-service-event-id\": was removed"], |next| {
        let parameters = at(next, EVENT)["parameters"].as_array_mut().unwrap();
        parameters.retain(|each| each["name"] != "x-service-event-id");
    });
}

#[test]
fn a_header_of_answers_that_goes_away() {
    breaks(&["429: header Retry-After: was removed"; 4], |next| {
        let headers = "/components/responses/TooManyRequests/headers";
        take(next, headers, "Retry-After");
    });
}

#[test]
fn a_code_under_another_status() {
    breaks(&["409: PRE_AUTH_DUPLICATE_INVOICE: was removed"], |next| {
        let responses = format!("{CREATE}/responses");
        let [from, to] = ["409", "422"].map(|status| format!("{responses}/{status}/x-error-codes"));
        strike(next, &from, "PRE_AUTH_DUPLICATE_INVOICE");
        add(next, &to, "PRE_AUTH_DUPLICATE_INVOICE");
    });
}

#[test]
fn a_code_that_means_something_else() {
    breaks(&["429: RATE_LIMITED: what it means"; 4], |next| {
        *at(next, "/components/responses/TooManyRequests/description") =
            "- `RATE_LIMITED`: the month's quota is used up".into();
    });
}

#[test]
fn a_status_that_means_something_else() {
    breaks(&["201: what it means"], |next| {
        *at(next, &format!("{CREATE}/responses/201/description")) = "Taken note of.".into();
    });
}

#[test]
fn another_status_of_a_success() {
    breaks(&["201: was removed", "202: is another success"], |next| {
        let created = take(next, &format!("{CREATE}/responses"), "201");
        at(next, &format!("{CREATE}/responses"))["202"] = created;
    });
}
