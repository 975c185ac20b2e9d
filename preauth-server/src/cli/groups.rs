//! The first page of help: commands in groups, by user.

use clap::Command;

/// The commands of each group, in the order of first use. A command that is missing here is shown
/// in the first group.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Server",
        &[
            "sandbox",
            "serve",
            "doctor",
            "migrate",
            "listen",
            "probe",
            "audit",
            "backup",
            "restore",
            "abandon-master-key",
            "adopt",
            "config",
            "openapi",
            "completions",
            "manual",
        ],
    ),
    (
        "Administration (of a running server)",
        &[
            "company",
            "user",
            "key",
            "credit",
            "supplier",
            "operation",
            "extension",
            "invoice",
            "payment-order",
            "endpoint",
            "delivery",
            "mail",
            "master-key",
            "operator",
            "personal-data",
            "overview",
            "report",
            "log",
        ],
    ),
];

/// Shows the commands in groups instead of one long list.
pub(super) fn arrange(command: Command) -> Command {
    let groups = render(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}\n\n\
         `preauth-server help COMMAND` shows more about each."
    ))
}

fn render(command: &Command) -> String {
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let mut text = String::new();
    for (index, (title, names)) in GROUPS.iter().enumerate() {
        text.push_str(title);
        text.push_str(":\n");
        let listed = names
            .iter()
            .filter_map(|name| command.find_subcommand(name));
        let rest = command
            .get_subcommands()
            .filter(|each| index == 0 && !is_grouped(each.get_name()) && !each.is_hide_set());
        for each in listed.chain(rest) {
            let about = each.get_about().map(ToString::to_string);
            let line = format!("  {:<20}{}\n", each.get_name(), about.unwrap_or_default());
            text.push_str(&line);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::GROUPS;
    use crate::cli::command;

    #[test]
    fn every_command_is_shown_once_and_every_name_is_a_command() {
        let mut command = command();
        let help = command.render_help().to_string();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
        // `help` is clap's own, and the last line mentions it.
        let own = command.get_subcommands();
        for each in own.filter(|each| each.get_name() != "help") {
            let start = format!("\n  {} ", each.get_name());
            assert_eq!(help.matches(&start).count(), 1, "{start:?} in {help}");
        }
    }
}
