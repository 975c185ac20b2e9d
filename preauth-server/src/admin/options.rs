//! Options common to all administration commands, accepted at any position.

use clap::{Args, Subcommand};

use super::place::PlaceArgs;

/// A noun of the command line: its commands, and what they all take.
#[derive(Debug, Args)]
pub(crate) struct Noun<C: Subcommand> {
    #[command(subcommand)]
    pub(super) command: C,
    #[command(flatten)]
    pub(super) options: Options,
}

/// A command without a noun: what it takes, and what all take.
#[derive(Debug, Args)]
pub(crate) struct Single<C: Args> {
    #[command(flatten)]
    pub(super) arguments: C,
    #[command(flatten)]
    pub(super) options: Options,
}

/// How to ask, how to answer, and where the platform is.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Print the API's own JSON and nothing else.
    #[arg(long, global = true, display_order = 100)]
    pub(super) json: bool,
    /// Go on without asking.
    #[arg(long, global = true, display_order = 101)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) place: PlaceArgs,
}
