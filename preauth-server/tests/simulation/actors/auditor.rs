//! The auditor: reads the database while others work, and pauses between two pages.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use preauth_core::audit::{self, Moment, Rule, Totals, Watch};
use preauth_core::port::{Archive, Page, Pages, Unavailable};
use preauth_server::clock::Clock;
use preauth_server::http::WireDecoder;

use crate::clock::sleep_ms;
use crate::history::{Chronicle, Fact};
use crate::random::{Random, SharedRandom};
use crate::store::Database;
use crate::world::Cluster;

/// Records per page: so few that others write between two pages.
const PAGE: u32 = 3;
const MAX_PAUSE_MS: u64 = 1_500;
/// Maximum pause between two audits.
const MAX_REST_MS: u64 = 8_000;
const AUDITS: u32 = 2;

/// Audits a few times during the run.
pub(super) async fn audits(cluster: &Arc<Cluster>, mut random: Random) {
    for _ in 0..AUDITS {
        sleep_ms(random.between(1, MAX_REST_MS)).await;
        audit(cluster, random.fork()).await;
    }
}

async fn audit(cluster: &Arc<Cluster>, random: Random) {
    let chronicle = &cluster.chronicle;
    let moment = Moment {
        now: cluster.clock.now(),
        // The clock jumps and instances are down, so late work is no violation here.
        is_live: false,
        daily_share: NonZeroU32::MAX,
        mails_kept: None,
    };
    let archive = Unhurried {
        database: Arc::clone(&cluster.database),
        random: SharedRandom::new(random),
    };
    let mut alarms = Alarms {
        chronicle: chronicle.clone(),
        is_clock_left_ahead: cluster.database.faults.mix().leftovers > 0,
    };
    chronicle.note(Fact::AuditBegun);
    let audited = audit::audit(&archive, &WireDecoder, moment, &mut alarms).await;
    match audited {
        Ok(_) => chronicle.note(Fact::AuditEnded),
        Err(error) => {
            let broken = format!("the auditor cannot read: {error}");
            chronicle.note(Fact::Broken(broken));
        }
    }
}

/// Reads all records in small pages, with pauses.
struct Unhurried {
    database: Arc<Database>,
    random: SharedRandom,
}

struct FewAtOnce {
    pages: Box<dyn Pages>,
    random: SharedRandom,
}

struct Alarms {
    chronicle: Chronicle,
    /// Leases may be left days ahead, until the janitor ends them. The checks at a run's end find those that
    /// it left.
    is_clock_left_ahead: bool,
}

#[async_trait]
impl Archive for Unhurried {
    async fn pages(&self) -> Result<Box<dyn Pages>, Unavailable> {
        Ok(Box::new(FewAtOnce {
            pages: self.database.pages().await?,
            random: self.random.clone(),
        }))
    }
}

#[async_trait]
impl Pages for FewAtOnce {
    async fn next(&mut self, _limit: u32) -> Result<Page, Unavailable> {
        sleep_ms(self.random.draw(|it| it.between(1, MAX_PAUSE_MS))).await;
        self.pages.next(PAGE).await
    }
}

impl Watch for Alarms {
    fn found(&mut self, violation: audit::Violation) {
        if !(self.is_clock_left_ahead && violation.rule == Rule::LeasesEnd) {
            self.chronicle.note(Fact::Alarmed(Box::new(violation)));
        }
    }

    fn progressed(&mut self, _totals: &Totals) {}
}
