//! Commands in hand-written pages and in examples: the program has them, with these options.

use std::path::{Path, PathBuf};

use clap::Command;

const PROGRAM: &str = "preauth-server";
/// The function of operators' pages that runs the program as its user.
const AS_ITS_USER: &str = "preauth";
/// Where a shell's next command begins.
const SEPARATORS: [&str; 8] = ["|", "&", ";", "(", "{", "do", "then", "!"];
/// What runs the command that follows it.
const RUNNERS: [&str; 4] = ["--", "exec", "sudo", "$"];
/// Where its arguments end.
const ENDS: [&str; 8] = ["|", "&", ";", "(", ")", "}", "#", "\\"];

/// A command as a page shows it, and where.
struct Shown {
    place: String,
    /// What follows the program's name.
    words: Vec<String>,
}

/// Pages for people, without those that GitHub alone shows.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut pages: Vec<_> = ["README.md", "README.pt-BR.md", "SECURITY.md"]
        .map(|page| root.join(page))
        .into();
    for folder in ["docs", "docs/recipes", "docs/guides"] {
        let entries = std::fs::read_dir(root.join(folder)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    pages
}

/// The words of a line as a shell splits them, separators apart.
#[expect(
    clippy::match_same_arms,
    reason = "within quotes every letter is one of the word"
)]
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut is_begun = false;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.push(letter),
            (None, '"' | '\'') => {
                quote = Some(letter);
                is_begun = true;
            }
            (None, ' ' | '\t' | '|' | ';' | '&' | '(' | ')' | '<' | '>') => {
                if is_begun || !word.is_empty() {
                    // `$(` begins a command, and `2>file` and `>file` end one.
                    words.push(std::mem::take(&mut word));
                }
                is_begun = false;
                match letter {
                    '|' | ';' | '&' | '(' | ')' => words.push(letter.to_string()),
                    '<' | '>' => words.push("#".to_owned()),
                    _ => {}
                }
            }
            (None, _) => word.push(letter),
        }
    }
    if is_begun || !word.is_empty() {
        words.push(word);
    }
    words
}

/// The commands of a line: what follows the program's name where a command stands.
fn commands(line: &str, names: &[&str]) -> Vec<Vec<String>> {
    let words = words(line);
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|it| words.get(it));
        let begins = before.is_none_or(|before| {
            SEPARATORS.contains(&before.as_str())
                || RUNNERS.contains(&before.as_str())
                // A variable of the environment.
                || before.split_once('=').is_some_and(|(name, _)| name.starts_with("PREAUTH_"))
        });
        let name = word.rsplit('/').next().unwrap_or_default();
        if !begins || !names.contains(&name) {
            continue;
        }
        let rest = words.iter().skip(at.saturating_add(1));
        let arguments = rest.take_while(|word| !ENDS.contains(&word.as_str()));
        found.push(arguments.cloned().collect());
    }
    found
}

/// All commands of a page: in its blocks of programs, and in code within sentences.
fn shown_in(page: &Path) -> Vec<Shown> {
    let text = std::fs::read_to_string(page).unwrap();
    let place = page.file_name().unwrap().to_string_lossy().into_owned();
    let is_defined = text.contains("preauth() {");
    let names: &[&str] = if is_defined {
        &[PROGRAM, AS_ITS_USER]
    } else {
        &[PROGRAM]
    };
    let mut shown = Vec::new();
    let mut add = |line: &str| {
        let place = format!("{place}: {line}");
        let found = commands(line, names).into_iter();
        shown.extend(found.map(|words| Shown {
            place: place.clone(),
            words,
        }));
    };
    let mut block: Option<bool> = None;
    let joined = text.replace("\\\n", " ");
    for line in joined.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = match block {
                None => Some(matches!(language, "" | "sh" | "bash" | "console" | "ini")),
                Some(_) => None,
            };
        } else if block == Some(true) {
            add(line.trim());
        } else if block.is_none() {
            let code = line.split('`').skip(1).step_by(2);
            code.filter(|it| it.starts_with(PROGRAM)).for_each(&mut add);
        }
    }
    shown
}

/// What is wrong with a command, if anything is.
fn fault(program: &Command, words: &[String]) -> Option<String> {
    let mut command = program;
    for word in words {
        if let Some(option) = word.strip_prefix("--") {
            let name = option.split('=').next().unwrap_or_default();
            let mut own = command.get_arguments();
            let is_known = own.any(|argument| argument.get_long() == Some(name));
            if !is_known && !name.is_empty() && name != "help" {
                return Some(format!("{} has no --{name}", command.get_name()));
            }
        } else if command.has_subcommands() {
            // `company …` stands for any, and `--config FILE` may come before.
            let is_open =
                word.starts_with(['…', '.', '$', '<']) || word.starts_with(char::is_uppercase);
            match command.find_subcommand(word) {
                Some(found) => command = found,
                None if is_open || command.get_positionals().next().is_some() => return None,
                None => return Some(format!("{} has no {word}", command.get_name())),
            }
        }
    }
    None
}

#[test]
fn every_command_in_a_page_is_one_of_the_program() {
    let mut program = crate::cli::command();
    // Building adds the global arguments to each command.
    program.build();
    let shown: Vec<_> = pages().iter().flat_map(|page| shown_in(page)).collect();
    assert!(shown.len() > 250, "only {} commands found", shown.len());
    let faults: Vec<_> = shown
        .iter()
        .filter_map(|it| Some(format!("{}: {}", it.place, fault(&program, &it.words)?)))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Examples are whole: nothing stands for something else in them.
#[test]
fn every_example_of_the_command_line_is_parsed() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/command-line.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (_, generated) = text.split_once("<!-- generated: commands -->").unwrap();
    let blocks = generated.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("\n```").next().unwrap_or_default().lines());
    let examples: Vec<_> = lines.flat_map(|line| commands(line, &[PROGRAM])).collect();
    assert!(examples.len() > 80, "only {} examples", examples.len());
    for words in examples {
        let line = words.join(" ");
        let words = std::iter::once(PROGRAM.to_owned()).chain(words);
        let parsed = crate::cli::command().try_get_matches_from(words);
        if let Err(error) = parsed {
            panic!("{line}: {error}");
        }
    }
}

#[test]
fn commands_are_found_where_a_shell_begins_one() {
    for (line, expected) in [
        ("preauth-server audit", &["audit"][..]),
        ("$ preauth-server sandbox    # or another", &["sandbox"]),
        (
            "KEY=$(preauth-server key list 'a b' | tail -1)",
            &["key list a b"],
        ),
        (
            "runuser -u preauth -- /tmp/preauth-server migrate",
            &["migrate"],
        ),
        (
            "PREAUTH_DATA=x preauth-server serve >log 2>&1 &",
            &["serve"],
        ),
        (
            "preauth company list || preauth doctor",
            &["company list", "doctor"],
        ),
        (
            "preauth() { runuser -u preauth -- preauth-server \"$@\"; }",
            &["", "$@"],
        ),
        ("systemctl stop preauth-server", &[]),
        ("cargo run -p preauth-server -- sandbox", &[]),
        ("createdb --owner preauth preauth", &[]),
    ] {
        let found: Vec<_> = commands(line, &[PROGRAM, AS_ITS_USER])
            .iter()
            .map(|it| it.join(" "))
            .collect();
        assert_eq!(found, expected, "{line}");
    }
}

#[test]
fn a_command_that_is_not_there_is_noticed() {
    let mut program = crate::cli::command();
    program.build();
    for (line, is_right) in [
        ("company list --all --csv", true),
        ("--version", true),
        ("backup verify FOLDER --scratch URL", true),
        ("backup FOLDER", true),
        ("company …", true),
        ("company lst", false),
        ("company list --evrything", false),
        ("companies", false),
    ] {
        assert_eq!(fault(&program, &words(line)).is_none(), is_right, "{line}");
    }
}
