//! The hosts file of the operating system.

use std::io;
use std::net::IpAddr;
use std::path::Path;

/// Its path on Unix.
pub(super) const HOSTS_FILE: &str = "/etc/hosts";

/// All addresses of `name` in the file at `path`; none if there is no such file.
pub(super) fn addresses_in(path: &Path, name: &str) -> io::Result<Vec<IpAddr>> {
    match std::fs::read(path) {
        Ok(file) => Ok(addresses_of(name, &String::from_utf8_lossy(&file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Each line has an address and its names; `#` begins a comment (hosts(5)). Other lines, and
/// addresses with an interface, are skipped.
fn addresses_of(name: &str, file: &str) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for line in file.lines() {
        let line = line.split_once('#').map_or(line, |(line, _comment)| line);
        let mut words = line.split_ascii_whitespace();
        let address = words.next().and_then(|word| word.parse().ok());
        let Some(address) = address else { continue };
        if words.any(|word| word.eq_ignore_ascii_case(name)) && !found.contains(&address) {
            found.push(address);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::path::Path;

    use super::{addresses_in, addresses_of};

    const FILE: &str = "# The machine itself.\n127.0.0.1\tlocalhost\n::1 localhost ip6-localhost\n\
        10.0.0.7  hooks.example.com hooks # hidden.example.com\r\n10.0.0.8 HOOKS.example.com\n\
        10.0.0.7 hooks.example.com\n#10.0.0.9 hooks.example.com\n\
        fe80::1%eth0 link.example.com\nnonsense\n\n";

    fn addresses(name: &str) -> Vec<String> {
        let found = addresses_of(name, FILE);
        found.iter().map(IpAddr::to_string).collect()
    }

    #[test]
    fn a_name_has_the_addresses_of_all_its_lines() {
        assert_eq!(addresses("localhost"), ["127.0.0.1", "::1"]);
        assert_eq!(addresses("hooks.example.com"), ["10.0.0.7", "10.0.0.8"]);
        assert_eq!(addresses("hooks"), ["10.0.0.7"]);
    }

    #[test]
    fn comments_parts_of_names_and_addresses_are_no_names() {
        for name in [
            "hidden.example.com",
            "example.com",
            "10.0.0.7",
            "link.example.com",
            "",
        ] {
            assert!(addresses(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn a_missing_file_has_no_names() {
        let found = addresses_in(Path::new("/nowhere/hosts"), "localhost");
        assert!(found.unwrap().is_empty());
    }
}
