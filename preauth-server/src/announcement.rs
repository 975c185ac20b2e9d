//! Where a running server answers, told to the administration commands of the same machine.
//!
//! The server writes its platform address into its data folder and holds a lock on that file for as
//! long as it lives. The operating system lets go of the lock even when the process is killed, so
//! what a dead server left is never taken for a running one.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const FILE_NAME: &str = "platform-address";
const OWNER_ONLY: u32 = 0o600;
/// No address is longer; a file that is was not written by a server.
const MAX_BYTES: u64 = 256;

/// An address that stays announced until this is dropped or the process ends.
#[derive(Debug)]
#[must_use]
pub struct Announcement {
    _locked: File,
}

impl Announcement {
    /// Says in the folder `data` that the platform API answers at `address`.
    ///
    /// # Errors
    /// When the file cannot be written, or another running server announces itself there.
    pub fn publish(data: &Path, address: SocketAddr) -> io::Result<Self> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(OWNER_ONLY)
            .open(data.join(FILE_NAME))?;
        file.try_lock()?;
        file.set_len(0)?;
        file.write_all(url(address).as_bytes())?;
        Ok(Self { _locked: file })
    }

    /// The address that a running server announces in the folder `data`, if one does.
    #[must_use]
    pub fn read(data: &Path) -> Option<String> {
        let file = File::open(data.join(FILE_NAME)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            Ok(()) | Err(TryLockError::Error(_)) => return None,
        }
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        Some(text)
    }
}

/// The URL by which this machine reaches a listener at `address`: one on every address is reached on
/// the loopback one.
#[must_use]
pub fn url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

#[cfg(test)]
mod tests {
    use super::Announcement;

    #[test]
    fn an_address_is_announced_for_as_long_as_its_server_lives() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Announcement::read(folder.path()), None);
        let announced =
            Announcement::publish(folder.path(), "127.0.0.1:9".parse().unwrap()).unwrap();
        let read = || Announcement::read(folder.path());
        assert_eq!(read().as_deref(), Some("http://127.0.0.1:9"));
        assert!(Announcement::publish(folder.path(), "127.0.0.1:8".parse().unwrap()).is_err());
        drop(announced);
        assert_eq!(read(), None);
    }

    #[test]
    fn a_listener_on_every_address_is_reached_on_this_machine() {
        for (listens, announced) in [
            ("0.0.0.0:81", "http://127.0.0.1:81"),
            ("[::]:81", "http://[::1]:81"),
            ("192.0.2.7:81", "http://192.0.2.7:81"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let _lives = Announcement::publish(folder.path(), listens.parse().unwrap()).unwrap();
            let read = Announcement::read(folder.path());
            assert_eq!(read.as_deref(), Some(announced), "{listens}");
        }
    }
}
