//! What companies call a supplier that they invited and that is not registered.

use preauth_core::value::CompanyId;

use crate::http::StoredText;
use crate::http::pages::words::Words;
use crate::http::platform::companies::InvitationShape;
use crate::labels;
use crate::language::Text;

use super::cell::Cell;
use super::company_list;
use super::failure::Failure;
use super::frame::Section;
use super::list::{Column, List};
use super::visit::Visit;

/// The invitations of a supplier.
pub(super) struct Invitations;

impl List for Invitations {
    type Row = InvitationShape;

    const SECTION: Section = Section::Companies;
    const PATH: &'static str = "/companies/{id}/invitations";
    const COMPANY: Option<(usize, Text)> = Some((4, labels::INVITED_BY));

    fn title(&self, w: Words) -> String {
        w.t("Invitations", "Convites").to_owned()
    }

    fn source(&self, visit: &Visit) -> Result<String, Failure> {
        Ok(format!("companies/{}/invitations", visit.id("id")?))
    }

    fn company(&self, it: &InvitationShape) -> Option<CompanyId> {
        Some(it.head_office_id)
    }

    fn columns(&self) -> &'static [Column<InvitationShape>] {
        const COLUMNS: &[Column<InvitationShape>] = &[
            Column::new(labels::NAME, |it, _| Cell::text(it.name.as_str())),
            Column::new(labels::CONTACT, |it, _| {
                Cell::text(it.contact.name.as_str())
            }),
            Column::new(labels::EMAIL, |it, _| Cell::text(it.contact.email.as_str())),
            Column::new(labels::PHONE, |it, _| {
                Cell::maybe(it.contact.phone.as_ref().map(StoredText::as_str))
            }),
            Column::new(labels::INVITED, |it, w| Cell::time(it.invited_at, w)),
            Column::new(labels::NAME_CONFIRMED, |it, w| {
                Cell::time(it.name_confirmed_at, w)
            }),
        ];
        COLUMNS
    }

    fn crumb(&self, visit: &Visit) -> Option<(String, String)> {
        Some(company_list::crumb(visit))
    }
}
