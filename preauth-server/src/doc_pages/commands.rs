//! `command-line.md`: every command with its arguments, from the help.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

use super::{check, code, table};

const PROGRAM: &str = "preauth-server";

#[test]
fn the_page_of_the_command_line_lists_every_command() {
    let mut program = crate::cli::command();
    // Building adds the global arguments to each command.
    program.build();
    let mut text = String::new();
    for command in named(&program) {
        section(&mut text, PROGRAM, command, 2);
    }
    let shared = named(&program).find(|command| command.get_name() == "company");
    let shared = shared.into_iter().flat_map(Command::get_arguments);
    let shared = arguments(shared.filter(|argument| argument.is_global_set()));
    check("command-line.md", "commands", &text);
    check("command-line.md", "shared options", &shared);
}

/// The subcommands, without `help`, which clap adds to each.
fn named(command: &Command) -> impl Iterator<Item = &Command> {
    let visible = command.get_subcommands().filter(|each| !each.is_hide_set());
    visible.filter(|each| each.get_name() != "help")
}

fn section(text: &mut String, parent: &str, command: &Command, level: usize) {
    let name = format!("{parent} {}", command.get_name());
    let title = name.trim_start_matches(PROGRAM).trim();
    let about = command.get_long_about().or(command.get_about()).unwrap();
    writeln!(text, "{} {title}\n\n{about}\n", "#".repeat(level)).unwrap();
    // Some do something of their own beside their subcommands.
    if !command.has_subcommands() || own(command).next().is_some() {
        usage(text, command);
    }
    for each in named(command) {
        section(text, &name, each, level.saturating_add(1));
    }
}

fn own(command: &Command) -> impl Iterator<Item = &Arg> {
    let all = command.get_arguments();
    all.filter(|argument| !argument.is_global_set() && argument.get_id() != "help")
}

fn usage(text: &mut String, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    writeln!(text, "```text\n{usage}\n```\n").unwrap();
    text.push_str(&arguments(own(command)));
    if let Some(after) = command.get_after_help() {
        let after = after.to_string();
        let (heading, examples) = after.split_once(":\n").unwrap();
        let examples: Vec<_> = examples.lines().map(str::trim).collect();
        let examples = examples.join("\n");
        writeln!(text, "{heading}:\n\n```sh\n{examples}\n```\n").unwrap();
    }
}

fn arguments<'a>(all: impl Iterator<Item = &'a Arg>) -> String {
    let rows: Vec<_> = all.map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let head = ["argument", "default", "what it is"];
    format!("{}\n", table(head, rows.into_iter()))
}

fn row(argument: &Arg) -> [String; 3] {
    let values = argument.get_value_names().unwrap_or_default();
    let values: Vec<_> = values.iter().map(|name| format!("<{name}>")).collect();
    let takes_value = !matches!(
        argument.get_action(),
        ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Help | ArgAction::Version
    );
    let mut name = match argument.get_long() {
        Some(long) => format!("--{long}"),
        None => String::new(),
    };
    if takes_value && !values.is_empty() {
        name = format!("{name} {}", values.join(" ")).trim().to_owned();
    }
    let defaults = argument.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    let default = if takes_value {
        defaults.join(" ")
    } else {
        String::new()
    };
    let mut help = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let choices: Vec<_> = argument
        .get_possible_values()
        .iter()
        .filter(|_| takes_value && !argument.is_hide_possible_values_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !choices.is_empty() {
        write!(help, ": {}", choices.join(", ")).unwrap();
    }
    [code(&name), code(&default), help]
}
