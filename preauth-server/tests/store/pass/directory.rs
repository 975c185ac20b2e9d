//! The records of companies and of the platform's staff.

use chrono::TimeDelta;
use preauth_core::access::OperatorRole;
use preauth_core::operation::{Command, Operation};
use preauth_core::value::{
    ApiKeyId, CompanyKind, CompanyName, Email, OperatorId, OperatorName, Reason, SuppressionId,
    UserId,
};
use preauth_server::access::{KeyFragment, KeyHash};
use preauth_server::audit_trail::auditing;
use preauth_server::directory::{
    ConsoleSession, DirectoryError, Operator, SessionHolder, Suspension, UserChange,
};

use super::{Office, PAGE, STEP, file, reply, request};
use crate::store::fixture::Fixture;
use crate::store::mails::command_done;

fn hash_of(fixture: &Fixture) -> KeyHash {
    let id = fixture.uuid().into_bytes();
    KeyHash([id, id].concat().try_into().unwrap())
}

/// A head office and its branch, and the invitation of the operation's supplier.
pub(super) async fn companies(fixture: &Fixture, operation: &Operation) {
    let (directory, now) = (fixture.directory(), fixture.now);
    let company = fixture.company(CompanyKind::Construction);
    let added = directory.add_company(&company, Some(&reply(fixture))).await;
    added.unwrap();
    let id = company.id;
    let again = directory.add_company(&company, None).await;
    assert!(matches!(again, Err(DirectoryError::Conflict)));
    let branch = fixture.add(fixture.branch_of(id)).await;
    let branches = directory.branches(id, PAGE).await.unwrap().items;
    assert_eq!(branches.first().unwrap().id, branch);
    let name = CompanyName::parse("Construtora").unwrap();
    let renamed = directory.rename_company(id, &name);
    auditing(request(fixture, format!("companies/{id}")), renamed)
        .await
        .unwrap();
    let suspension = Suspension {
        since: now,
        reason: Reason::parse("pedido da obra").unwrap(),
    };
    directory.suspend_company(id, &suspension).await.unwrap();
    directory.resume_company(id).await.unwrap();
    let (payer, supplier) = (operation.payer.company, operation.supplier.company);
    let credit = directory.credit(payer).await.unwrap().unwrap();
    directory.set_credit(id, credit, now).await.unwrap();
    let cnpj = operation.supplier.cnpj;
    assert!(directory.company_by_cnpj(&cnpj).await.unwrap().is_some());
    directory.block_supplier(id, &cnpj, now).await.unwrap();
    assert_eq!(directory.blocked_suppliers(id).await.unwrap(), [cnpj]);
    directory.unblock_supplier(id, &cnpj).await.unwrap();
    assert_eq!(
        directory.invitations(supplier, PAGE).await.unwrap().total,
        1
    );
    let confirm = async || {
        directory
            .confirm_invitation(supplier, payer, &name, now)
            .await
    };
    confirm().await.unwrap();
    confirm().await.unwrap_err();
}

/// Users and keys of a head office.
pub(super) async fn staff(fixture: &Fixture, office: Office) {
    let (directory, now) = (fixture.directory(), fixture.now);
    let change = UserChange {
        active: Some(true),
        ..UserChange::default()
    };
    let updated = directory.update_user(office.user, &change);
    let record = format!("users/{}", office.user);
    auditing(request(fixture, record), updated).await.unwrap();
    let nobody = UserId::new(fixture.uuid());
    directory.update_user(nobody, &change).await.unwrap_err();
    assert!(directory.user(office.user).await.unwrap().is_some());
    assert!(directory.users(office.payer, PAGE).await.unwrap().total > 0);
    let (mut key, hash) = fixture.api_key(office.payer, office.user);
    "service_sk_ddcd".clone_into(&mut key.prefix);
    let added = directory
        .add_api_key(&key, &hash, Some(&reply(fixture)))
        .await;
    added.unwrap();
    let revoked = directory.revoke_api_key(key.id, now);
    let record = format!("api-keys/{}", key.id);
    auditing(request(fixture, record), revoked).await.unwrap();
    assert!(directory.api_key(office.key).await.unwrap().is_some());
    assert!(directory.api_keys(office.payer, PAGE).await.unwrap().total > 0);
    let fragment = KeyFragment::cut("service_sk_ddcd").unwrap();
    let found = directory.find_api_keys(&fragment, STEP).await.unwrap();
    assert!(!found.is_empty());
    let first = ApiKeyId::new(uuid::Uuid::nil());
    let hashes = fixture.stores.access.key_hashes(first, STEP).await;
    assert!(!hashes.unwrap().is_empty());
}

/// An operator, who opens a session of the console.
pub(super) async fn operators(fixture: &Fixture) {
    let (directory, now) = (fixture.directory(), fixture.now);
    let id = OperatorId::new(fixture.uuid());
    let operator = Operator {
        id,
        name: OperatorName::parse(&fixture.uuid().to_string()).unwrap(),
        role: OperatorRole::Viewer,
        created_at: now,
        created_by: OperatorName::root(),
        valid_until: None,
        revoked_at: None,
        last_used_at: None,
    };
    let token = hash_of(fixture);
    let added = directory
        .add_operator(&operator, &token, Some(&reply(fixture)))
        .await;
    added.unwrap();
    assert!(directory.operator(id).await.unwrap().is_some());
    assert!(directory.operators(PAGE).await.unwrap().total > 0);
    let found = directory.operator_of_token(token.beginning()).await;
    assert!(found.unwrap().is_some());
    let first = OperatorId::new(uuid::Uuid::nil());
    let hashes = directory.operator_hashes(first, STEP).await.unwrap();
    assert!(!hashes.is_empty());
    directory.note_operator_use(id, now).await.unwrap();
    let session = ConsoleSession {
        secret: hash_of(fixture),
        holder: SessionHolder::Named(id),
        created_at: now,
        expires_at: now,
    };
    directory.open_session(&session).await.unwrap();
    assert!(directory.session(session.secret).await.unwrap().is_some());
    directory.end_session(session.secret).await.unwrap();
    let lasting = ConsoleSession {
        secret: hash_of(fixture),
        expires_at: fixture.later(TimeDelta::days(1)),
        ..session
    };
    for session in [&session, &lasting] {
        directory.open_session(session).await.unwrap();
    }
    let forgotten = directory.forget_expired_sessions(now, STEP).await;
    assert!(forgotten.unwrap() > 0);
    let revoked = directory.revoke_operator(id, now);
    let record = format!("operators/{id}");
    auditing(request(fixture, record), revoked).await.unwrap();
}

/// The reader of the operation's mail wants no more of them, and then does.
pub(super) async fn suppressed(fixture: &Fixture, operation: &Operation) {
    let (directory, now) = (fixture.directory(), fixture.now);
    let id = SuppressionId::new(fixture.uuid());
    let addressee = directory.addressee(operation.id).await.unwrap().unwrap();
    for _ in 0..2 {
        let done = directory.suppress_addressee(id, operation.id, now).await;
        done.unwrap();
    }
    let again = directory.suppress_address(id, &addressee.address, operation.id, now);
    again.await.unwrap();
    assert!(directory.suppressed_address(id).await.unwrap().is_some());
    let found = directory
        .suppressed_addresses(Some(&addressee.address), PAGE)
        .await;
    assert_eq!(found.unwrap().total, 1);
    directory.remove_suppressed_address(id).await.unwrap();
    let id = SuppressionId::new(fixture.uuid());
    let other = Email::parse("nobody@example.com").unwrap();
    let kept = directory.suppress_address(id, &other, operation.id, now);
    kept.await.unwrap();
}

/// Erases a supplier with a user, a canceled offer, its mail and its file.
pub(super) async fn erase(fixture: &Fixture, other: &Operation) {
    let (directory, now) = (fixture.directory(), fixture.now);
    let mut offer = fixture.new_offer(other.payer.company);
    offer.file = Some(file(fixture));
    let operation = fixture.make(&offer).await;
    command_done(fixture, operation.id, &Command::Cancel).await;
    let company = directory.company(operation.supplier.company).await;
    let company = company.unwrap().unwrap();
    let user = fixture.user(company.id);
    directory.add_user(&user, None).await.unwrap();
    let found = directory.personal_data(&company).await.unwrap();
    assert_eq!((found.mails, found.files, found.users), (1, 1, 1));
    let found = directory.personal_records(&company).await.unwrap();
    assert_eq!(found.files.len(), 1);
    let later = fixture.later(TimeDelta::seconds(1));
    let begun = directory
        .begin_erasure(&company, &OperatorName::root(), later)
        .await;
    let mut erasure = begun.unwrap();
    while erasure.completed_at.is_none() {
        let step = directory.continue_erasure(&company, erasure.began_at, later);
        erasure = step.await.unwrap();
    }
    assert_eq!((erasure.mails, erasure.files, erasure.users), (1, 1, 1));
    let again = directory
        .continue_erasure(&company, erasure.began_at, now)
        .await;
    again.unwrap();
}
