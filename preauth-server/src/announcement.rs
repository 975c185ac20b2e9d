//! Announces the address of a running server to the administration commands of the same machine.
//!
//! The server writes its platform address into its data folder, and locks folder and file until it ends.
//! The operating system releases the lock even when the process is killed, so the file of a dead
//! server is never taken for that of a running one.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use crate::files;

const FILE_NAME: &str = "platform-address";
/// Until it is complete.
const FRESH_NAME: &str = "platform-address.new";
const SCHEME: &str = "http://";

/// An address that stays announced until this is dropped or the process ends.
#[derive(Debug)]
#[must_use]
pub struct Announcement {
    /// The folder, which one server at a time has, and the file.
    _locked: [File; 2],
}

impl Announcement {
    /// Announces in the folder `data` that the platform API answers at `address`. Readers find it whole or not
    /// at all, and never the address of an earlier server: its file is replaced, not written over.
    ///
    /// # Errors
    /// When the file cannot be written, or another running server is announced there.
    pub fn publish(data: &Path, address: SocketAddr) -> io::Result<Self> {
        let folder = File::open(data)?;
        folder.try_lock()?;
        let fresh = data.join(FRESH_NAME);
        files::remove_if_there(&fresh)?;
        let mut file = files::create_private(&fresh)?;
        file.try_lock()?;
        file.write_all(url(address).as_bytes())?;
        std::fs::rename(&fresh, data.join(FILE_NAME))?;
        Ok(Self {
            _locked: [folder, file],
        })
    }

    /// The address of a running server announced in the folder `data`, if there is one.
    ///
    /// # Errors
    /// When the folder or its content is not trusted: others could have written it, or the address
    /// is on another machine.
    pub fn read(data: &Path) -> io::Result<Option<SocketAddr>> {
        match files::check_folder(data) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            checked => checked?,
        }
        let path = data.join(FILE_NAME);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {}
            Ok(()) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        files::check_secret(&file, &path)?;
        let text = files::read(&mut file)?;
        let address = text.strip_prefix(SCHEME).and_then(|it| it.parse().ok());
        let is_here = |address: &SocketAddr| address.ip().is_loopback();
        address.filter(is_here).map(Some).ok_or_else(|| {
            let text =
                "the server there does not answer at a loopback address; give --platform-url";
            io::Error::new(ErrorKind::InvalidData, text)
        })
    }
}

/// The URL by which this machine reaches a listener at `address`: the loopback address for a
/// listener on every address.
#[must_use]
pub fn url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    format!("{SCHEME}{}", SocketAddr::new(ip, address.port()))
}

#[cfg(test)]
mod tests {
    use super::{Announcement, File};
    use std::net::SocketAddr;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn announce(folder: &Path, address: &str) -> Announcement {
        Announcement::publish(folder, address.parse().unwrap()).unwrap()
    }

    #[test]
    fn an_address_is_announced_for_as_long_as_its_server_lives() {
        let folder = tempfile::tempdir().unwrap();
        let read = || Announcement::read(folder.path()).unwrap();
        assert_eq!(read(), None);
        let announced = announce(folder.path(), "127.0.0.1:9");
        let address: SocketAddr = "127.0.0.1:9".parse().unwrap();
        assert_eq!(read(), Some(address));
        let second = Announcement::publish(folder.path(), "127.0.0.1:8".parse().unwrap());
        assert!(second.is_err());
        drop(announced);
        assert_eq!(read(), None);
        assert!(
            Announcement::read(&folder.path().join("none"))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn the_file_of_an_earlier_server_is_replaced_even_while_a_command_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        drop(announce(folder.path(), "127.0.0.1:9"));
        let reader = File::open(folder.path().join(super::FILE_NAME)).unwrap();
        reader.lock_shared().unwrap();
        let _lives = announce(folder.path(), "127.0.0.1:8");
        let read = Announcement::read(folder.path()).unwrap();
        assert_eq!(read, Some("127.0.0.1:8".parse().unwrap()));
        let earlier = std::io::read_to_string(reader).unwrap();
        assert_eq!(
            earlier, "http://127.0.0.1:9",
            "half of another is never read"
        );
    }

    #[test]
    fn a_listener_on_every_address_is_reached_on_this_machine_and_a_far_one_is_not() {
        for (listens, announced) in [
            ("0.0.0.0:81", Some("127.0.0.1:81")),
            ("[::]:81", Some("[::1]:81")),
            ("192.0.2.7:81", None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let _lives = announce(folder.path(), listens);
            let read = Announcement::read(folder.path()).ok().flatten();
            assert_eq!(read, announced.map(|it| it.parse().unwrap()), "{listens}");
        }
    }

    #[test]
    fn a_file_or_folder_that_others_may_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let _lives = announce(folder.path(), "127.0.0.1:9");
        let file = folder.path().join(super::FILE_NAME);
        let open = |path: &Path, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        for (path, loose, strict) in [(folder.path(), 0o1777, 0o700), (&file, 0o622, 0o600)] {
            open(path, loose);
            assert!(Announcement::read(folder.path()).is_err(), "{path:?}");
            open(path, strict);
            assert!(Announcement::read(folder.path()).is_ok(), "{path:?}");
        }
    }
}
