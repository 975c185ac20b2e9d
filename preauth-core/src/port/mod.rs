//! The interfaces that a host must implement. Each port's documentation is its contract; the suite behind
//! feature `conformance` tests an implementation against it.

mod archive;
mod attempt_error;
mod body_decoder;
mod commit;
mod endpoint;
mod feed;
mod handover;
mod ids;
mod leased;
mod listing;
mod outbox;
mod queries;
mod render;
mod seal_mark;
mod store;

pub use archive::{
    Archive, DeliveryStatus, EndpointState, FileBytes, Holder, MailStatus, Miscount, NotifiedOffer,
    OfferWithoutMail, OtherEvent, Page, Pages, Read, Record, SentMail, StoredAttempt,
    StoredDelivery, StoredEndpoint, StoredEvent, StoredMail, StoredOperation, StoredOrder,
    StoredReply, StoredSeal, Subject, Unreadable, UnsealedRow,
};
pub use attempt_error::AttemptError;
pub use body_decoder::{
    BodyDecoder, DecodedData, DecodedEvent, DecodedOperation, DecodedOrder, DecodedReply,
};
pub use commit::{
    ActingOperator, Audited, Commit, EventRecord, ExtensionRecord, MailKind, NewDelivery, NewMail,
    NewReply, NewSupplier, ReplyScope, Write,
};
pub use endpoint::Subscription;
pub use feed::{EventFeed, FeedAnswer, FeedEntry, FeedEvent, FeedPage, FeedPlace, FeedQuery};
pub use handover::{Handover, Intake, Room};
pub use ids::IdSource;
pub use leased::{Leased, Trigger};
pub use listing::{ListEnd, ListedEvent, MissingNumbers, UnlistedEvent, VersionedRecord};
pub use outbox::{Attempt, Claim, Claimed, Outbox, Verdict};
pub use queries::{Filter, HistoryEntry, OperationPage, PageRequest, Queries, Recorded, Viewer};
pub use render::{InvoiceEvent, OperationEvent, OrderEvent, Render};
pub use seal_mark::{InvalidSealMark, SealMark};
pub use store::{
    CommitError, LoadedNewOrder, LoadedOffer, LoadedOperation, LoadedOrder, OfferTarget,
    OrderTarget, PlatformReply, Reply, Store, Unavailable,
};
