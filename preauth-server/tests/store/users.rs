//! The register of users.

use preauth_core::value::{CompanyId, PermissionSet};
use preauth_server::directory::{DirectoryError, User, UserChange};

use crate::store::fixture::{FIRST_PAGE, Fixture};

#[tokio::test]
async fn a_user_is_kept_and_replaced() {
    let fixture = Fixture::new().await;
    let company = fixture.payer().await;
    let user = fixture.user(company);
    fixture.directory().add_user(&user, None).await.unwrap();
    let kept = fixture.directory().user(user.id).await.unwrap();
    assert_eq!(kept.as_ref(), Some(&user));
    let changed = User {
        name: "Beatriz".parse().unwrap(),
        email: "bia@example.com".parse().unwrap(),
        permissions: PermissionSet::new(),
        active: false,
        ..user
    };
    let updated = fixture
        .directory()
        .update_user(changed.id, &all_of(&changed))
        .await;
    assert_eq!(updated.unwrap(), changed);
    let kept = fixture.directory().user(changed.id).await.unwrap();
    assert_eq!(kept, Some(changed));
}

/// A change of every field that may change.
fn all_of(user: &User) -> UserChange {
    UserChange {
        name: Some(user.name.clone()),
        email: Some(user.email.clone()),
        permissions: Some(user.permissions),
        active: Some(user.active),
    }
}

#[tokio::test]
async fn changes_made_side_by_side_all_last() {
    let fixture = Fixture::new().await;
    let user = fixture.user(fixture.payer().await);
    fixture.directory().add_user(&user, None).await.unwrap();
    let rename = |index: u32| UserChange {
        name: Some(format!("Ana {index}").parse().unwrap()),
        ..UserChange::default()
    };
    let deactivate = UserChange {
        active: Some(false),
        ..UserChange::default()
    };
    let changes = (0..16).map(|index| {
        if index == 7 {
            deactivate.clone()
        } else {
            rename(index)
        }
    });
    let directory = fixture.directory();
    let updates =
        changes.map(|change| async move { directory.update_user(user.id, &change).await });
    for updated in futures_util::future::join_all(updates).await {
        updated.unwrap();
    }
    let kept = directory.user(user.id).await.unwrap().unwrap();
    assert!(!kept.active);
    assert_ne!(kept.name, user.name);
}

#[tokio::test]
async fn a_user_needs_a_company() {
    let fixture = Fixture::new().await;
    let user = fixture.user(CompanyId::new(fixture.uuid()));
    let added = fixture.directory().add_user(&user, None).await;
    assert!(matches!(added, Err(DirectoryError::NotFound)));
    let updated = fixture
        .directory()
        .update_user(user.id, &all_of(&user))
        .await;
    assert!(matches!(updated, Err(DirectoryError::NotFound)));
    assert_eq!(fixture.directory().user(user.id).await.unwrap(), None);
}

#[tokio::test]
async fn an_email_is_unique_in_a_company_ignoring_case() {
    let fixture = Fixture::new().await;
    let (company, other) = (fixture.payer().await, fixture.payer().await);
    let first = fixture.user(company);
    fixture.directory().add_user(&first, None).await.unwrap();
    let upper = first.email.as_str().to_uppercase().parse().unwrap();
    let second = User {
        email: upper,
        ..fixture.user(company)
    };
    let added = fixture.directory().add_user(&second, None).await;
    assert!(matches!(added, Err(DirectoryError::Conflict)));
    let elsewhere = User {
        company: other,
        ..second.clone()
    };
    fixture
        .directory()
        .add_user(&elsewhere, None)
        .await
        .unwrap();
    let third = fixture.user(company);
    fixture.directory().add_user(&third, None).await.unwrap();
    let renamed = User {
        email: second.email,
        ..third
    };
    let updated = fixture
        .directory()
        .update_user(renamed.id, &all_of(&renamed))
        .await;
    assert!(matches!(updated, Err(DirectoryError::Conflict)));
}

#[tokio::test]
async fn a_companys_users_are_listed_newest_first() {
    let fixture = Fixture::new().await;
    let (company, other) = (fixture.payer().await, fixture.payer().await);
    let users = [
        fixture.user(company),
        fixture.user(company),
        fixture.user(other),
    ];
    for user in &users {
        fixture.directory().add_user(user, None).await.unwrap();
    }
    let page = fixture.directory().users(company, FIRST_PAGE).await;
    let page = page.unwrap();
    // Created at the same time, so the greater id is the newer one.
    assert_eq!(page.items, [users[1].clone(), users[0].clone()]);
    assert_eq!(page.total, 2);
}
