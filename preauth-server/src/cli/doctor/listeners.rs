//! The configured listeners: free, or the running server's.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use crate::announcement::Announcement;
use crate::config::Config;

use super::report::Report;

const LISTENERS: &str = "listeners";

pub(super) fn examine(config: &Config, report: &mut Report) {
    let is_running = matches!(Announcement::read(&config.data), Ok(Some(_)));
    let portal = config.portal.as_ref().map(|portal| portal.listen);
    let listeners = [
        ("listen", Some(config.listen)),
        ("platform_listen", Some(config.platform_listen)),
        ("portal.listen", portal),
    ];
    for (key, address) in listeners {
        if let Some(address) = address {
            listener(key, address, is_running, report);
        }
    }
}

fn listener(key: &str, address: SocketAddr, is_running: bool, report: &mut Report) {
    // A free address is bound for a moment.
    let found = match TcpListener::bind(address) {
        Ok(_) => {
            report.ok(LISTENERS, &format!("{key} {address} is free"));
            return;
        }
        Err(error) if error.kind() == ErrorKind::AddrInUse && is_running => {
            let found =
                format!("{key} {address} is in use while the server of this data folder runs");
            report.ok(LISTENERS, &found);
            return;
        }
        Err(error) => format!("{key} {address} cannot be bound: {error}"),
    };
    let next = format!("stop the program that listens there, or choose another address for {key}");
    report.failed(LISTENERS, &found, Some(&next));
}
