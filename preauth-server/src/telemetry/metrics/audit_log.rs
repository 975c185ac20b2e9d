//! Counts of the audit log's seals.

use prometheus::IntGauge;

use crate::directory::Sealing;

use super::family::Families;

/// The newest seal of the audit log, and whether its chain is the one that was known.
#[derive(Clone, Debug)]
pub struct AuditLogMetrics {
    newest: IntGauge,
    is_broken: IntGauge,
}

impl AuditLogMetrics {
    pub(super) fn new(families: &Families<'_>) -> Self {
        Self {
            newest: families.whole(
                "preauth_audit_log_newest_seal",
                "Number of the newest seal of the audit log; 0 before the first.",
            ),
            is_broken: families.whole(
                "preauth_audit_log_broken",
                "1 when the chain of seals was not the one that this process knew; nothing is sealed then.",
            ),
        }
    }

    /// Notes an attempt to seal.
    pub(crate) fn note(&self, outcome: &Sealing) {
        let newest = match outcome {
            Sealing::Nothing(newest) => *newest,
            Sealing::Sealed { seal, .. } => Some(*seal),
            Sealing::Broken { .. } => {
                self.is_broken.set(1);
                return;
            }
        };
        self.is_broken.set(0);
        self.newest.set(newest.map_or(0, |seal| seal.number));
    }
}
