//! Operations and their extensions.

use preauth_core::operation::{
    Action, Closing, Extension, ExtensionStatus, Invoice, InvoiceAmounts, Operation, State,
};
use preauth_core::port::ExtensionRecord;
use preauth_core::value::{ExtensionId, OperationId, Status, Version};

use crate::directory::OperationExtension;

use super::columns::{Columns, Corrupt};
use super::party::{PAYER, SUPPLIER, party};
use super::raw::RawRow;

/// The normalized form of an invoice's number, if it differs from the number. The unique index of the
/// duplicate rule then uses the normalized form.
pub(in crate::store) fn compared_number(invoice: &Invoice) -> Option<String> {
    let number = invoice.number.as_ref()?;
    let compared = number.compared();
    (*compared != *number.as_str()).then(|| compared.into_owned())
}

/// Every column of an operation with its parties and its open extension, and perhaps `$more`,
/// before `$rest`.
macro_rules! select_operations {
    ($rest:literal) => {
        select_operations!("", $rest)
    };
    ($more:literal, $rest:literal) => {
        concat!(
            "SELECT o.id, o.version, o.origin, o.status, o.amount_cents, o.withheld_tax_cents,
                    o.net_amount_cents, o.due_date, o.invoice_number, o.external_reference,
                    o.expires_at, o.created_at, o.closing_action, o.closing_reason,
                    o.boleto_due_date,
                    o.head_office_id AS listed_head_office_id,
                    o.supplier_cnpj AS listed_supplier_cnpj,
                    p.id AS payer_id, p.head_office_id AS payer_head_office_id,
                    p.cnpj AS payer_cnpj, p.name AS payer_name,
                    x.id AS extension_id, x.new_due_date, x.total_amount_cents,
                    NOT s.is_invited OR si.name IS NOT NULL
                        OR (SELECT 1 FROM erased_invitations ei
                            WHERE ei.supplier_id = s.id AND ei.head_office_id = o.head_office_id)
                           IS NOT NULL AS supplier_is_known, ",
            $crate::store::rows::supplier_columns!(),
            $more,
            " FROM operations o
             JOIN companies p ON p.id = o.payer_id",
            $crate::store::rows::join_supplier!("o"),
            "LEFT JOIN extensions x ON x.operation_id = o.id AND x.status = 'OPEN' ",
            $rest
        )
    };
}
pub(in crate::store) use select_operations;

/// Reads a row of `select_operations!`.
pub(in crate::store) fn operation(row: &impl RawRow) -> Result<Operation, Corrupt> {
    let columns = Columns::of("operations", row);
    let amounts = InvoiceAmounts::from_cents(
        columns.money("amount_cents")?,
        columns.money("withheld_tax_cents")?,
    );
    Ok(Operation {
        id: columns.number("id", OperationId::new)?,
        version: columns.number("version", Version::new)?,
        origin: columns.parsed("origin")?,
        payer: party(columns, &PAYER)?,
        supplier: party(columns, &SUPPLIER)?,
        invoice: Invoice {
            amounts: amounts.ok_or_else(|| columns.corrupt("amount_cents"))?,
            due_date: columns.parsed("due_date")?,
            number: columns.optional_parsed("invoice_number")?,
        },
        external_reference: columns.optional_parsed("external_reference")?,
        expires_at: columns.optional_timestamp("expires_at")?,
        created_at: columns.timestamp("created_at")?,
        net_amount: columns.optional_money("net_amount_cents")?,
        state: state(columns)?,
    })
}

/// Operations, and those that this build cannot read.
type ReadableOperations = (Vec<Operation>, Vec<(OperationId, Corrupt)>);

/// The operations of rows of `select_operations!`, and the errors of those that cannot be read.
pub(in crate::store) fn readable_operations(
    rows: &[impl RawRow],
) -> Result<ReadableOperations, Corrupt> {
    let (mut readable, mut unreadable) = (Vec::with_capacity(rows.len()), Vec::new());
    for row in rows {
        match operation(row) {
            Ok(operation) => readable.push(operation),
            Err(cause) => {
                let id = Columns::of("operations", row).number("id", OperationId::new)?;
                unreadable.push((id, cause));
            }
        }
    }
    Ok((readable, unreadable))
}

fn state(columns: Columns<'_>) -> Result<State, Corrupt> {
    Ok(match columns.parsed("status")? {
        Status::InPreAuth => State::InPreAuth,
        Status::InVerification => State::InVerification,
        Status::ToApprove => State::ToApprove,
        Status::InAnalysis => State::InAnalysis,
        Status::ToPay => State::ToPay,
        Status::ToBill => State::ToBill,
        Status::ToReceive => State::ToReceive {
            boleto_due_date: columns.parsed("boleto_due_date")?,
            extension: open_extension(columns)?,
        },
        Status::Concluded => State::Concluded,
        Status::Reproved => State::Reproved(Closing {
            action: Action::parse(columns.raw("closing_action")?)
                .map_err(|_| columns.corrupt("closing_action"))?,
            given_reason: columns.optional_parsed("closing_reason")?,
        }),
    })
}

fn open_extension(columns: Columns<'_>) -> Result<Option<Extension>, Corrupt> {
    let id: Option<i64> = columns.raw("extension_id")?;
    if id.is_none() {
        return Ok(None);
    }
    Ok(Some(Extension {
        id: columns.number("extension_id", ExtensionId::new)?,
        new_due_date: columns.parsed("new_due_date")?,
        total_amount: columns.money("total_amount_cents")?,
    }))
}

/// Reads a row of the table.
pub(in crate::store) fn extension(row: &impl RawRow) -> Result<OperationExtension, Corrupt> {
    let columns = Columns::of("extensions", row);
    let extension = Extension {
        id: columns.number("id", ExtensionId::new)?,
        new_due_date: columns.parsed("new_due_date")?,
        total_amount: columns.money("total_amount_cents")?,
    };
    let status = ExtensionStatus::parse(columns.raw("status")?);
    let status = status.map_err(|_| columns.corrupt("status"))?;
    Ok(OperationExtension {
        operation: columns.number("operation_id", OperationId::new)?,
        record: ExtensionRecord { extension, status },
    })
}
