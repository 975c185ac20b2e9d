//! Links that lead back to a page of the console, and nowhere else.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::PREFIX;

/// The path of the form for signing in.
pub(super) const SIGN_IN: &str = "/console/sign-in";

/// Its parameter for somebody who sent another form without a session.
pub(super) const UNSENT: &str = "unsent";

/// The path of the form, which leads back to a page.
pub(super) fn path_from(page: &str) -> String {
    let next = utf8_percent_encode(within_console(page), NON_ALPHANUMERIC);
    format!("{SIGN_IN}?next={next}")
}

/// The path, if it is one of the console, so that no link leads elsewhere; otherwise the first page.
pub(super) fn within_console(path: &str) -> &str {
    let is_plain =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>');
    let rest = path.strip_prefix(PREFIX);
    let is_console = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
    if is_console && path.bytes().all(is_plain) && !climbs(path) {
        path
    } else {
        PREFIX
    }
}

/// Whether a browser would leave a folder on its way along the path.
fn climbs(path: &str) -> bool {
    let (path, _) = path.split_once(['?', '#']).unwrap_or((path, ""));
    let decoded = path.to_ascii_lowercase().replace("%2e", ".");
    decoded.split('/').any(|part| matches!(part, "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::within_console;

    #[test]
    fn no_link_leads_out_of_the_console() {
        for inside in [
            "/console",
            "/console/operations/12",
            "/console?page=2",
            "/console/mails?address=a/../b",
            "/console/companies/..a",
        ] {
            assert_eq!(within_console(inside), inside);
        }
        for outside in [
            "",
            "/",
            "//evil.example",
            "/consolex",
            "https://evil.example/console",
            "/console\\evil",
            "/console/../api/platform/v1/companies",
            "/console/..",
            "/console/a/.%2E/../../readyz",
            "/console/./%2e%2e/metrics",
            "/console/..#x",
            "/console/\r\nset-cookie: x",
        ] {
            assert_eq!(within_console(outside), "/console", "{outside:?}");
        }
    }
}
