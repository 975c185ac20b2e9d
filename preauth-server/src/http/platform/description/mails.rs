//! Mails.

use preauth_core::ErrorCode;
use preauth_core::port::MailKind;

use crate::directory::MailStatus;
use crate::http::openapi::described::Described;
use crate::http::openapi::document::Parameter;
use crate::http::openapi::schema::Schema;
use crate::http::platform::sections::MAILS;

use super::{at, id, paged, schemas};

const MAIL: &str = "The mail's id.";

pub(super) fn all() -> [Described; 3] {
    let described = |method, path, operation, summary| {
        Described::new(method, at(path), MAILS.name, operation, summary)
    };
    let mail = || schemas::named("Notice");
    let list = described("get", "companies/{id}/notices", "listNotices", "List mails");
    let status = Schema::one_of("Only these.", MailStatus::ALL, MailStatus::Held);
    let kind = Schema::one_of("Only these.", MailKind::ALL, MailKind::Invitation);
    let operation = Schema::integer("Only those that tell of this operation.", 42);
    let find = described("get", "notices/{id}", "getNotice", "Get a mail");
    let resend = described(
        "post",
        "notices/{id}/resend",
        "resendNotice",
        "Send a mail again",
    );
    [
        paged(id(list, "The id of a head office; a branch is a conflict."))
            .parameter(Parameter::query("status", status))
            .parameter(Parameter::query("kind", kind))
            .parameter(Parameter::query("operationId", operation))
            .answers(200, "Newest first.", schemas::named("NoticeList"))
            .refuses(&[ErrorCode::ResourceConflict]),
        id(find, MAIL).answers(200, "The mail.", mail()),
        id(resend, MAIL)
            .note("Due at once, with a fresh schedule. One that stands otherwise than FAILED is a conflict; one whose offer has ended is CANCELED when its turn comes.")
            .answers(200, "The mail, pending again.", mail())
            .refuses(&[ErrorCode::ResourceConflict]),
    ]
}
