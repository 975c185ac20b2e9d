//! A received answer, before it is interpreted.

use preauth_core::wire::from_json;
use serde::de::DeserializeOwned;

use crate::answer_head::AnswerHead;
use crate::{Error, ErrorKind};

/// An answer, read to its end or up to the size limit.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) head: AnswerHead,
    /// `None` when it exceeds the size limit.
    pub(crate) body: Option<Vec<u8>>,
}

impl Answer {
    /// The value of a success, with the bytes it was read from; everything else is an error.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<(AnswerHead, T, Vec<u8>), Error> {
        let Self { head, body } = self;
        if !head.status.is_success() {
            return Err(Error::refused(head, body));
        }
        // The login page of a proxy also has status 200, but the service has not seen the request.
        let is_foreign = head.is_foreign;
        let otherwise = |kind| {
            if is_foreign {
                ErrorKind::UnexpectedAnswer
            } else {
                kind
            }
        };
        let Some(body) = body else {
            return Err(Error::answered(otherwise(ErrorKind::AnswerTooLarge), head));
        };
        match from_json(&body) {
            Ok(value) => Ok((head, value, body)),
            Err(cause) => {
                let kind = otherwise(ErrorKind::UnreadableSuccess);
                let error = Error::answered(kind, head).with_raw(body);
                Err(error.caused_by(cause))
            }
        }
    }
}
