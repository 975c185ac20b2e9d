//! The public conformance suite and the model, each case on its own database.

use preauth_core::conformance::{model_run, model_script};

use crate::store::host::DatabaseHost;

preauth_core::conformance_suite! {
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    DatabaseHost::new().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_lives_agree_with_the_model() {
    for seed in 0..4 {
        model_run(&DatabaseHost::new().await, &model_script(seed, 120)).await;
    }
}
