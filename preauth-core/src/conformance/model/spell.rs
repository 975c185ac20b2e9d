//! Converts steps into requests to the service.

use chrono::{DateTime, NaiveDate, TimeDelta};

use crate::conformance::scene::cents;
use crate::operation::{Command, DirectAdvance, Invoice, InvoiceAmounts, Offer, ReprovedBy};
use crate::value::{Cnpj, CompanyId, ContactName, DueDate, InvoiceNumber, Money, SupplierName};

use super::reference::{Arguments, today};
use super::run::Run;
use super::step::{ADVANCE_CENTS, CREDIT_CENTS, OfferStep, Payer, Supplier};
use super::table::Deed;

impl Run<'_> {
    pub(super) fn offer(&self, step: OfferStep) -> Offer {
        let number = number(step.number, step.days_ahead % 2 == 0);
        let mut offer = self.scene.offer_of(&number);
        let is_named = matches!(
            step.supplier,
            Supplier::New | Supplier::Blocked | Supplier::PayersEntity
        );
        offer.payer = self.payer(step.payer);
        offer.supplier.cnpj = self.cnpj(step.supplier);
        offer.supplier.email = self.email.clone();
        if is_named {
            offer.supplier.name = Some(SupplierName::parse("Fornecedora").unwrap());
            offer.supplier.contact_name = Some(ContactName::parse("Contato").unwrap());
        }
        let due_day = today(self.model.now_ms) + step.days_ahead;
        offer.invoice = invoice(step.cents, due_day, Some(&number));
        offer
    }

    pub(super) fn advance(
        &self,
        payer: Payer,
        supplier: Supplier,
        number: Option<u64>,
        due_day: i64,
    ) -> DirectAdvance {
        let number = number.map(|it| self::number(it, payer == Payer::Head));
        DirectAdvance {
            payer: self.payer(payer),
            supplier: self.cnpj(supplier),
            invoice: invoice(ADVANCE_CENTS, due_day, number.as_deref()),
            external_reference: None,
        }
    }

    fn payer(&self, payer: Payer) -> CompanyId {
        match payer {
            Payer::Head => self.scene.payer,
            Payer::Branch => self.scene.branch,
            Payer::Other => self.other_payer,
        }
    }

    fn cnpj(&self, supplier: Supplier) -> Cnpj {
        match supplier {
            Supplier::Registered => self.scene.supplier.cnpj,
            Supplier::New | Supplier::Unnamed => self.new_cnpj,
            Supplier::Blocked => self.blocked_cnpj,
            Supplier::Payer => self.payer_cnpj,
            Supplier::PayersEntity => self.payers_entity_cnpj,
        }
    }

    pub(super) fn command(&self, index: usize, deed: Deed, spelling: u64) -> (Command, Arguments) {
        let boleto_day = self.model.operations[index].boleto_day;
        let today = today(self.model.now_ms);
        let is_good = spelling < 4;
        let net = if is_good {
            45_000
        } else {
            [0, CREDIT_CENTS + 2][usize::from(spelling == 5)]
        };
        let extension_day = match spelling {
            4 => boleto_day,
            5 => today + 181,
            _ => boleto_day + 1,
        };
        let arguments = Arguments {
            net_cents: net,
            extension_day,
            extension_cents: i64::from(spelling != 3),
            names_the_open_extension: is_good,
        };
        let reason = None;
        let reprove = |by| Command::Reprove { by, reason: None };
        // Valid arguments name the extension created last; without one, any id is wrong.
        let named = self.extensions[index].filter(|_| is_good);
        let id = named.unwrap_or_else(|| self.scene.new_extension_id());
        let command = match deed {
            Deed::Request => Command::Request,
            Deed::Decline => Command::Decline { reason },
            Deed::Cancel => Command::Cancel,
            Deed::Withdraw => Command::Withdraw { reason },
            Deed::Expire => Command::Expire,
            Deed::Verify => Command::Verify,
            Deed::Approve => Command::Approve,
            Deed::Release => Command::Release {
                net_amount: cents(net),
            },
            Deed::Pay => Command::Pay,
            Deed::ReturnPayout => Command::ReturnPayout,
            Deed::Bill => Command::Bill,
            Deed::Conclude => Command::Conclude,
            Deed::ReproveByCompany => reprove(ReprovedBy::Company),
            Deed::ReproveByPlatform => reprove(ReprovedBy::Platform),
            Deed::Reopen => Command::Reopen,
            Deed::CreateExtension => Command::CreateExtension {
                id: self.scene.new_extension_id(),
                new_due_date: day(extension_day),
                total_amount: cents(arguments.extension_cents),
            },
            Deed::ConcludeExtension => Command::ConcludeExtension { id },
            Deed::CancelExtension => Command::CancelExtension { id },
        };
        (command, arguments)
    }
}

/// One number in either of its forms.
fn number(number: u64, is_composed: bool) -> String {
    let accent = if is_composed { "\u{e9}" } else { "e\u{301}" };
    format!("NF-{accent}-{number}")
}

fn invoice(amount: i64, due_day: i64, number: Option<&str>) -> Invoice {
    Invoice {
        amounts: InvoiceAmounts::from_cents(cents(amount), Money::ZERO).unwrap(),
        due_date: day(due_day),
        number: number.map(|number| InvoiceNumber::parse(number).unwrap()),
    }
}

pub(super) fn day(days_since_1970: i64) -> DueDate {
    let epoch: NaiveDate = DateTime::UNIX_EPOCH.date_naive();
    DueDate::from_date(epoch + TimeDelta::days(days_since_1970)).unwrap()
}
