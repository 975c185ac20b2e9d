//! Signing secrets whose rows somebody holds, while all are encrypted anew.

use preauth_server::directory::{KeptSecret, Replaced, ResealedSecret, SealedSecret};

use crate::store::fixture::Fixture;

use super::Holder;

/// A secret that a forgotten session holds stays as it is, and all others are encrypted anew.
#[tokio::test]
async fn a_held_secret_delays_the_encryption_of_no_other() {
    let fixture = Fixture::new().await;
    let mut endpoints = Vec::new();
    for _ in 0..3 {
        let payer = fixture.payer().await;
        endpoints.push(fixture.add_endpoint(payer).await.id);
    }
    let directory = fixture.directory();
    let in_force = async || {
        let page = directory.secrets_in_force(fixture.now, None, 10).await;
        page.unwrap()
    };
    let resealed = |kept: Vec<KeptSecret>| {
        let sealed = SealedSecret(vec![9]);
        let resealed = kept.into_iter().map(|kept| ResealedSecret {
            kept,
            sealed: sealed.clone(),
        });
        resealed.collect()
    };
    let sql = format!(
        "SELECT 1 FROM endpoint_secrets WHERE endpoint_id = '{}' FOR UPDATE",
        endpoints[1].as_uuid()
    );
    let holder = Holder::of(&fixture, &sql).await;
    let beside = directory.replace_secrets(resealed(in_force().await)).await;
    let expected = Replaced {
        replaced: 2,
        held: 1,
    };
    assert_eq!(beside.unwrap(), expected);
    holder.let_go().await;
    let old = in_force().await.into_iter();
    let old = old.filter(|kept| kept.sealed != SealedSecret(vec![9]));
    let old: Vec<_> = old.collect();
    assert_eq!(old.len(), 1);
    assert_eq!(old[0].id.endpoint, endpoints[1]);
    let again = directory.replace_secrets(resealed(old)).await.unwrap();
    assert_eq!((again.replaced, again.held), (1, 0));
}
