//! Which part of a list to show.

use clap::Args;
use preauth_core::port::PageRequest;

/// Maximum number of records per page.
pub(super) const MAX_LIMIT: u32 = PageRequest::MAX_LIMIT;

/// One page, or all of them.
#[derive(Clone, Debug, Args)]
pub(crate) struct Paging {
    /// Which page to show, the newest first.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=i64::MAX.unsigned_abs()))]
    pub(super) page: u64,
    /// How many a page holds.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIMIT)))]
    pub(super) limit: u32,
    /// Show everything there is.
    #[arg(long, conflicts_with_all = ["page", "limit"])]
    pub(super) all: bool,
    /// Print a CSV file for a spreadsheet: in Portuguese (`--lang pt`) with `;` and decimal commas.
    #[arg(long, conflicts_with = "json")]
    pub(super) csv: bool,
}

impl Paging {
    /// The number of the first page, and the number of records per page.
    pub(super) const fn first(&self) -> (u64, u32) {
        if self.all {
            (1, MAX_LIMIT)
        } else {
            (self.page, self.limit)
        }
    }
}
