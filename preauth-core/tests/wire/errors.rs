use preauth_core::ErrorCode;
use preauth_core::value::OperationId;
use preauth_core::wire::{ErrorBody, ErrorDetail, Open, from_json};

use crate::{assert_survives, with_unknown_fields};

const VALIDATION: &str = include_str!("golden/validation_error.json");
const DUPLICATE: &str = include_str!("golden/duplicate_error.json");
const PLAIN: &str = include_str!("golden/plain_error.json");

// Contract: error-body/errors[].code version/compatible-changes
#[test]
fn errors_are_written_as_they_were_read() {
    let validation: ErrorBody = assert_survives(VALIDATION);
    assert_eq!(validation.errors.len(), 2);
    let details = validation.details.unwrap();
    assert_eq!(details[1].field.as_deref(), Some("invoice.dueDate"));

    let duplicate: ErrorBody = assert_survives(DUPLICATE);
    let details = duplicate.details.unwrap();
    assert_eq!(details[0].anticipation_id, OperationId::new(1042));

    let plain: ErrorBody = assert_survives(PLAIN);
    assert_eq!(plain.details, None);
}

#[test]
fn an_error_of_the_service_has_the_shape_of_the_contract() {
    let body = ErrorBody::new(ErrorCode::RateLimited, "Limite de requisições atingido.");
    assert_eq!(crate::pretty(&body), PLAIN);
}

#[test]
fn unknown_fields_are_ignored() {
    for golden in [VALIDATION, DUPLICATE, PLAIN] {
        let read: ErrorBody = from_json(with_unknown_fields(golden).as_bytes()).unwrap();
        assert_eq!(read, from_json(golden.as_bytes()).unwrap());
    }
}

#[test]
fn an_unknown_code_is_kept_and_written_back() {
    let body: ErrorBody = assert_survives(&PLAIN.replace("RATE_LIMITED", "TOO_EARLY"));
    assert_eq!(body.code(), Some(&Open::Unknown("TOO_EARLY".to_owned())));
}

#[test]
fn details_of_another_shape_do_not_cost_the_errors() {
    let details = |json: &str| {
        let document =
            format!(r#"{{"errors":[{{"code":"BAD_REQUEST","message":"x"}}],"details":{json}}}"#);
        let body: ErrorBody = from_json(document.as_bytes()).unwrap();
        assert_eq!(body.code(), Some(&Open::Known(ErrorCode::BadRequest)));
        body.details
    };
    for json in ["null", "1", "\"x\"", "{}"] {
        assert_eq!(details(json), None, "{json}");
    }
    let odd = details(r#"["text", {"anticipationId": "x"}, null, {"anticipationId": 7}]"#).unwrap();
    let seventh = ErrorDetail {
        anticipation_id: OperationId::new(7),
        field: None,
    };
    let empty = ErrorDetail::default();
    assert_eq!(odd, [empty.clone(), empty.clone(), empty, seventh]);
}

#[test]
fn a_body_without_errors_is_refused() {
    for document in ["{}", r#"{"errors":null}"#, r#"{"message":"x"}"#] {
        assert!(
            from_json::<ErrorBody>(document.as_bytes()).is_err(),
            "{document}"
        );
    }
}
