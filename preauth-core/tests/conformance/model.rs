//! The host in memory and the model agree on whatever happens.

use preauth_core::conformance::{model_run, model_script};
use proptest::prelude::*;

use crate::host::MemoryHost;

#[tokio::test]
async fn long_lives_agree_with_the_model() {
    for seed in 0..60 {
        model_run(&MemoryHost::new(), &model_script(seed, 400)).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_script_agrees_with_the_model(script in prop::collection::vec(any::<u64>(), 0..120)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(model_run(&MemoryHost::new(), &script));
    }
}
