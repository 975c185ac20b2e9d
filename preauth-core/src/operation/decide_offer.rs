//! Decides whether an operation may be created, in the order that `docs/decisions.md` fixes; the first
//! refusal is returned.

use crate::Policy;
use crate::value::{
    Cnpj, CompanyId, CompanyName, Money, OperationId, Origin, Timestamp, Version, calendar,
};

use super::term::{EARLIEST_DUE_DAYS, LATEST_DUE_DAYS, expires_at};
use super::{DirectAdvance, Invoice, Offer, Operation, Party, Payer, Rejection, State};

/// Everything that the decision on a new operation depends on, as of one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferContext {
    /// The company that pays.
    pub payer: Payer,
    /// The supplier, as the platform knows it.
    pub supplier: KnownSupplier,
    /// Whether the supplier's legal entity has a company in the payer's group; the supplier itself may be
    /// unregistered.
    pub supplier_is_of_group: bool,
    /// Whether the payer's head office blocks the supplier's legal entity, whether registered or not.
    pub supplier_is_blocked: bool,
    /// The credit analysis of the payer's head office, if there is one.
    pub credit: Option<Credit>,
    /// The operation in progress for the same supplier and invoice number, in the payer's group.
    pub holder: Option<Operation>,
    /// The id reserved for the new operation; no id is issued twice.
    pub id: OperationId,
}

/// A supplier as the platform knows it, as far as the payer's head office may see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownSupplier {
    /// No head office has invited this tax id, and it is not registered.
    Unknown,
    /// Other head offices invited it. The names that they gave are not visible to this one.
    InvitedByOthers(CompanyId),
    /// The payer's head office invited it, and gave it this name.
    Invited(Party),
    /// The platform registered it; every head office sees it.
    Registered(Party),
}

impl KnownSupplier {
    /// The supplier as the payer's head office sees it; `None` when that head office must provide a name
    /// first.
    #[must_use]
    pub const fn party(&self) -> Option<&Party> {
        match self {
            Self::Unknown | Self::InvitedByOthers(_) => None,
            Self::Invited(party) | Self::Registered(party) => Some(party),
        }
    }
}

/// Limits set by the company's credit analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// Maximum term, in calendar days from today in São Paulo, inclusive.
    pub max_term_days: u32,
    /// Maximum gross amount of one invoice.
    pub max_invoice_amount: Money,
}

/// Decides an offer; returns the new operation, or the first refusal.
///
/// `new_supplier` is the id that an unknown supplier will have. If the holder is overdue, its expiry must
/// be recorded first.
pub fn decide_offer(
    offer: &Offer,
    context: &OfferContext,
    new_supplier: CompanyId,
    policy: &Policy,
    now: Timestamp,
) -> Result<Operation, Rejection> {
    let term_days = calendar::days_until(now, offer.invoice.due_date.date());
    if term_days < EARLIEST_DUE_DAYS {
        return Err(Rejection::DueDateTooNear);
    }
    if term_days > LATEST_DUE_DAYS {
        return Err(Rejection::DueDateTooFar);
    }
    refuse_self(offer.supplier.cnpj, context)?;
    if context.supplier_is_blocked {
        return Err(Rejection::SupplierBlocked);
    }
    let supplier = supplier_of(offer, context, new_supplier)?;
    refuse_beyond_credit(context.credit.as_ref(), &offer.invoice, term_days)?;
    refuse_duplicate(context)?;
    let opening = Opening {
        origin: Origin::PreAuth,
        invoice: &offer.invoice,
        supplier,
        expires_at: Some(expires_at(now, offer.invoice.due_date, policy)),
        state: State::InPreAuth,
    };
    Ok(opening.operation(context, offer.external_reference.clone(), now))
}

/// Decides a direct advance: the supplier must be registered and outside the payer's group, and the invoice
/// must not be held by another operation. The other rules apply to offers only.
pub fn decide_direct_advance(
    advance: &DirectAdvance,
    context: &OfferContext,
    now: Timestamp,
) -> Result<Operation, Rejection> {
    refuse_self(advance.supplier, context)?;
    let KnownSupplier::Registered(supplier) = &context.supplier else {
        return Err(Rejection::SupplierNameRequired);
    };
    refuse_duplicate(context)?;
    let opening = Opening {
        origin: Origin::Direct,
        invoice: &advance.invoice,
        supplier: supplier.clone(),
        expires_at: None,
        state: State::InVerification,
    };
    Ok(opening.operation(context, advance.external_reference.clone(), now))
}

/// Refuses a supplier of the payer's own group: a company registered in it, or any branch of a legal entity
/// that has a company in it.
fn refuse_self(supplier: Cnpj, context: &OfferContext) -> Result<(), Rejection> {
    let payer = &context.payer;
    let is_registered_in_group = context
        .supplier
        .party()
        .is_some_and(|known| known.head_office == payer.head_office);
    let is_same_entity = supplier.root() == payer.cnpj.root();
    if is_same_entity || is_registered_in_group || context.supplier_is_of_group {
        Err(Rejection::SupplierIsSelf)
    } else {
        Ok(())
    }
}

fn supplier_of(
    offer: &Offer,
    context: &OfferContext,
    new_supplier: CompanyId,
) -> Result<Party, Rejection> {
    let company = match &context.supplier {
        KnownSupplier::Invited(known) | KnownSupplier::Registered(known) => {
            return Ok(known.clone());
        }
        KnownSupplier::InvitedByOthers(company) => *company,
        KnownSupplier::Unknown => new_supplier,
    };
    match (&offer.supplier.name, &offer.supplier.contact_name) {
        (Some(name), Some(_)) => Ok(Party {
            company,
            head_office: company,
            cnpj: offer.supplier.cnpj,
            name: CompanyName::from(name),
        }),
        _ => Err(Rejection::SupplierNameRequired),
    }
}

fn refuse_beyond_credit(
    credit: Option<&Credit>,
    invoice: &Invoice,
    term_days: i64,
) -> Result<(), Rejection> {
    // Without a credit analysis no amount is allowed.
    let Some(credit) = credit else {
        return Err(Rejection::CreditAmountExceeded);
    };
    if term_days > i64::from(credit.max_term_days) {
        return Err(Rejection::CreditTermExceeded);
    }
    if invoice.amounts.amount() > credit.max_invoice_amount {
        return Err(Rejection::CreditAmountExceeded);
    }
    Ok(())
}

fn refuse_duplicate(context: &OfferContext) -> Result<(), Rejection> {
    match &context.holder {
        Some(holder) => Err(Rejection::DuplicateInvoice {
            existing: holder.id,
        }),
        None => Ok(()),
    }
}

struct Opening<'a> {
    origin: Origin,
    invoice: &'a Invoice,
    supplier: Party,
    expires_at: Option<Timestamp>,
    state: State,
}

impl Opening<'_> {
    fn operation(
        self,
        context: &OfferContext,
        external_reference: Option<crate::value::ExternalReference>,
        now: Timestamp,
    ) -> Operation {
        Operation {
            id: context.id,
            version: Version::INITIAL,
            origin: self.origin,
            payer: context.payer.clone(),
            supplier: self.supplier,
            invoice: self.invoice.clone(),
            external_reference,
            expires_at: self.expires_at,
            created_at: now,
            net_amount: None,
            state: self.state,
        }
    }
}
