//! Defects that are planted on purpose: what the simulation must be able to find.

/// One way in which a store, or the code above it, could be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Now and then a commit leaves out a delivery.
    DeliveryLeftOut,
    /// The answer is not remembered under its idempotency key.
    ReplyNotStored,
    /// A lease never ends, not even when its holder is dead.
    EndlessLease,
    /// A cancellation overwrites whatever was committed in between.
    CancelOverwrites,
    /// An expiry overwrites whatever was committed in between.
    ExpiryOverwrites,
    /// The duplicate rule is a look before the write, without a constraint.
    DuplicateUnconstrained,
    /// An event is sent before its commit is known to have succeeded.
    SentBeforeCommit,
    /// A replay shows the operation as it is now.
    ReplayRenderedAnew,
    /// An outcome is recorded whoever holds the lease by now.
    FencingIgnored,
    /// Deliveries of a paused endpoint are given out.
    PauseIgnored,
    /// A delivery counts as delivered from the moment it is given out.
    MarkedBeforeSent,
    /// A change of a payment order overwrites whatever was committed in between.
    OrderOverwrites,
    /// A new secret is shown to the endpoint's owner and not kept.
    RotationForgotten,
    /// A commit that waits for a lock makes all others wait.
    LockStopsAll,
    /// The body of an event shows the operation as it was before.
    StaleBody,
    /// A look at what is due fails as long as an event of an unknown type is among it.
    UnknownTypeStopsAll,
    /// A page of everything shows operations as they were when its reader began.
    PageOfTwoMoments,
    /// An instance goes by its machine's clock, whatever that reads.
    OwnClock,
    /// A try after one of unknown outcome takes an id of its own.
    IdTakenAnew,
    /// A commit whose answer was lost counts as not done.
    UnknownCalledNotDone,
    /// The remembered answer is not the one that was given.
    ReplyOfAnotherState,
    /// The answer of a create by the platform is not remembered under its key.
    PlatformReplyNotStored,
    /// That an operation has one payment order is a look before the write, without a constraint.
    OrderUnconstrained,
    /// After a promotion an instance goes on with the old primary.
    OldPrimaryWritten,
    /// After a promotion the sequences go on where the standby knows of them.
    IdsGivenTwice,
}
