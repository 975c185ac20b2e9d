//! The cases, by subject. Each begins with companies of its own.

pub mod announcements;
pub mod changes;
pub mod clocks;
pub mod deliveries;
pub mod duplicates;
pub mod feeds;
pub mod four_eyes;
pub mod handovers;
pub mod histories;
pub mod invitations;
pub mod leases;
pub mod lists;
pub mod offers;
pub mod orders;
pub mod overdue;
pub mod paces;
pub mod parties;
pub mod pauses;
pub mod platform_keys;
pub mod races;
pub mod reopenings;
pub mod replies;
pub mod schedules;
