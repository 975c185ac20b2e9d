//! Mails.

use preauth_core::ErrorCode;
use preauth_core::port::NoticeKind;

use crate::directory::NoticeStatus;
use crate::openapi::described::Described;
use crate::openapi::document::{Parameter, Tag};
use crate::openapi::schema::Schema;

use super::{at, id, paged, schemas};

pub(super) const NOTICES: Tag = Tag {
    name: "notices",
    description: "Mails to suppliers and companies, and how they fared.",
};

pub(super) fn all() -> [Described; 2] {
    let described = |path, operation, summary| {
        Described::new("get", at(path), NOTICES.name, operation, summary)
    };
    let list = described("companies/{id}/notices", "listNotices", "List mails");
    let status = Schema::one_of("Only these.", NoticeStatus::ALL, NoticeStatus::Held);
    let kind = Schema::one_of("Only these.", NoticeKind::ALL, NoticeKind::Invitation);
    let operation = Schema::integer("Only those that tell of this operation.", 42);
    let find = described("notices/{id}", "getNotice", "Get a mail");
    [
        paged(id(list, "The id of a head office; a branch is a conflict."))
            .parameter(Parameter::query("status", status))
            .parameter(Parameter::query("kind", kind))
            .parameter(Parameter::query("operationId", operation))
            .answers(200, "Newest first.", schemas::named("NoticeList"))
            .refuses(&[ErrorCode::ResourceConflict]),
        id(find, "The mail's id.").answers(200, "The mail.", schemas::named("Notice")),
    ]
}
