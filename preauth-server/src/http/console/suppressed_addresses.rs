//! Addresses that are sent no mails about offers, because their readers said so.

use crate::http::pages::words::Words;
use crate::http::platform::suppressed_addresses::SuppressedAddressShape;
use crate::labels;
use crate::language::Text;

use super::action_forms::webhooks;
use super::action_link::ActionLink;
use super::cell::Cell;
use super::failure::Failure;
use super::frame::Section;
use super::list::{Column, Filter, FilterKind, List};
use super::visit::Visit;

const ADDRESS: Text = Text::new("Address", "Endereço");

/// Every suppressed address.
pub(super) struct All;

impl List for All {
    type Row = SuppressedAddressShape;

    const SECTION: Section = Section::SuppressedAddresses;
    const PATH: &'static str = "/suppressed-addresses";
    const HAS_ROW_LINKS: bool = true;

    fn title(&self, w: Words) -> String {
        w.t("Suppressed addresses", "Endereços suprimidos")
            .to_owned()
    }

    fn source(&self, _visit: &Visit) -> Result<String, Failure> {
        Ok("suppressed-addresses".to_owned())
    }

    fn filters(&self) -> &'static [Filter] {
        const FILTERS: &[Filter] = &[Filter {
            name: "address",
            label: ADDRESS,
            kind: FilterKind::Text,
        }];
        FILTERS
    }

    fn columns(&self) -> &'static [Column<SuppressedAddressShape>] {
        const COLUMNS: &[Column<SuppressedAddressShape>] = &[
            Column::new(ADDRESS, |it, _| Cell::text(it.address.as_str())),
            Column::new(labels::OPERATION, |it, _| {
                Cell::link(super::operations::path(it.operation_id), it.operation_id)
            }),
            Column::new(Text::new("Since", "Desde"), |it, w| Cell::time(it.since, w)),
        ];
        COLUMNS
    }

    fn row_links(&self, it: &SuppressedAddressShape, visit: &Visit) -> Vec<ActionLink> {
        let link = webhooks::REMOVE_SUPPRESSED.link(visit, &[("id", &it.id.to_string())]);
        link.into_iter().collect()
    }
}
