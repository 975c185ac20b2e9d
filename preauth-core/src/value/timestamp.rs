//! Moments in time.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

const MIN_MILLIS: i64 = -62_167_219_200_000;
const MAX_MILLIS: i64 = 253_402_300_799_999;

/// A moment in UTC, to the millisecond, in the years 0000 to 9999.
///
/// Contract: timestamps are ISO 8601 in UTC. They are written with three decimals and `Z`, always
/// 24 characters, so that the order of texts is the order of time.
///
/// ```
/// use preauth_core::value::Timestamp;
///
/// let moment = Timestamp::parse("2026-11-21T12:00:00Z")?;
/// assert_eq!(moment.to_string(), "2026-11-21T12:00:00.000Z");
/// # Ok::<(), preauth_core::value::TimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    unix_millis: i64,
}

/// Why a text is not a timestamp.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(not(feature = "_exhaustive"), non_exhaustive)]
pub enum TimestampError {
    /// Not of the form `YYYY-MM-DDTHH:MM:SS`, up to nine decimals, `Z`.
    #[error("the timestamp is not of the form YYYY-MM-DDTHH:MM:SS.sssZ")]
    Shape,
    /// The form is right, but the day or time does not exist; leap seconds are refused as well.
    #[error("the timestamp names a day or time that does not exist")]
    NoSuchMoment,
}

crate::explained::explained!(TimestampError);

impl Timestamp {
    /// The earliest moment: the start of the year 0000.
    pub const MIN: Self = Self {
        unix_millis: MIN_MILLIS,
    };

    /// The latest moment: the last millisecond of the year 9999.
    pub const MAX: Self = Self {
        unix_millis: MAX_MILLIS,
    };

    /// The moment this many milliseconds after 1970-01-01T00:00:00Z; `None` outside the years 0000 to
    /// 9999.
    #[must_use]
    pub const fn from_unix_millis(unix_millis: i64) -> Option<Self> {
        if unix_millis < MIN_MILLIS || unix_millis > MAX_MILLIS {
            None
        } else {
            Some(Self { unix_millis })
        }
    }

    /// The moment of a `chrono` value, truncated to the millisecond; [`MIN`](Self::MIN) or
    /// [`MAX`](Self::MAX) if it lies outside the years 0000 to 9999.
    #[must_use]
    pub fn from_datetime(datetime: DateTime<Utc>) -> Self {
        Self::clamped(datetime.timestamp_millis())
    }

    /// Reads an RFC 3339 timestamp in UTC: `T` and `Z` upper case, up to nine decimals, truncated after
    /// the third.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        if !has_utc_shape(text.as_bytes()) {
            return Err(TimestampError::Shape);
        }
        // chrono would accept second 60 in any minute and carry it into the next one.
        if text.get(17..19) == Some("60") {
            return Err(TimestampError::NoSuchMoment);
        }
        DateTime::parse_from_rfc3339(text)
            .map(|moment| Self::from_datetime(moment.to_utc()))
            .map_err(|_| TimestampError::NoSuchMoment)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn unix_millis(self) -> i64 {
        self.unix_millis
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    #[must_use]
    pub const fn unix_seconds(self) -> i64 {
        self.unix_millis.div_euclid(1000)
    }

    /// The same moment as a `chrono` value.
    #[must_use]
    pub fn to_datetime(self) -> DateTime<Utc> {
        // Every value from MIN to MAX has a `chrono` value, so the fallback is never taken.
        DateTime::from_timestamp_millis(self.unix_millis).unwrap_or(DateTime::UNIX_EPOCH)
    }

    /// The moment later by `delta`, in whole milliseconds; saturates at the years 0000 and 9999.
    #[must_use]
    pub fn saturating_add(self, delta: TimeDelta) -> Self {
        Self::clamped(self.unix_millis.saturating_add(delta.num_milliseconds()))
    }

    /// The moment earlier by `delta`, in whole milliseconds; saturates at the years 0000 and 9999.
    #[must_use]
    pub fn saturating_sub(self, delta: TimeDelta) -> Self {
        Self::clamped(self.unix_millis.saturating_sub(delta.num_milliseconds()))
    }

    /// The time since `earlier`; negative if `earlier` is later than this moment.
    #[must_use]
    pub fn since(self, earlier: Self) -> TimeDelta {
        TimeDelta::milliseconds(self.unix_millis.saturating_sub(earlier.unix_millis))
    }

    fn clamped(unix_millis: i64) -> Self {
        Self {
            unix_millis: unix_millis.clamp(MIN_MILLIS, MAX_MILLIS),
        }
    }
}

fn has_utc_shape(text: &[u8]) -> bool {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let Some((head, tail)) = text.split_at_checked(SHAPE.len()) else {
        return false;
    };
    let Some((b'Z', fraction)) = tail.split_last() else {
        return false;
    };
    let matches_shape = head.iter().zip(SHAPE).all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        mark => byte == mark,
    });
    matches_shape
        && match fraction.split_first() {
            None => true,
            Some((b'.', decimals)) => {
                (1..=9).contains(&decimals.len()) && decimals.iter().all(u8::is_ascii_digit)
            }
            Some(_) => false,
        }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(
            &self
                .to_datetime()
                .to_rfc3339_opts(SecondsFormat::Millis, true),
        )
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Timestamp({self})")
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}
