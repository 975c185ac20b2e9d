//! Creates under a key of the platform over a host that fails.

use preauth_core::service::ServiceError;
use preauth_core::value::{Fingerprint, IdempotencyKey};

use crate::given::given;

#[tokio::test]
async fn a_refusal_is_no_answer_while_the_key_cannot_be_looked_up() {
    let given = given();
    let key = IdempotencyKey::parse("company-1").unwrap();
    let asked = Fingerprint::from_bytes([1; 32]);
    let key = given.service.platform_key(key, asked.into());
    for blind_reads in [1, 0] {
        let refused = async {
            given.faulty.blind(blind_reads);
            Err::<(), _>(ServiceError::UnknownCompany)
        };
        let answer = given.service.once(&key, given.now, refused).await;
        let is_unknown = matches!(answer, Err(ServiceError::Unknown(_)));
        assert_eq!(is_unknown, blind_reads > 0, "{answer:?}");
    }
}
