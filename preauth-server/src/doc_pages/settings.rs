//! `configuration.md`, in both languages: every setting, with its default.

use crate::config::{SETTINGS, Setting};

use super::{Translation, check, code, table};

#[test]
fn the_page_of_the_configuration_lists_every_setting() {
    let head = ["setting", "default", "what it is", "read again"];
    let purpose = |setting: &Setting| setting.purpose.to_owned();
    check("configuration.md", "settings", &list(head, "yes", purpose));

    let page = "configuration.pt.md";
    let head = ["parâmetro", "padrão", "o que é", "relido"];
    let translation = Translation::of(page);
    let purpose = |setting: &Setting| translation.cell(&code(setting.key), 2);
    check(page, "settings", &list(head, "sim", purpose));
}

fn list(head: [&str; 4], yes: &str, purpose: impl Fn(&Setting) -> String) -> String {
    let rows = SETTINGS.iter().map(|setting| {
        [
            code(setting.key),
            code(setting.default),
            purpose(setting),
            if setting.is_read_again { yes } else { "" }.to_owned(),
        ]
    });
    table(head, rows)
}
