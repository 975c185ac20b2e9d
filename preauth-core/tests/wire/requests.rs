use preauth_core::value::Money;
use preauth_core::wire::{Amount, CreateInvoice, CreatePreAuthorization, CreateSupplier};

use crate::pretty;

fn minimal() -> CreatePreAuthorization {
    CreatePreAuthorization {
        supplier: CreateSupplier {
            cnpj: "12.ABC.345/01DE-35".parse().unwrap(),
            email: "financeiro@fornecedor.example.com".parse().unwrap(),
            name: None,
            contact_name: None,
            phone: None,
        },
        invoice: CreateInvoice {
            amount: Amount(Money::parse("500.00").unwrap()),
            due_date: "2026-12-21".parse().unwrap(),
            number: "NF-1".parse().unwrap(),
            withheld_tax_amount: None,
        },
        external_reference: None,
    }
}

// Contract: version/optional-fields
#[test]
fn an_absent_optional_field_is_not_sent() {
    assert_eq!(
        pretty(&minimal()),
        include_str!("golden/create_minimal.json")
    );
}

#[test]
fn everything_that_can_be_said_is_sent() {
    let mut create = minimal();
    create.supplier.name = Some("Fornecedor Exemplo Ltda.".parse().unwrap());
    create.supplier.contact_name = Some("Maria Souza".parse().unwrap());
    create.supplier.phone = Some("+55 11 4000-0000".parse().unwrap());
    create.invoice.amount = Amount(Money::parse("1234.56").unwrap());
    create.invoice.withheld_tax_amount = Some(Amount(Money::parse("10.50").unwrap()));
    create.external_reference = Some("PED-2026/0042".parse().unwrap());
    assert_eq!(pretty(&create), include_str!("golden/create_full.json"));
}
