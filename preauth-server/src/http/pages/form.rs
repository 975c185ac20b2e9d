//! The fields of a form that a browser sends.

use percent_encoding::percent_decode;
use preauth_core::ErrorCode;
use salvo::http::Request;

use crate::http::body;
use crate::http::error::ApiError;

const MEDIA_TYPE: &str = "application/x-www-form-urlencoded";
/// Maximum number of fields.
const MAX_FIELDS: usize = 200;

/// The fields of a form, in the order sent.
#[derive(Debug, Default)]
pub(in crate::http) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads the body of a request within the limits of a JSON body.
    pub(in crate::http) async fn read(req: &mut Request) -> Result<Self, ApiError> {
        let media_type = body::content_type(req);
        let essence = media_type.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case(MEDIA_TYPE) {
            return Err(ApiError::new(ErrorCode::BadRequest));
        }
        let bytes = body::read(req).await?;
        Self::parse(&bytes).ok_or(ApiError::new(ErrorCode::BadRequest))
    }

    /// Splits and decodes; `None` when it is not UTF-8 or has too many fields.
    pub(in crate::http) fn parse(bytes: &[u8]) -> Option<Self> {
        let pairs = bytes.split(|byte| *byte == b'&');
        let pairs: Vec<_> = pairs.filter(|pair| !pair.is_empty()).collect();
        if pairs.len() > MAX_FIELDS {
            return None;
        }
        let fields = pairs.into_iter().map(|pair| {
            let mut parts = pair.splitn(2, |byte| *byte == b'=');
            let name = decode(parts.next().unwrap_or_default())?;
            Some((name, decode(parts.next().unwrap_or_default())?))
        });
        fields.collect::<Option<_>>().map(Self)
    }

    /// A field, without spaces around it; `None` when it is absent, empty or sent twice.
    pub(in crate::http) fn one(&self, name: &str) -> Option<&str> {
        let mut values = self.all(name);
        let value = values.next()?;
        values.next().is_none().then_some(value)
    }

    /// Every value of a field that is not empty.
    pub(in crate::http) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.0.iter().filter(move |(each, _)| each == name);
        values
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }
}

fn decode(bytes: &[u8]) -> Option<String> {
    let spaced: Vec<_> = bytes
        .iter()
        .map(|byte| if *byte == b'+' { b' ' } else { *byte })
        .collect();
    let decoded = percent_decode(&spaced).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Form, MAX_FIELDS};

    #[test]
    fn fields_are_decoded() {
        let form = Form::parse(b"a=1+%C3%A7&b=&c=%20x%20&d=1&d=2&e").unwrap();
        assert_eq!(form.one("a"), Some("1 \u{e7}"));
        assert_eq!(form.one("b"), None);
        assert_eq!(form.one("c"), Some("x"));
        assert_eq!(form.one("d"), None);
        assert_eq!(form.all("d").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(form.one("e"), None);
    }

    #[test]
    fn what_is_no_form_is_refused() {
        assert!(Form::parse(b"a=%FF").is_none());
        assert!(Form::parse("a=1&".repeat(MAX_FIELDS + 1).as_bytes()).is_none());
        assert!(Form::parse("a=1&".repeat(MAX_FIELDS).as_bytes()).is_some());
    }
}
