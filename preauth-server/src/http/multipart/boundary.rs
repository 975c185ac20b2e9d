//! The separator of the parts.

use super::FormFlaw;

/// A boundary that RFC 2046 allows: 1 to 70 of its characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary(String);

impl Boundary {
    /// Reads it from a `Content-Type`. A repeated parameter is refused, because other readers could
    /// take the other value.
    pub fn of(content_type: &str) -> Result<Self, FormFlaw> {
        let named = content_type
            .split(';')
            .filter_map(|parameter| parameter.split_once('='))
            .filter(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"))
            .count();
        if named != 1 {
            return Err(FormFlaw::Boundary);
        }
        let boundary = multra::parse_boundary(content_type).map_err(|_| FormFlaw::Boundary)?;
        Ok(Self(boundary))
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Boundary;

    fn of(parameters: &str) -> Option<String> {
        let boundary = Boundary::of(&format!("multipart/form-data{parameters}"));
        boundary.ok().map(Boundary::into_text)
    }

    #[test]
    fn a_boundary_is_plain_or_quoted_and_has_70_characters_at_most() {
        assert_eq!(of("; boundary=a-b").as_deref(), Some("a-b"));
        assert_eq!(
            of(";charset=utf-8; Boundary=\"a b\"").as_deref(),
            Some("a b")
        );
        let long = "x".repeat(70);
        assert_eq!(
            of(&format!("; boundary={long}")).as_deref(),
            Some(long.as_str())
        );
        for refused in [
            "",
            ";",
            "; boundary",
            "; boundary=",
            "; boundary=\"\"",
            "; boundary=a\"b",
            "; boundary=\"a\u{e7}\"",
            "; boundary=a; boundary=b",
            &format!("; boundary={long}x"),
        ] {
            assert_eq!(of(refused), None, "{refused}");
        }
    }
}
