//! Style sheets and scripts, embedded in the binary. A name contains a hash of the content, so that
//! browsers may keep a file for ever.

use salvo::http::StatusCode;
use sha2::{Digest, Sha256};

use crate::http::reply::Reply;

use super::headers::harmless;

/// Characters of the hash in a name.
const HASH_CHARACTERS: usize = 16;
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// A file that pages refer to.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Asset {
    stem: &'static str,
    extension: &'static str,
    media_type: &'static str,
    content: &'static str,
}

impl Asset {
    pub(in crate::http) const fn style(stem: &'static str, content: &'static str) -> Self {
        Self {
            stem,
            extension: "css",
            media_type: "text/css; charset=utf-8",
            content,
        }
    }

    pub(in crate::http) const fn script(stem: &'static str, content: &'static str) -> Self {
        Self {
            stem,
            extension: "js",
            media_type: "text/javascript; charset=utf-8",
            content,
        }
    }

    /// The last segment of its path.
    pub(in crate::http) fn name(&self) -> String {
        let hash = Sha256::digest(self.content);
        let hash: String = hex::encode(hash).chars().take(HASH_CHARACTERS).collect();
        format!("{}-{hash}.{}", self.stem, self.extension)
    }

    /// The file as an answer.
    pub(in crate::http) fn reply(&self) -> Reply {
        let reply = Reply::text(StatusCode::OK, self.media_type, self.content.to_owned());
        harmless(reply).header("cache-control", FOR_EVER)
    }
}

#[cfg(test)]
mod tests {
    use super::Asset;

    #[test]
    fn another_content_has_another_name() {
        let (one, other) = (Asset::style("a", "b{}"), Asset::style("a", "c{}"));
        assert_ne!(one.name(), other.name());
        assert_eq!(one.name().len(), "a-0123456789abcdef.css".len());
    }
}
