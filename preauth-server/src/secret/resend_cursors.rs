//! Cursors of a resend in several requests: the place where the next one goes on, and when the first one began.
//!
//! Bound to the company and the filter, so that no request goes on with another one's place, and authenticated like the
//! [cursors of events](super::EventCursors): a moment that a caller may choose could resend what has just arrived.

use std::fmt;

use preauth_core::value::{DeliveryId, EnumSet, TextEnum, Timestamp};
use uuid::Uuid;

use super::derived_key::DerivedKey;
use super::{Vault, cursor};
use crate::directory::{ResendPlace, ResendRange};

const VERSION: u8 = 1;
const BODY_BYTES: usize = 1 + 8 + 16 + 8;

/// Writes cursors and recognizes them.
pub struct ResendCursors {
    keys: Vec<DerivedKey>,
    bound_to: Vec<u8>,
}

impl ResendCursors {
    /// The cursors of requests with the filter of `range`, whenever they began. `until` is the end that they name.
    #[must_use]
    pub fn of(vault: &Vault, range: &ResendRange, until: Option<Timestamp>) -> Self {
        let ResendRange {
            company,
            since,
            event_types,
            statuses,
            ..
        } = range;
        let until = until.map(Timestamp::unix_millis);
        let types = event_types.map(words);
        let since = since.unix_millis();
        let filter = format!("{since} {until:?} {types:?} {}", words(*statuses));
        let company = company.as_uuid().as_bytes();
        Self {
            keys: vault.cursor_keys(),
            bound_to: [b"resend", &company[..], filter.as_bytes()].concat(),
        }
    }

    /// The cursor after a place, for requests of which the first began at `began_at`.
    #[must_use]
    pub fn write(&self, place: ResendPlace, began_at: Timestamp) -> String {
        let body = [
            &[VERSION][..],
            &place.created_at.unix_millis().to_be_bytes(),
            place.delivery.as_uuid().as_bytes(),
            &began_at.unix_millis().to_be_bytes(),
        ];
        cursor::write(&self.keys, &body.concat(), &self.bound_to)
    }

    /// The place of a cursor that was written for this company and filter, and when the first request began.
    #[must_use]
    pub fn read(&self, text: &str) -> Option<(ResendPlace, Timestamp)> {
        let body: [u8; BODY_BYTES] = cursor::read(&self.keys, text, &self.bound_to)?;
        let (version, rest) = body.split_first()?;
        let (created_at, rest) = rest.split_first_chunk::<8>()?;
        let (delivery, began_at) = rest.split_first_chunk::<16>()?;
        let began_at: &[u8; 8] = began_at.try_into().ok()?;
        let place = ResendPlace {
            created_at: moment(*created_at)?,
            delivery: DeliveryId::new(Uuid::from_bytes(*delivery)),
        };
        (*version == VERSION).then_some((place, moment(*began_at)?))
    }
}

fn moment(bytes: [u8; 8]) -> Option<Timestamp> {
    Timestamp::from_unix_millis(i64::from_be_bytes(bytes))
}

fn words<T: TextEnum>(members: EnumSet<T>) -> String {
    members.iter().map(T::as_str).collect::<Vec<_>>().join(",")
}

impl fmt::Debug for ResendCursors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResendCursors").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use preauth_core::value::{CompanyId, EventType};

    use super::*;
    use crate::directory::EndedStatus;

    fn moment(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn range() -> ResendRange {
        ResendRange {
            company: CompanyId::new(Uuid::from_u128(1)),
            since: moment("2026-11-21T12:00:00Z"),
            until: moment("2026-11-22T12:00:00Z"),
            event_types: None,
            statuses: EnumSet::all(),
            began_at: moment("2026-11-23T12:00:00Z"),
        }
    }

    fn cursors(range: ResendRange, until: Option<Timestamp>) -> ResendCursors {
        ResendCursors::of(&Vault::new(&[1; 32]), &range, until)
    }

    #[test]
    fn a_cursor_is_read_for_its_company_and_filter_alone() {
        let until = Some(range().until);
        let place = ResendPlace {
            created_at: moment("2026-11-21T13:00:00.123Z"),
            delivery: DeliveryId::new(Uuid::from_u128(77)),
        };
        let text = cursors(range(), until).write(place, range().began_at);
        let read = |range, until| cursors(range, until).read(&text);
        assert_eq!(read(range(), until), Some((place, range().began_at)));
        let later = moment("2026-11-23T13:00:00Z");
        let began_later = ResendRange {
            began_at: later,
            ..range()
        };
        assert_eq!(read(began_later, until), Some((place, range().began_at)));
        let others = [
            ResendRange {
                company: CompanyId::new(Uuid::from_u128(2)),
                ..range()
            },
            ResendRange {
                since: later,
                ..range()
            },
            ResendRange {
                event_types: Some(EnumSet::all()),
                ..range()
            },
            ResendRange {
                event_types: Some([EventType::AnticipationPaid].into_iter().collect()),
                ..range()
            },
            ResendRange {
                statuses: [EndedStatus::Failed].into_iter().collect(),
                ..range()
            },
        ];
        for other in others {
            assert_eq!(read(other, until), None, "{other:?}");
        }
        for until in [None, Some(later)] {
            assert_eq!(read(range(), until), None, "{until:?}");
        }
        for length in 0..text.len() {
            assert_eq!(cursors(range(), until).read(&text[..length]), None);
        }
    }
}
