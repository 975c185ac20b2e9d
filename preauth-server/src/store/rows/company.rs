//! Companies, their users and their credit.

use preauth_core::operation::Credit;
use preauth_core::value::{CompanyId, Timestamp, UserId};

use crate::directory::{Company, Contact, Invitation, Suspension, User};

use super::columns::{Columns, Corrupt};
use super::raw::RawRow;

pub(in crate::store) fn company(row: &impl RawRow) -> Result<Company, Corrupt> {
    let columns = Columns::of("companies", row);
    let id = CompanyId::new(columns.uuid("id")?);
    let head_office = CompanyId::new(columns.uuid("head_office_id")?);
    let is_invited: bool = columns.raw("is_invited")?;
    let contact_name: Option<&str> = columns.raw("contact_name")?;
    let suspended_at = columns.optional_timestamp("suspended_at")?;
    // An invited supplier has no name of its own: each head office that invited it gave it one.
    let name = if is_invited { "cnpj" } else { "name" };
    Ok(Company {
        id,
        cnpj: columns.parsed("cnpj")?,
        name: columns.parsed(name)?,
        kind: columns.parsed("kind")?,
        head_office: (head_office != id).then_some(head_office),
        contact: contact_name
            .filter(|_| !is_invited)
            .map(|_| contact(columns))
            .transpose()?,
        is_invited,
        created_at: columns.timestamp("created_at")?,
        suspension: suspended_at
            .map(|since| suspension(columns, since))
            .transpose()?,
    })
}

fn suspension(columns: Columns<'_>, since: Timestamp) -> Result<Suspension, Corrupt> {
    Ok(Suspension {
        since,
        reason: columns.parsed("suspension_reason")?,
    })
}

pub(in crate::store) fn invitation(row: &impl RawRow) -> Result<Invitation, Corrupt> {
    let columns = Columns::of("supplier_invitations", row);
    Ok(Invitation {
        head_office: CompanyId::new(columns.uuid("head_office_id")?),
        name: columns.parsed("name")?,
        contact: contact(columns)?,
        invited_at: columns.timestamp("invited_at")?,
        confirmed_at: columns.optional_timestamp("confirmed_at")?,
    })
}

fn contact(columns: Columns<'_>) -> Result<Contact, Corrupt> {
    Ok(Contact {
        name: columns.parsed("contact_name")?,
        email: columns.parsed("contact_email")?,
        phone: columns.optional_parsed("contact_phone")?,
    })
}

pub(in crate::store) fn user(row: &impl RawRow) -> Result<User, Corrupt> {
    let columns = Columns::of("users", row);
    Ok(User {
        id: UserId::new(columns.uuid("id")?),
        company: CompanyId::new(columns.uuid("company_id")?),
        name: columns.parsed("name")?,
        email: columns.parsed("email")?,
        permissions: columns.set("permissions")?,
        active: columns.raw("active")?,
        created_at: columns.timestamp("created_at")?,
    })
}

/// The credit analysis in the columns of its table.
pub(in crate::store) fn credit(columns: Columns<'_>) -> Result<Credit, Corrupt> {
    Ok(Credit {
        max_term_days: columns.number("max_term_days", |days| days.try_into().ok())?,
        max_invoice_amount: columns.money("max_invoice_amount_cents")?,
    })
}
