//! The register of companies, credit analyses and block lists.

use chrono::TimeDelta;
use preauth_core::operation::Credit;
use preauth_core::port::PageRequest;
use preauth_core::value::{Cnpj, CompanyId, CompanyKind};
use preauth_server::directory::{Company, DirectoryError, Suspension};

use crate::store::fixture::{Fixture, cents};

fn is_conflict(outcome: &Result<(), DirectoryError>) -> bool {
    matches!(outcome, Err(DirectoryError::Conflict))
}

fn is_not_found(outcome: &Result<(), DirectoryError>) -> bool {
    matches!(outcome, Err(DirectoryError::NotFound))
}

#[tokio::test]
async fn a_company_is_kept_as_it_was_registered() {
    let fixture = Fixture::new().await;
    let head_office = fixture.company(CompanyKind::Supplier);
    let branch = fixture.branch_of(head_office.id);
    for company in [&head_office, &branch] {
        fixture
            .directory()
            .add_company(company, None)
            .await
            .unwrap();
        let by_id = fixture.directory().company(company.id).await.unwrap();
        let by_cnpj = fixture.directory().company_by_cnpj(&company.cnpj).await;
        assert_eq!(by_id.as_ref(), Some(company));
        assert_eq!(by_cnpj.unwrap().as_ref(), Some(company));
    }
}

#[tokio::test]
async fn a_supplier_that_an_offer_names_is_invited_with_its_contact() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let supplier = fixture.offer(payer).await.supplier.company;
    let company = fixture
        .directory()
        .company(supplier)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(company.kind, CompanyKind::Supplier);
    assert_eq!(
        (company.head_office, company.created_at),
        (None, fixture.now)
    );
    assert!(company.is_invited && company.contact.is_none());
    assert_eq!(company.name.as_str(), company.cnpj.as_str());
    let page = PageRequest { page: 1, limit: 2 };
    let invitations = fixture.directory().invitations(supplier, page).await;
    let invitations = invitations.unwrap();
    assert_eq!((invitations.total, invitations.items.len()), (1, 1));
    let invitation = &invitations.items[0];
    assert_eq!(
        (invitation.head_office, invitation.invited_at),
        (payer, fixture.now)
    );
    assert_eq!(invitation.contact.email.as_str(), "fin@example.com");
    let phone = invitation.contact.phone.as_ref().unwrap();
    assert_eq!(phone.as_str(), "11 5555-1234");
}

#[tokio::test]
async fn a_tax_id_is_registered_once() {
    let fixture = Fixture::new().await;
    let first = fixture.company(CompanyKind::Construction);
    fixture.directory().add_company(&first, None).await.unwrap();
    let second = Company {
        cnpj: first.cnpj,
        ..fixture.company(CompanyKind::Supplier)
    };
    assert!(is_conflict(
        &fixture.directory().add_company(&second, None).await
    ));
    // As when another has registered it since the look-up.
    let again = Company {
        id: first.id,
        ..second
    };
    assert!(is_conflict(
        &fixture.directory().add_company(&again, None).await
    ));
    let kept = fixture.directory().company_by_cnpj(&first.cnpj).await;
    assert_eq!(kept.unwrap().unwrap(), first);
}

#[tokio::test]
async fn a_branch_needs_a_head_office_that_is_one() {
    let fixture = Fixture::new().await;
    let nowhere = fixture.branch_of(CompanyId::new(fixture.uuid()));
    assert!(is_not_found(
        &fixture.directory().add_company(&nowhere, None).await
    ));
    let itself = fixture.company(CompanyKind::Construction);
    let itself = Company {
        head_office: Some(itself.id),
        ..itself
    };
    assert!(is_not_found(
        &fixture.directory().add_company(&itself, None).await
    ));
    let payer = fixture.payer().await;
    let branch = fixture.add(fixture.branch_of(payer)).await;
    let below = fixture.branch_of(branch);
    assert!(is_not_found(
        &fixture.directory().add_company(&below, None).await
    ));
    let invited = fixture.offer(payer).await.supplier.company;
    let of_invited = fixture.branch_of(invited);
    assert!(is_not_found(
        &fixture.directory().add_company(&of_invited, None).await
    ));
}

#[tokio::test]
async fn companies_are_listed_newest_first() {
    let fixture = Fixture::new().await;
    let mut expected = Vec::new();
    for minutes in [3, 1, 2] {
        let company = Company {
            created_at: fixture.later(TimeDelta::minutes(minutes)),
            ..fixture.company(CompanyKind::Supplier)
        };
        expected.push((minutes, fixture.add(company).await));
    }
    expected.sort_unstable_by_key(|(minutes, _)| -minutes);
    let page = |page| {
        fixture
            .directory()
            .companies(PageRequest { page, limit: 2 })
    };
    let (first, second) = (page(1).await.unwrap(), page(2).await.unwrap());
    let listed: Vec<_> = first.items.iter().chain(&second.items).collect();
    let listed: Vec<_> = listed.iter().map(|company| company.id).collect();
    assert_eq!(
        listed,
        expected.iter().map(|(_, id)| *id).collect::<Vec<_>>()
    );
    assert_eq!((first.total, second.total), (3, 3));
    assert!(page(u64::MAX).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn a_head_offices_branches_are_listed_newest_first_and_no_others() {
    let fixture = Fixture::new().await;
    let (payer, other) = (fixture.payer().await, fixture.payer().await);
    fixture.add(fixture.branch_of(other)).await;
    let mut expected = Vec::new();
    for minutes in [1, 3, 2] {
        let branch = Company {
            created_at: fixture.later(TimeDelta::minutes(minutes)),
            ..fixture.branch_of(payer)
        };
        expected.push((minutes, fixture.add(branch).await));
    }
    expected.sort_unstable_by_key(|(minutes, _)| -minutes);
    let directory = fixture.directory();
    let page = |page| directory.branches(payer, PageRequest { page, limit: 2 });
    let (first, second) = (page(1).await.unwrap(), page(2).await.unwrap());
    let listed = first.items.iter().chain(&second.items);
    let listed: Vec<_> = listed.map(|company| company.id).collect();
    let expected: Vec<_> = expected.iter().map(|(_, id)| *id).collect();
    assert_eq!(
        (listed, first.total, second.total),
        (expected.clone(), 3, 3)
    );
    let everything = PageRequest { page: 1, limit: 10 };
    let none = directory.branches(expected[0], everything).await.unwrap();
    assert!(none.items.is_empty());
}

#[tokio::test]
async fn only_a_head_office_has_a_credit_analysis_and_the_newest_counts() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let payer = fixture.payer().await;
    let branch = fixture.add(fixture.branch_of(payer)).await;
    let credit = Credit {
        max_term_days: 90,
        max_invoice_amount: cents(1),
    };
    directory
        .set_credit(payer, credit, fixture.now)
        .await
        .unwrap();
    assert_eq!(directory.credit(payer).await.unwrap(), Some(credit));
    assert_eq!(directory.credit(branch).await.unwrap(), None);
    for other in [branch, CompanyId::new(fixture.uuid())] {
        let set = directory.set_credit(other, credit, fixture.now).await;
        assert!(is_not_found(&set));
    }
}

#[tokio::test]
async fn a_block_list_holds_each_supplier_once() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let payer = fixture.payer().await;
    let [one, two] = ["12ABC34501DE35", "11222333000181"].map(|it| Cnpj::parse(it).unwrap());
    for supplier in [&one, &two, &one] {
        let blocked = directory.block_supplier(payer, supplier, fixture.now);
        blocked.await.unwrap();
    }
    assert_eq!(
        directory.blocked_suppliers(payer).await.unwrap(),
        [two, one]
    );
    directory.unblock_supplier(payer, &two).await.unwrap();
    assert!(is_not_found(&directory.unblock_supplier(payer, &two).await));
    assert_eq!(directory.blocked_suppliers(payer).await.unwrap(), [one]);
}

#[tokio::test]
async fn only_a_head_office_blocks() {
    let fixture = Fixture::new().await;
    let payer = fixture.payer().await;
    let branch = fixture.add(fixture.branch_of(payer)).await;
    let supplier = Cnpj::parse("12ABC34501DE35").unwrap();
    for other in [branch, CompanyId::new(fixture.uuid())] {
        let blocked = fixture
            .directory()
            .block_supplier(other, &supplier, fixture.now);
        assert!(is_not_found(&blocked.await));
    }
}

#[tokio::test]
async fn the_first_suspension_counts_until_it_ends() {
    let fixture = Fixture::new().await;
    let directory = fixture.directory();
    let payer = fixture.payer().await;
    let suspension = |minutes, reason: &str| Suspension {
        since: fixture.later(TimeDelta::minutes(minutes)),
        reason: reason.parse().unwrap(),
    };
    let first = suspension(1, "Contrato em revisão");
    for suspended in [&first, &suspension(2, "Outro motivo")] {
        let company = directory.suspend_company(payer, suspended).await.unwrap();
        assert_eq!(company.suspension.as_ref(), Some(&first));
    }
    let kept = directory.company(payer).await.unwrap().unwrap();
    assert_eq!(kept.suspension, Some(first));
    for _ in 0..2 {
        let company = directory.resume_company(payer).await.unwrap();
        assert_eq!(company.suspension, None);
    }
    let again = suspension(3, "Outro motivo");
    let company = directory.suspend_company(payer, &again).await.unwrap();
    assert_eq!(company.suspension, Some(again.clone()));
    let nobody = CompanyId::new(fixture.uuid());
    let suspended = directory.suspend_company(nobody, &again).await;
    assert!(matches!(suspended, Err(DirectoryError::NotFound)));
    let resumed = directory.resume_company(nobody).await;
    assert!(matches!(resumed, Err(DirectoryError::NotFound)));
}
