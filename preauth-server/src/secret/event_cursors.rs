//! Cursors of events on request.
//!
//! A cursor is a place in the order of a head office's events, bound to the company that reads and
//! authenticated under a key that is derived from the master key. So no database look-up tells a stranger's
//! text from ours, and nobody can name a place that was not given out. The active master key writes cursors;
//! those of every other configured key are valid, too.

use std::fmt;

use preauth_core::port::FeedPlace;
use preauth_core::value::{CompanyId, EventId};
use uuid::Uuid;

use super::derived_key::DerivedKey;
use super::{Vault, cursor};

const VERSION: u8 = 1;
const BODY_BYTES: usize = 1 + 8 + 16;

/// Writes cursors and recognizes them.
#[derive(Clone)]
pub struct EventCursors {
    /// That of the active master key first.
    keys: Vec<DerivedKey>,
}

impl EventCursors {
    /// Cursors under the keys of `vault`.
    #[must_use]
    pub fn new(vault: &Vault) -> Self {
        let keys = vault.cursor_keys();
        Self { keys }
    }

    /// The cursor of a company after a place.
    #[must_use]
    pub fn write(&self, company: CompanyId, place: FeedPlace) -> String {
        cursor::write(&self.keys, &body(place), company.as_uuid().as_bytes())
    }

    /// The place of a cursor that was written for this company. Whatever the text, every key is tried.
    #[must_use]
    pub fn read(&self, company: CompanyId, text: &str) -> Option<FeedPlace> {
        let body: [u8; BODY_BYTES] = cursor::read(&self.keys, text, company.as_uuid().as_bytes())?;
        let (version, rest) = body.split_first()?;
        let (number, event) = rest.split_first_chunk::<8>()?;
        let number = i64::from_be_bytes(*number);
        let event: [u8; 16] = event.try_into().ok()?;
        let place = FeedPlace {
            number,
            event: EventId::new(Uuid::from_bytes(event)),
        };
        (*version == VERSION).then_some(place)
    }
}

fn body(place: FeedPlace) -> [u8; BODY_BYTES] {
    let event = place.event.as_uuid().as_bytes();
    let bytes = [&[VERSION][..], &place.number.to_be_bytes(), event].concat();
    let mut body = [0; BODY_BYTES];
    for (target, byte) in body.iter_mut().zip(bytes) {
        *target = byte;
    }
    body
}

impl fmt::Debug for EventCursors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventCursors").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    fn company(n: u128) -> CompanyId {
        CompanyId::new(Uuid::from_u128(n))
    }

    fn place(number: i64) -> FeedPlace {
        FeedPlace {
            number,
            event: EventId::new(Uuid::from_u128(77)),
        }
    }

    #[test]
    fn a_cursor_is_read_by_its_company_alone_and_is_short() {
        let cursors = EventCursors::new(&Vault::new(&[1; 32]));
        for place in [FeedPlace::BEGINNING, place(1), place(i64::MAX)] {
            let cursor = cursors.write(company(1), place);
            assert_eq!(cursor.len(), 55);
            assert_eq!(cursors.read(company(1), &cursor), Some(place));
            assert_eq!(cursors.read(company(2), &cursor), None);
        }
    }

    #[test]
    fn every_bit_of_a_cursor_counts_and_so_does_its_length() {
        let cursors = EventCursors::new(&Vault::new(&[1; 32]));
        let cursor = cursors.write(company(1), place(7));
        let bytes = URL_SAFE_NO_PAD.decode(&cursor).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = URL_SAFE_NO_PAD.encode(changed);
            assert_eq!(cursors.read(company(1), &changed), None, "{bit}");
        }
        for length in 0..cursor.len() {
            assert_eq!(cursors.read(company(1), &cursor[..length]), None);
        }
        for text in [format!("{cursor}A"), format!("{cursor}="), "42".to_owned()] {
            assert_eq!(cursors.read(company(1), &text), None, "{text}");
        }
    }

    #[test]
    fn cursors_of_a_former_master_key_stay_valid_until_it_is_removed() {
        let (former, present) = ([1; 32], [2; 32]);
        let old = EventCursors::new(&Vault::new(&former)).write(company(1), place(5));
        let both = EventCursors::new(&Vault::new(&present).also_opening(&former));
        assert_eq!(both.read(company(1), &old), Some(place(5)));
        let removed = EventCursors::new(&Vault::new(&present));
        assert_eq!(removed.read(company(1), &old), None);
    }
}
