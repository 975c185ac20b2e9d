//! A construction company and its offers. Every value is parsed once and valid from then on.

use std::error::Error;

use preauth_core::operation::{Credit, Invoice, InvoiceAmounts, Offer, OfferedSupplier, Party};
use preauth_core::value::{CompanyId, Money};

use crate::ledger::Ledger;

/// The ledger of a head office, and its id.
pub(crate) fn ledger() -> Result<(CompanyId, Ledger), Box<dyn Error>> {
    let company = CompanyId::parse("018f2f3a-0000-7000-8000-000000000001")?;
    let payer = Party {
        company,
        head_office: company,
        cnpj: "11.222.333/0001-81".parse()?,
        name: "Construtora Exemplo Ltda.".parse()?,
    };
    let credit = Credit {
        max_term_days: 120,
        max_invoice_amount: Money::parse("250000")?,
    };
    Ok((company, Ledger::of(payer, credit)))
}

pub(crate) fn offer(payer: CompanyId, number: &str) -> Result<Offer, Box<dyn Error>> {
    let amounts = InvoiceAmounts::from_cents(Money::parse("12500.50")?, Money::ZERO);
    Ok(Offer {
        payer,
        supplier: OfferedSupplier {
            cnpj: "12.ABC.345/01DE-35".parse()?,
            email: "financeiro@fornecedor.example.com".parse()?,
            name: Some("Fornecedor Exemplo Ltda.".parse()?),
            contact_name: Some("Maria Lima".parse()?),
            phone: None,
        },
        invoice: Invoice {
            amounts: amounts.ok_or("the amount is out of bounds")?,
            due_date: "2027-01-20".parse()?,
            number: Some(number.parse()?),
        },
        external_reference: None,
        file: None,
    })
}
