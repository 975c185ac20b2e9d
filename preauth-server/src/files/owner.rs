//! How root repeats a command as the user whose files it must not take over.

use std::path::Path;

use crate::printable::printable;

const ACCOUNTS: &str = "/etc/passwd";
/// Beside letters and digits; words of these alone need no quotes in a shell.
const PLAIN: &str = "_-./:=,@%+";

/// The line with which root runs this process's command as that user, if the user has an account.
pub(super) fn command_as(user: u32) -> Option<String> {
    let accounts = std::fs::read_to_string(ACCOUNTS).ok()?;
    let name = account_name(&accounts, user)?;
    Some(command_line(name, std::env::args()))
}

fn account_name(accounts: &str, user: u32) -> Option<&str> {
    let user = user.to_string();
    accounts.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == user).then_some(name)
    })
}

fn command_line(name: &str, arguments: impl Iterator<Item = String>) -> String {
    let mut line = format!("runuser -u {name} --");
    for (place, argument) in arguments.enumerate() {
        line.push(' ');
        let program = Path::new(&argument).file_name().filter(|_| place == 0);
        match program {
            Some(program) => line.push_str(&quoted(&program.to_string_lossy())),
            None => line.push_str(&quoted(&argument)),
        }
    }
    printable(&line)
}

fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || PLAIN.contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str =
        "root:x:0:0::/root:/bin/bash\npreauth:x:998:997::/var/lib/preauth:/bin/false\n";

    #[test]
    fn an_account_is_found_by_its_number() {
        assert_eq!(account_name(PASSWD, 998), Some("preauth"));
        assert_eq!(account_name(PASSWD, 997), None);
        assert_eq!(account_name("broken\n", 998), None);
    }

    #[test]
    fn the_line_can_be_pasted() {
        let words = [
            "/usr/bin/preauth-server",
            "company",
            "add",
            "--name",
            "D'Ávila S.A.",
        ];
        let line = command_line("preauth", words.into_iter().map(str::to_owned));
        let expected = r"runuser -u preauth -- preauth-server company add --name 'D'\''Ávila S.A.'";
        assert_eq!(line, expected);
    }
}
