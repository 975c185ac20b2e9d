//! Settings that are read again at SIGHUP, while the server runs.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::access::RateLimit;
use crate::config::{Config, Layers, SETTINGS};
use crate::dispatcher::{EndpointPolicy, EndpointValidator};
use crate::live::Live;
use crate::mail::MailLimits;
use crate::telemetry::LogSwitch;

/// What a running server can change.
pub(super) struct Changeable {
    log: LogSwitch,
    rate_limit: Live<RateLimit>,
    mail_limits: Live<MailLimits>,
    endpoint_validator: EndpointValidator,
}

impl Changeable {
    pub(super) fn new(
        log: LogSwitch,
        rate_limit: &Live<RateLimit>,
        mail_limits: &Live<MailLimits>,
        endpoint_validator: &EndpointValidator,
    ) -> Self {
        Self {
            log,
            rate_limit: rate_limit.clone(),
            mail_limits: mail_limits.clone(),
            endpoint_validator: endpoint_validator.clone(),
        }
    }
}

/// Reads the configuration again at each SIGHUP.
pub(super) struct Reload {
    signal: Signal,
    /// Reads the sources.
    read: Arc<dyn Fn() -> Layers + Send + Sync>,
    /// What is in force.
    layers: Layers,
}

impl Reload {
    /// From this call on, SIGHUP no longer ends the process. `layers` are in force, and `read` reads
    /// them again.
    pub(super) fn begin(
        layers: Layers,
        read: impl Fn() -> Layers + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Ok(Self {
            signal: signal(SignalKind::hangup())?,
            read: Arc::new(read),
            layers,
        })
    }

    /// Applies what changed, at each signal, for ever.
    pub(super) async fn run(mut self, changeable: Changeable) {
        while self.signal.recv().await.is_some() {
            let read = Arc::clone(&self.read);
            // Reading files blocks.
            let Ok(layers) = tokio::task::spawn_blocking(move || read()).await else {
                continue;
            };
            match Config::from_layers(&layers) {
                Ok(config) => self.apply(&layers, &config, &changeable),
                Err(error) => tracing::error!(
                    target: "config",
                    %error,
                    "the configuration was read again and is not usable, so that nothing changes; correct it and \
                     send SIGHUP again"
                ),
            }
        }
    }

    fn apply(&mut self, layers: &Layers, config: &Config, changeable: &Changeable) {
        let is_level_used = changeable.log.set(config.log_level);
        changeable.rate_limit.set(config.rate_limit);
        changeable.mail_limits.set(config.mail.limits);
        let networks = config.webhooks.allowed_networks.clone();
        changeable
            .endpoint_validator
            .replace_policy(EndpointPolicy::public_and(networks));
        for setting in &SETTINGS {
            if self.layers.value(setting).text == layers.value(setting).text {
                continue;
            }
            let [old, new] = [&self.layers, layers].map(|layers| layers.shown(setting));
            if setting.key == "log.level" && !is_level_used {
                tracing::warn!(
                    target: "config",
                    setting = setting.key,
                    old,
                    new,
                    "changed, but the variable RUST_LOG comes before it; restart without it to use the new value"
                );
            } else if setting.is_read_again {
                tracing::info!(target: "config", setting = setting.key, old, new, "changed");
            } else {
                tracing::warn!(
                    target: "config",
                    setting = setting.key,
                    old,
                    new,
                    "changed, but the new value is used after a restart only"
                );
            }
        }
        tracing::info!(target: "config", "read again");
        // What needs a restart is logged again at the next signal.
        self.layers = self.layers.with_live_values_of(layers);
    }
}
