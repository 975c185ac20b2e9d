//! Operations as rows: how they are read back, and the look-ups of one.

use preauth_core::operation::{
    Action, Closing, Extension, Invoice, InvoiceAmounts, Operation, State,
};
use preauth_core::value::{
    Cnpj, CompanyId, ExtensionId, InvoiceNumber, OperationId, Status, Timestamp, Version,
};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::error::Fault;
use super::parties::{PAYER, SUPPLIER, party};
use super::rows::Columns;

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
                    s.id AS supplier_id, s.head_office_id AS supplier_head_office_id,
                    s.cnpj AS supplier_cnpj, s.name AS supplier_name,
                    x.id AS extension_id, x.new_due_date, x.total_amount_cents",
            $more,
            " FROM operations o
             JOIN companies p ON p.id = o.payer_id
             JOIN companies s ON s.id = o.supplier_id
             LEFT JOIN extensions x ON x.operation_id = o.id AND x.status = 'OPEN' ",
            $rest
        )
    };
}
pub(super) use select_operations;

/// The operation with an id, if there is one.
pub(super) async fn by_id(
    connection: &mut SqliteConnection,
    id: OperationId,
) -> Result<Option<Operation>, Fault> {
    let row = sqlx::query(select_operations!("WHERE o.id = ?1"))
        .bind(id.get())
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(operation).transpose()
}

/// The operation in progress that holds an invoice in a group, other than `except`.
pub(super) async fn holder(
    connection: &mut SqliteConnection,
    head_office: CompanyId,
    supplier: Cnpj,
    number: Option<&InvoiceNumber>,
    except: Option<OperationId>,
) -> Result<Option<Operation>, Fault> {
    let Some(number) = number else {
        return Ok(None);
    };
    // The condition on the status is that of the unique index, word for word: SQLite uses the index
    // for no other.
    let row = sqlx::query(select_operations!(
        "WHERE o.head_office_id = ?1 AND o.supplier_cnpj = ?2 AND o.invoice_number = ?3
           AND o.status NOT IN ('REPROVED', 'CONCLUDED') AND o.id IS NOT ?4"
    ))
    .bind(head_office.as_uuid().as_bytes().as_slice())
    .bind(supplier.as_str())
    .bind(number.as_str())
    .bind(except.map(OperationId::get))
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(operation).transpose()
}

/// Offers whose time has passed, those first that have waited longest.
pub(super) async fn overdue(
    connection: &mut SqliteConnection,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<Operation>, Fault> {
    let rows = sqlx::query(select_operations!(
        "WHERE o.status = 'IN_PRE_AUTH' AND o.expires_at < ?1
         ORDER BY o.expires_at, o.id LIMIT ?2"
    ))
    .bind(now.unix_millis())
    .bind(limit)
    .fetch_all(connection)
    .await?;
    rows.iter().map(operation).collect()
}

/// Reads a row of `select_operations!` back.
pub(super) fn operation(row: &SqliteRow) -> Result<Operation, Fault> {
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

fn state(columns: Columns<'_>) -> Result<State, Fault> {
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
                .ok_or_else(|| columns.corrupt("closing_action"))?,
            given_reason: columns.optional_parsed("closing_reason")?,
        }),
    })
}

fn open_extension(columns: Columns<'_>) -> Result<Option<Extension>, Fault> {
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
