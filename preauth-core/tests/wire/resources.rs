use preauth_core::value::Status;
use preauth_core::wire::{Open, Pagination, PreAuthorization, PreAuthorizationList, from_json};

use crate::{assert_survives, with_unknown_fields};

const PRE_AUTHORIZATION: &str = include_str!("golden/pre_authorization.json");
const DIRECT_ADVANCE: &str = include_str!("golden/direct_advance.json");
const LIST: &str = include_str!("golden/list.json");

// Contract: version/compatible-changes version/v2
#[test]
fn a_pre_authorization_is_written_as_it_was_read() {
    let resource: PreAuthorization = assert_survives(PRE_AUTHORIZATION);
    assert_eq!(resource.id.get(), 1042);
    assert_eq!(resource.status, Status::InPreAuth);
    assert_eq!(resource.invoice.amount.money().cents(), 123_456_789);
    assert_eq!(resource.invoice.withheld_tax_amount.money().cents(), 50);
}

// Contract: operation/supplier.name
#[test]
fn empty_fields_are_written_as_null() {
    let resource: PreAuthorization = assert_survives(DIRECT_ADVANCE);
    assert_eq!(resource.external_reference, None);
    assert_eq!(resource.supplier.name, None);
    assert_eq!(resource.invoice.number, None);
    assert_eq!(resource.expires_at, None);
}

// Contract: operation/id
#[test]
fn an_id_beyond_the_exact_floats_is_kept() {
    let resource: PreAuthorization = assert_survives(DIRECT_ADVANCE);
    assert_eq!(resource.id.get(), 9_007_199_254_740_993);
}

// Contract: version/compatible-changes
#[test]
fn a_list_is_written_as_it_was_read() {
    let list: PreAuthorizationList = assert_survives(LIST);
    assert_eq!(list.data.len(), 1);
    assert_eq!(list.pagination, Pagination::new(3, 20, 41));
}

// Contract: list/pagination.totalPages
#[test]
fn pages_are_counted_up_and_none_of_nothing() {
    let pages = |total| Pagination::new(1, 20, total).total_pages;
    assert_eq!([0, 1, 20, 21, 40].map(pages), [0, 1, 1, 2, 2]);
}

#[test]
fn unknown_fields_are_ignored_at_every_depth() {
    let read: PreAuthorization =
        from_json(with_unknown_fields(PRE_AUTHORIZATION).as_bytes()).unwrap();
    assert_eq!(read, from_json(PRE_AUTHORIZATION.as_bytes()).unwrap());
    let read: PreAuthorizationList = from_json(with_unknown_fields(LIST).as_bytes()).unwrap();
    assert_eq!(read, from_json(LIST.as_bytes()).unwrap());
}

#[test]
fn an_unknown_status_is_kept_and_written_back() {
    let newer = PRE_AUTHORIZATION.replace("IN_PRE_AUTH", "ON_HOLD");
    let resource: PreAuthorization = assert_survives(&newer);
    assert_eq!(resource.status, Open::Unknown("ON_HOLD".to_owned()));
}

#[test]
fn absent_fields_that_may_be_null_are_read_as_none() {
    let mut document: serde_json::Value = serde_json::from_str(DIRECT_ADVANCE).unwrap();
    let fields = document.as_object_mut().unwrap();
    fields.retain(|_, value| !value.is_null());
    fields["supplier"].as_object_mut().unwrap().remove("name");
    fields["invoice"].as_object_mut().unwrap().remove("number");
    let read: PreAuthorization = from_json(document.to_string().as_bytes()).unwrap();
    assert_eq!(read, from_json(DIRECT_ADVANCE.as_bytes()).unwrap());
}

#[test]
fn the_identifying_fields_are_required() {
    for field in ["id", "status", "payer", "supplier", "invoice", "createdAt"] {
        let mut document: serde_json::Value = serde_json::from_str(PRE_AUTHORIZATION).unwrap();
        document.as_object_mut().unwrap().remove(field);
        let read = from_json::<PreAuthorization>(document.to_string().as_bytes());
        assert!(read.is_err(), "{field}");
    }
}

#[test]
fn an_id_that_no_operation_has_is_refused() {
    for id in ["0", "-1", "1.0", "\"1042\"", "9223372036854775808", "null"] {
        let document = PRE_AUTHORIZATION.replace("1042", id);
        assert!(
            from_json::<PreAuthorization>(document.as_bytes()).is_err(),
            "{id}"
        );
    }
}

#[test]
fn a_document_that_is_no_object_is_refused() {
    for document in ["", " ", "[1]", "null", "\"x\"", "{", "<html>"] {
        let read = from_json::<PreAuthorization>(document.as_bytes());
        assert!(read.is_err(), "{document}");
    }
}
