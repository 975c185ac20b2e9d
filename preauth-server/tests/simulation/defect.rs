//! Planted defects, which the simulation must find.

/// A defect of a store, or of the code above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Some commits omit a delivery.
    DeliveryLeftOut,
    /// A real database loses some deliveries of commits that it confirmed.
    DeliveryRowsLost,
    /// The answer is not stored under its idempotency key.
    ReplyNotStored,
    /// A lease never expires, even if its holder is dead.
    EndlessLease,
    /// An offer is committed without its mail.
    MailForgotten,
    /// An amount grows by a cent on its way to the store.
    AmountChanged,
    /// A cancellation is confirmed and not stored.
    CancelForgotten,
    /// A cancellation overwrites any concurrent commit.
    CancelOverwrites,
    /// An expiry overwrites any concurrent commit.
    ExpiryOverwrites,
    /// The duplicate rule is a read before the write, without a constraint.
    DuplicateUnconstrained,
    /// An event is sent before its commit is known to have succeeded.
    SentBeforeCommit,
    /// A replay shows the operation's present state.
    ReplayRenderedAnew,
    /// An outcome is recorded even if the lease belongs to another holder by now.
    FencingIgnored,
    /// A delivery is handed over by its commit, and others may claim it.
    HandedOverWithoutLease,
    /// A delivery is leased by its commit though the dispatcher of its instance has no room.
    HandedOverBeyondRoom,
    /// A dispatcher forgets that a commit found no room for a delivery, and later ones pass it.
    WaitingPassed,
    /// A commit hands over a delivery to a paused endpoint.
    HandedOverWhilePaused,
    /// The lease of a delivery that its commit hands over never ends, even if nobody has it.
    HandoverLostForGood,
    /// Deliveries of a paused endpoint are claimed.
    PauseIgnored,
    /// A delivery counts as delivered as soon as it is claimed.
    MarkedBeforeSent,
    /// A change of a payment order overwrites any concurrent commit.
    OrderOverwrites,
    /// A new secret is shown to the endpoint's owner but not stored.
    RotationForgotten,
    /// A commit that waits for a lock makes all others wait.
    LockStopsAll,
    /// A claim that meets a locked delivery makes all other claims wait.
    HeldDeliveryStopsAll,
    /// The outcome of an attempt whose delivery is locked makes all others wait.
    HeldOutcomeStopsAll,
    /// A write of the platform that waits for a locked row makes all others wait.
    HeldRecordStopsAll,
    /// The body of an event shows the operation's state before the change.
    StaleBody,
    /// Claiming fails while an event of an unknown type is due.
    UnknownTypeStopsAll,
    /// A page of the archive shows operations as of the start of the reading.
    PageOfTwoMoments,
    /// Leases and due times set while a clock was ahead stay until then.
    TimesLeftAhead,
    /// An instance uses its machine's clock even if it is wrong.
    OwnClock,
    /// A retry after an unknown outcome takes a new id.
    IdTakenAnew,
    /// A commit whose answer was lost counts as not done.
    UnknownCalledNotDone,
    /// The stored answer differs from the one that was sent.
    ReplyOfAnotherState,
    /// The answer of a create by the platform is not stored under its key.
    PlatformReplyNotStored,
    /// A test event, a company or a key is created although its idempotency key was answered since it was
    /// looked up.
    RetryForgetsKey,
    /// The limit of one payment order per operation is a read before the write, without a
    /// constraint.
    OrderUnconstrained,
    /// After a promotion an instance keeps using the old primary.
    OldPrimaryWritten,
    /// A cursor orders events by when they were made, and passes those that are committed later.
    CursorPassesUncommitted,
    /// A mail counts as sent, and the mail server never got it.
    MailNeverHandedOver,
    /// A mail is leased by nobody while it is sent.
    MailSentWithoutLease,
    /// The lease of a mail never ends, even if its holder is dead.
    EndlessMailLease,
    /// A mail that was leased before is sent although its offer is closed.
    ClosedOfferMailed,
    /// Mails are claimed as if nobody had limited them.
    MailLimitsIgnored,
    /// A real database loses some mails of commits that it confirmed.
    MailRowsLost,
    /// After a promotion the sequences continue at the standby's last known value.
    IdsGivenTwice,
}
