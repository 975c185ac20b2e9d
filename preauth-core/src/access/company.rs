//! Companies: how they are registered, and what only some of them may do.

use thiserror::Error;

use crate::value::{Cnpj, CompanyId, CompanyKind, EventTypeSet};

/// A stored company, as far as these rules need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownCompany {
    /// The platform's id.
    pub id: CompanyId,
    /// Its tax id.
    pub cnpj: Cnpj,
    /// Its role.
    pub kind: CompanyKind,
    /// Its head office; `None` when it is itself a head office.
    pub head_office: Option<CompanyId>,
    /// Whether head offices have invited it and it is not registered: only the data that offers need
    /// is stored.
    pub is_invited: bool,
}

/// How a company is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum Registration {
    /// Under a new id.
    New,
    /// Under the id of the invited supplier with the same tax id, whose offers it takes over.
    TakeOver(CompanyId),
}

/// Why a company cannot be registered.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum RegistrationRejection {
    /// A company with this tax id is registered.
    #[error("a company with this tax id is registered")]
    CnpjRegistered,
}

/// Why a company cannot be registered as a branch.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum BranchRejection {
    /// The named head office is not registered.
    #[error("the head office is not registered")]
    HeadOfficeNotRegistered(NotRegistered),
    /// The named head office is itself a branch.
    #[error("the head office is a branch of {head_office}")]
    HeadOfficeIsBranch {
        /// The head office of that branch.
        head_office: CompanyId,
    },
    /// The two differ in kind.
    #[error("the head office is of the kind {kind}")]
    KindDiffers {
        /// The head office's kind.
        kind: CompanyKind,
    },
}

/// The company is an invited supplier that is not registered.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[error("the supplier is invited and not registered")]
pub struct NotRegistered {
    /// Its tax id.
    pub cnpj: Cnpj,
}

/// The company is a branch; only its head office has such records.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[error("the company is a branch of {head_office}")]
pub struct IsBranch {
    /// Its head office.
    pub head_office: CompanyId,
}

/// Why a company cannot have a webhook endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum EndpointRejection {
    /// It is not registered.
    #[error(transparent)]
    NotRegistered(#[from] NotRegistered),
    /// It is a branch: the endpoint of its head office receives its events.
    #[error(transparent)]
    IsBranch(#[from] IsBranch),
}

/// Why two companies cannot be the payer and the supplier of a new record.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum PartiesRejection {
    /// The payer does not exist.
    #[error("the payer does not exist")]
    PayerUnknown,
    /// The payer is no construction company.
    #[error("the payer is no construction company")]
    PayerNotConstruction,
    /// The supplier does not exist.
    #[error("the supplier does not exist")]
    SupplierUnknown,
    /// The supplier is not registered.
    #[error("the supplier is not registered")]
    SupplierNotRegistered(NotRegistered),
    /// The supplier is of the payer's own group, or another branch of its legal entity.
    #[error("the supplier belongs to the payer's company")]
    SupplierIsSelf,
}

crate::explained::explained!(RegistrationRejection);
crate::explained::explained!(BranchRejection);
crate::explained::explained!(NotRegistered);
crate::explained::explained!(IsBranch);
crate::explained::explained!(EndpointRejection);
crate::explained::explained!(PartiesRejection);

impl KnownCompany {
    /// Refuses an invited supplier that is not registered.
    pub const fn require_registered(&self) -> Result<(), NotRegistered> {
        if self.is_invited {
            Err(NotRegistered { cnpj: self.cnpj })
        } else {
            Ok(())
        }
    }

    /// Its head office, or itself.
    fn group(&self) -> CompanyId {
        self.head_office.unwrap_or(self.id)
    }

    /// The id of a head office. A branch is refused with the id of its head office, whose records
    /// would otherwise seem to be missing.
    pub const fn require_head_office(&self) -> Result<CompanyId, IsBranch> {
        match self.head_office {
            None => Ok(self.id),
            Some(head_office) => Err(IsBranch { head_office }),
        }
    }
}

/// Decides how a company is registered, given the company that has its tax id, if there is one.
pub const fn decide_registration(
    known: Option<&KnownCompany>,
) -> Result<Registration, RegistrationRejection> {
    match known {
        None => Ok(Registration::New),
        Some(known) if known.is_invited => Ok(Registration::TakeOver(known.id)),
        Some(_) => Err(RegistrationRejection::CnpjRegistered),
    }
}

/// Decides whether a company of this kind may be registered as a branch of `head_office`.
pub fn decide_branch(kind: CompanyKind, head_office: &KnownCompany) -> Result<(), BranchRejection> {
    head_office
        .require_registered()
        .map_err(BranchRejection::HeadOfficeNotRegistered)?;
    if let Some(above) = head_office.head_office {
        return Err(BranchRejection::HeadOfficeIsBranch { head_office: above });
    }
    if head_office.kind != kind {
        return Err(BranchRejection::KindDiffers {
            kind: head_office.kind,
        });
    }
    Ok(())
}

/// Decides whether `company` may have a webhook endpoint: only registered head offices have one.
pub fn decide_endpoint(company: &KnownCompany) -> Result<(), EndpointRejection> {
    company.require_registered()?;
    company.require_head_office()?;
    Ok(())
}

/// The event types of an endpoint after it was set: those that were chosen, otherwise those that
/// the existing endpoint has. `None` when a new endpoint has no choice.
#[must_use]
pub fn subscribed_events(
    chosen: Option<EventTypeSet>,
    existing: Option<EventTypeSet>,
) -> Option<EventTypeSet> {
    chosen.or(existing)
}

/// Decides whether two companies may be the payer and the supplier of a direct advance, a received
/// invoice or a payment order. The payer is checked first.
pub fn decide_parties(
    payer: Option<&KnownCompany>,
    supplier: Option<&KnownCompany>,
) -> Result<(), PartiesRejection> {
    let payer = payer.ok_or(PartiesRejection::PayerUnknown)?;
    if payer.kind != CompanyKind::Construction {
        return Err(PartiesRejection::PayerNotConstruction);
    }
    let supplier = supplier.ok_or(PartiesRejection::SupplierUnknown)?;
    supplier
        .require_registered()
        .map_err(PartiesRejection::SupplierNotRegistered)?;
    if supplier.group() == payer.group() || supplier.cnpj.root() == payer.cnpj.root() {
        return Err(PartiesRejection::SupplierIsSelf);
    }
    Ok(())
}

/// Whether a company may offer advances: only the head office of a construction company may.
#[must_use]
pub fn may_offer(kind: CompanyKind, is_head_office: bool) -> bool {
    kind == CompanyKind::Construction && is_head_office
}

/// Whether a head office with this block list does not deal with `supplier`. An entry covers the
/// whole legal entity.
#[must_use]
pub fn is_blocked(blocked: &[Cnpj], supplier: Cnpj) -> bool {
    blocked.iter().any(|it| it.root() == supplier.root())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{
        BranchRejection, Cnpj, CompanyId, CompanyKind, EndpointRejection, EventTypeSet, IsBranch,
        KnownCompany, NotRegistered, PartiesRejection, Registration, RegistrationRejection,
        decide_branch, decide_endpoint, decide_parties, decide_registration, is_blocked, may_offer,
        subscribed_events,
    };
    use crate::value::EventType;

    fn head_office(kind: CompanyKind) -> KnownCompany {
        KnownCompany {
            id: CompanyId::new(Uuid::from_u128(1)),
            cnpj: Cnpj::parse("11222333000181").unwrap(),
            kind,
            head_office: None,
            is_invited: false,
        }
    }

    fn branch(kind: CompanyKind) -> KnownCompany {
        KnownCompany {
            head_office: Some(CompanyId::new(Uuid::from_u128(2))),
            ..head_office(kind)
        }
    }

    fn invited() -> KnownCompany {
        KnownCompany {
            is_invited: true,
            ..head_office(CompanyKind::Supplier)
        }
    }

    fn not_registered() -> NotRegistered {
        NotRegistered {
            cnpj: invited().cnpj,
        }
    }

    #[test]
    fn a_company_takes_over_the_id_of_an_invited_supplier_and_of_no_other() {
        assert_eq!(decide_registration(None), Ok(Registration::New));
        assert_eq!(
            decide_registration(Some(&invited())),
            Ok(Registration::TakeOver(invited().id))
        );
        for kind in CompanyKind::ALL {
            assert_eq!(
                decide_registration(Some(&head_office(*kind))),
                Err(RegistrationRejection::CnpjRegistered)
            );
        }
    }

    #[test]
    fn a_branch_is_of_its_head_offices_kind_and_has_no_branches() {
        let kind = CompanyKind::Construction;
        assert_eq!(decide_branch(kind, &head_office(kind)), Ok(()));
        assert_eq!(
            decide_branch(kind, &head_office(CompanyKind::Supplier)),
            Err(BranchRejection::KindDiffers {
                kind: CompanyKind::Supplier
            })
        );
        let above = CompanyId::new(Uuid::from_u128(2));
        assert_eq!(
            decide_branch(kind, &branch(kind)),
            Err(BranchRejection::HeadOfficeIsBranch { head_office: above })
        );
    }

    #[test]
    fn an_invited_supplier_is_no_head_office_of_branches() {
        let kind = CompanyKind::Supplier;
        assert_eq!(
            decide_branch(kind, &invited()),
            Err(BranchRejection::HeadOfficeNotRegistered(not_registered()))
        );
    }

    #[test]
    fn only_registered_head_offices_have_an_endpoint() {
        for kind in CompanyKind::ALL {
            assert_eq!(decide_endpoint(&head_office(*kind)), Ok(()));
            let is_branch = IsBranch {
                head_office: CompanyId::new(Uuid::from_u128(2)),
            };
            assert_eq!(
                decide_endpoint(&branch(*kind)),
                Err(EndpointRejection::IsBranch(is_branch))
            );
        }
        assert_eq!(
            decide_endpoint(&invited()),
            Err(EndpointRejection::NotRegistered(not_registered()))
        );
    }

    #[test]
    fn a_change_without_events_keeps_those_of_the_endpoint() {
        let paid: EventTypeSet = [EventType::AnticipationPaid].into_iter().collect();
        let all = EventTypeSet::all();
        assert_eq!(subscribed_events(Some(paid), Some(all)), Some(paid));
        assert_eq!(subscribed_events(None, Some(all)), Some(all));
        assert_eq!(subscribed_events(Some(paid), None), Some(paid));
        assert_eq!(subscribed_events(None, None), None);
    }

    #[test]
    fn records_have_a_construction_company_and_a_registered_supplier() {
        let payer = head_office(CompanyKind::Construction);
        let other = |kind| KnownCompany {
            id: CompanyId::new(Uuid::from_u128(3)),
            cnpj: Cnpj::parse("11444777000161").unwrap(),
            ..head_office(kind)
        };
        let supplier = other(CompanyKind::Supplier);
        assert_eq!(decide_parties(Some(&payer), Some(&supplier)), Ok(()));
        // A construction company may supply another one, and a branch may pay.
        let branch = branch(CompanyKind::Construction);
        let builder = other(CompanyKind::Construction);
        assert_eq!(decide_parties(Some(&branch), Some(&builder)), Ok(()));
        assert_eq!(
            decide_parties(Some(&payer), Some(&invited())),
            Err(PartiesRejection::SupplierNotRegistered(not_registered()))
        );
        assert_eq!(
            decide_parties(Some(&payer), None),
            Err(PartiesRejection::SupplierUnknown)
        );
        for supplier in [None, Some(&invited())] {
            assert_eq!(
                decide_parties(None, supplier),
                Err(PartiesRejection::PayerUnknown)
            );
            assert_eq!(
                decide_parties(Some(&head_office(CompanyKind::Supplier)), supplier),
                Err(PartiesRejection::PayerNotConstruction)
            );
        }
    }

    #[test]
    fn nobody_is_the_supplier_of_the_own_group() {
        let head_office = head_office(CompanyKind::Construction);
        let of_group = KnownCompany {
            cnpj: Cnpj::parse("11444777000161").unwrap(),
            head_office: Some(head_office.id),
            ..branch(CompanyKind::Construction)
        };
        // Registered as a company of its own, by mistake.
        let of_entity = branch(CompanyKind::Construction);
        for other in [head_office, of_group, of_entity] {
            for (payer, supplier) in [(head_office, other), (other, head_office)] {
                assert_eq!(
                    decide_parties(Some(&payer), Some(&supplier)),
                    Err(PartiesRejection::SupplierIsSelf)
                );
            }
        }
    }

    #[test]
    fn only_the_head_office_of_a_construction_company_offers() {
        for kind in CompanyKind::ALL {
            for is_head_office in [true, false] {
                let expected = *kind == CompanyKind::Construction && is_head_office;
                assert_eq!(may_offer(*kind, is_head_office), expected, "{kind}");
            }
        }
    }

    #[test]
    fn an_entry_of_the_block_list_covers_the_whole_legal_entity() {
        let cnpj = |text: &str| Cnpj::parse(text).unwrap();
        let blocked = [cnpj("11222333000181")];
        assert!(is_blocked(&blocked, cnpj("11222333000181")));
        assert!(is_blocked(&blocked, cnpj("11222333000262")));
        assert!(!is_blocked(&blocked, cnpj("11444777000161")));
        assert!(!is_blocked(&[], cnpj("11222333000181")));
    }
}
