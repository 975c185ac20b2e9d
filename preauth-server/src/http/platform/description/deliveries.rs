//! Deliveries of events.

use preauth_core::ErrorCode;
use preauth_core::value::EventType;

use crate::directory::DeliveryStatus;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::platform::sections::DELIVERIES;

use super::{at, id, paged, schemas};

const HEAD_OFFICE: &str = "The id of a head office; a branch is a conflict.";
const DELIVERY: &str = "The delivery's id.";

pub(super) fn all() -> [Described; 4] {
    let described = |method, path, operation, summary| {
        Described::new(method, at(path), DELIVERIES.name, operation, summary)
    };
    let delivery = || schemas::named("Delivery");
    let conflict = &[ErrorCode::ResourceConflict];
    let list = described(
        "get",
        "companies/{id}/deliveries",
        "listDeliveries",
        "List deliveries",
    );
    let status = Schema::one_of("Only these.", DeliveryStatus::ALL, DeliveryStatus::Failed);
    let event = Schema::one_of("Only these.", EventType::ALL, EventType::AnticipationPaid);
    let failed = described(
        "post",
        "companies/{id}/deliveries/resend",
        "resendFailedDeliveries",
        "Send again whatever failed since a moment",
    );
    let find = described("get", "deliveries/{id}", "getDelivery", "Get a delivery");
    let resend = described(
        "post",
        "deliveries/{id}/resend",
        "resendDelivery",
        "Send a delivery again",
    );
    [
        paged(id(list, HEAD_OFFICE))
            .parameter(Parameter::query("status", status))
            .parameter(Parameter::query("eventType", event))
            .answers(200, "Newest first.", schemas::named("DeliveryList"))
            .refuses(conflict),
        id(failed, HEAD_OFFICE)
            .body("Since when.", schemas::named("ResendRequest"))
            .answers(200, "How many are due again.", schemas::named("Resent"))
            .refuses(conflict),
        id(find, DELIVERY).answers(200, "The delivery.", delivery()),
        id(resend, DELIVERY)
            .note("Due at once, with a fresh schedule and the same event id. A pending one, or one whose endpoint was removed, is a conflict.")
            .answers(200, "The delivery, pending again.", delivery())
            .refuses(conflict),
    ]
}
