//! The declared type of a file.

use std::str::FromStr;

use thiserror::Error;

/// A declared type that an invoice file may have (contract, "Invoice file rules").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaType {
    /// `application/pdf`.
    Pdf,
    /// `application/xml`.
    ApplicationXml,
    /// `text/xml`.
    TextXml,
}

/// The declared type is neither PDF nor XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the declared type is neither pdf nor xml")]
pub struct OtherMediaType;

impl MediaType {
    /// The type without parameters, in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::ApplicationXml => "application/xml",
            Self::TextXml => "text/xml",
        }
    }
}

impl FromStr for MediaType {
    type Err = OtherMediaType;

    /// Parses a `Content-Type`; parameters and case are ignored.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let essence = text.split(';').next().unwrap_or_default().trim();
        [Self::Pdf, Self::ApplicationXml, Self::TextXml]
            .into_iter()
            .find(|known| known.as_str().eq_ignore_ascii_case(essence))
            .ok_or(OtherMediaType)
    }
}

#[cfg(test)]
mod tests {
    use super::{MediaType, OtherMediaType};

    #[test]
    fn parameters_and_case_make_no_difference() {
        for text in [
            "application/pdf",
            "Application/PDF; charset=binary; name=\"x\"",
            " application/pdf ;",
        ] {
            assert_eq!(text.parse(), Ok(MediaType::Pdf), "{text}");
        }
        assert_eq!("TEXT/XML".parse(), Ok(MediaType::TextXml));
    }

    #[test]
    fn media_types_other_than_pdf_and_xml_are_refused() {
        for text in [
            "",
            "application/octet-stream",
            "image/png",
            "application/pdfx",
            "application/xhtml+xml",
            "application/pdf, text/xml",
        ] {
            assert_eq!(text.parse::<MediaType>(), Err(OtherMediaType), "{text}");
        }
    }
}
