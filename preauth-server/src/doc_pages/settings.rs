//! `configuration.md`: every setting, with its default.

use crate::config::SETTINGS;

use super::{check, code, table};

#[test]
fn the_page_of_the_configuration_lists_every_setting() {
    let rows = SETTINGS.iter().map(|setting| {
        [
            code(setting.key),
            code(setting.default),
            setting.purpose.to_owned(),
            if setting.is_read_again { "yes" } else { "" }.to_owned(),
        ]
    });
    let head = ["setting", "default", "what it is", "read again"];
    check("configuration.md", "settings", &table(head, rows));
}
