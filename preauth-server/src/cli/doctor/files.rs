//! The bucket of the invoice files: whether an object can be written, read and removed.

use std::time::Duration;

use tokio::time::timeout;

use crate::config::Config;
use crate::ids::random_bytes;
use crate::invoice_files::{Place, is_s3};
use crate::log::chain;

use super::report::Report;

const STORE: &str = "object store";
const TIMEOUT: Duration = Duration::from_secs(10);
const NEXT: &str = "correct files.place, AWS_ENDPOINT, AWS_REGION and the credentials, and permit to put, get \
                    and delete objects below it";

/// A folder is looked at with the disks.
pub(super) async fn examine(config: &Config, report: &mut Report) {
    let place = &config.files_place;
    if !is_s3(place) {
        return;
    }
    let store = match Place::open(place) {
        Ok(store) => store,
        Err(error) => {
            report.failed(STORE, &chain(&error), Some(NEXT));
            return;
        }
    };
    let name = format!("preauth-doctor-{:016x}", u64::from_be_bytes(random_bytes()));
    match timeout(TIMEOUT, store.probe(&name)).await {
        Ok(Ok(())) => {
            let found = format!("an object at {place} was written, read and removed");
            report.ok(STORE, &found);
        }
        Ok(Err(error)) => {
            let found = format!("{place}: {}", chain(&error));
            report.failed(STORE, &found, Some(NEXT));
        }
        Err(_) => {
            let found = format!(
                "{place} does not answer within {} s; {name} may be left there",
                TIMEOUT.as_secs()
            );
            report.failed(STORE, &found, Some(NEXT));
        }
    }
}
