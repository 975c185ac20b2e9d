//! From a URL to a pool of connections on a database whose schema this build supports.

use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use preauth_core::operation::Operation;
use preauth_core::value::OperationId;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgSslMode};
use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;

use crate::fair::Budget;
use crate::store::error::{Fault, code};
use crate::store::exhausted::ExhaustedKeys;
use crate::store::set_aside::SetAside;
use crate::store::{DatabaseUrl, OpenError, PendingSteps, SchemaMismatch};

use super::access::KeyLookups;
use super::connections::{CONNECTIONS, Connections, MAX_WAITING};
use super::front::Fronts;
use super::held::HeldOffices;
use super::mails::{FINISH_LIMITS, MailFinisher};
use super::outbox::{self, Cursors, Finisher};
use super::primary::{self, Primary, Watcher};
use super::reads::{self, SharedRead};
use super::session::{self, LockedWrites};
use super::wake::Wake;
use super::warm_up::{KEPT, Keeper, warm_up};
use super::writer::{self, Aside, BulkWriter, Suspects, Writer};
use super::{PostgresStore, held, migrations, offers, operations, tls_files};
use crate::store::grouping::Grouped;

/// Timeout of the first connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Server-side timeouts, so that a statement of a lost instance does not block others. Also: no
/// sequential scans where an index exists. A session caches the plans of its statements and foreign
/// key checks; a plan made while the table held three rows would scan it until somebody analyses
/// it. And such a plan looks so costly that it would be JIT-compiled. No bitmaps: those of a small table cost as much as
/// reading its pages in a row, so that an index of whatever the row has looks better than its key. No merge joins, which go over
/// an index from its beginning until the one row that is joined. A statement keeps its first plan: one
/// for the values looks cheaper for most arrays, and in large tables, but planning takes longer than
/// execution.
const SESSION: [(&str, &str); 9] = [
    ("statement_timeout", "10s"),
    ("lock_timeout", "5s"),
    ("idle_in_transaction_session_timeout", "15s"),
    ("tcp_keepalives_idle", "30"),
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_mergejoin", "off"),
    ("jit", "off"),
    ("plan_cache_mode", "force_generic_plan"),
];

/// For cached plans that find rows by key: while a table is small, a join that reads all of it looks
/// cheaper, and would still be in use when the table has grown.
///
/// This is not enough where two tables are joined: the planner may begin with the small one and read
/// its index from end to end, in the order of the key. So statements join by
/// `id = ANY (ARRAY[other.id])`, of a key of several columns by the first one: that condition finds
/// a row by its key, and no order of an index serves it.
const BY_KEYS: [(&str, &str); 1] = [("enable_hashjoin", "off")];

/// For keys, offers, commits and results of deliveries, of each of which one group is under way: one connection that works, and
/// a broken one that is still being closed. A lone create needs the first three one after the other: one session does all of it,
/// and stays warm. Their statements find rows by keys, and join the parts of a group to each other, for which hashes are quicker
/// once it is large.
const CONNECTIONS_IN_TURN: u32 = 2 * KEPT;

pub(super) async fn open(url: &DatabaseUrl) -> Result<PostgresStore, OpenError> {
    let options = checked(url).await?;
    let session = options.clone().options(SESSION);
    let primary = Arc::new(Primary::default());
    primary.check_durability(&options).await;
    let connections = Connections::new(session.clone(), &primary);
    let wake = Wake::spawn(connections.clone(), options.clone(), &primary);
    let wake = Arc::new(wake);
    // Separate pools, so that a commit never waits for reads to return a connection.
    let few = |options| Connections::apart(1, options, &primary);
    let lane = |lock_timeout| few(session.clone().options([("lock_timeout", lock_timeout)]));
    let by_keys = session.clone().options(BY_KEYS);
    let in_turn = session
        .clone()
        .options([("lock_timeout", held::LOCK_TIMEOUT)]);
    let in_turn = Connections::prepared(CONNECTIONS_IN_TURN, in_turn, &primary, |connection| {
        Box::pin(warm_up(connection))
    });
    let suspects = Arc::new(Suspects::default());
    let writer = Writer::of_all(in_turn.clone(), Arc::clone(&wake), Arc::clone(&suspects));
    let aside = Aside::spawn(Writer::apart(
        lane(writer::ASIDE_LOCK_TIMEOUT),
        Arc::clone(&wake),
        Arc::clone(&suspects),
    ));
    let mails = few(by_keys.clone());
    let offers = SharedRead::new(in_turn.clone(), |connection, targets| {
        Box::pin(offers::find_all(connection, targets))
    });
    let lookups = KeyLookups::new(in_turn.clone());
    let bulk_writer = BulkWriter(Writer::apart(
        lane(held::LOCK_TIMEOUT),
        Arc::clone(&wake),
        suspects,
    ));
    let locked_writes = LockedWrites::new(lane(writer::ASIDE_LOCK_TIMEOUT));
    Ok(PostgresStore {
        connections,
        room: Budget::new(CONNECTIONS.into(), MAX_WAITING),
        room_to_write: Budget::new(session::WRITING.into(), MAX_WAITING),
        locked_writes,
        writer: Grouped::spawn(writer, writer::LIMITS),
        aside,
        bulk_writer: Grouped::spawn(bulk_writer, writer::BULK_LIMITS),
        offers: Grouped::spawn(offers, reads::LIMITS),
        operations: gets(by_keys.clone(), &primary),
        lookups: Grouped::spawn(lookups, reads::LIMITS),
        claims: few(by_keys),
        cursors: Cursors::default(),
        mail_finisher: Grouped::spawn(MailFinisher(mails.clone()), FINISH_LIMITS),
        mails,
        due_mails: Arc::default(),
        full_mailboxes: Arc::default(),
        fronts: Fronts::default(),
        held_offices: HeldOffices::default(),
        finisher: Grouped::spawn(Finisher::new(in_turn.clone()), outbox::LIMITS),
        keeper: Keeper::spawn(in_turn.clone()),
        in_turn,
        wake,
        watcher: Watcher::spawn(Arc::clone(&primary), session, name(&options)),
        primary,
        unsettled: Arc::default(),
        set_aside: Arc::new(SetAside::default()),
        exhausted: ExhaustedKeys::default(),
    })
}

/// Reads operations by their ids.
fn gets(
    by_keys: PgConnectOptions,
    primary: &Arc<Primary>,
) -> Grouped<SharedRead<OperationId, Option<Operation>>> {
    let limits = reads::LIMITS_OF_OPERATIONS;
    let connections = Connections::apart(limits.groups, by_keys, primary);
    let reads = SharedRead::new(connections, |connection, ids| {
        Box::pin(operations::by_ids(connection, ids))
    });
    Grouped::spawn(reads, limits)
}

/// The connect options of a database that answers and whose schema this build supports.
pub(super) async fn checked(url: &DatabaseUrl) -> Result<PgConnectOptions, OpenError> {
    let options = options(url)?;
    let mut connection = connect(&options).await?;
    let schema = check_schema(&mut connection).await;
    // A failure to close is irrelevant; the pool reports other failures.
    let _ = connection.close().await;
    match schema {
        Ok(()) => Ok(options),
        Err(fault) => Err(unsupported(&options, fault)),
    }
}

fn unsupported(options: &PgConnectOptions, fault: Fault) -> OpenError {
    match fault {
        Fault::Schema(mismatch) => OpenError::SchemaMismatch {
            database: name(options),
            mismatch,
        },
        fault => unreachable(options, fault),
    }
}

/// What there is to migrate.
pub(in crate::store) async fn pending_steps(url: &DatabaseUrl) -> Result<PendingSteps, OpenError> {
    let options = options(url)?;
    let mut connection = connect(&options).await?;
    let pending = match refuse_half_restored(&mut connection).await {
        Ok(()) => migrations::pending(&mut connection).await,
        Err(fault) => Err(fault),
    };
    let _ = connection.close().await;
    pending.map_err(|fault| unsupported(&options, fault))
}

async fn check_schema(connection: &mut PgConnection) -> Result<(), Fault> {
    refuse_half_restored(connection).await?;
    migrations::check(connection).await
}

pub(super) async fn refuse_half_restored(connection: &mut PgConnection) -> Result<(), Fault> {
    if migrations::is_half_restored(connection).await? {
        return Err(SchemaMismatch::HalfRestored.into());
    }
    Ok(())
}

pub(super) async fn migrate(url: &DatabaseUrl) -> Result<(), OpenError> {
    let options = options(url)?;
    // Without a session's timeouts: a migration may have much to do, and waits for others.
    let mut connection = connect(&options).await?;
    let mut migrated = refuse_half_restored(&mut connection).await;
    if migrated.is_ok() {
        migrated = migrations::run(&mut connection).await;
    }
    if migrated.is_ok() {
        migrated = primary::record_first(&mut connection)
            .await
            .map_err(Into::into);
    }
    let _ = connection.close().await;
    migrated.map_err(|fault| match fault {
        Fault::Schema(mismatch) => OpenError::SchemaMismatch {
            database: name(&options),
            mismatch,
        },
        cause => OpenError::PostgresMigration {
            database: name(&options),
            cause: Box::new(cause),
        },
    })
}

/// Refuses an invalid URL, and a connection on which somebody could impersonate the server.
pub(in crate::store) fn validate_url(url: &DatabaseUrl) -> Result<(), OpenError> {
    options(url).map(drop)
}

/// The connect options, as the driver reads the URL and its environment variables; nothing else
/// parses them.
pub(super) fn options(url: &DatabaseUrl) -> Result<PgConnectOptions, OpenError> {
    let options = PgConnectOptions::from_str(url.as_str()).map_err(|_| OpenError::PostgresUrl)?;
    if !url.network_is_private() && !is_verified(&options) && !is_on_this_machine(&options) {
        return Err(OpenError::UnverifiedServer {
            host: options.get_host().to_owned(),
        });
    }
    tls_files::check(&options)?;
    Ok(options.application_name("preauth-server"))
}

/// Whether the server must present a certificate for its name; every other mode accepts any server.
fn is_verified(options: &PgConnectOptions) -> bool {
    matches!(options.get_ssl_mode(), PgSslMode::VerifyFull)
}

/// A socket, or an address of this machine alone. Names are not resolved: they may lead elsewhere
/// later.
fn is_on_this_machine(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    let is_socket = options.get_socket().is_some() || host.starts_with('/');
    let literal = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let address = literal.unwrap_or(host).parse::<IpAddr>();
    is_socket
        || host.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, OpenError> {
    match timeout(CONNECT_TIMEOUT, options.connect()).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(cause)) => Err(refused(options, cause)),
        Err(_) => Err(unreachable(options, sqlx::Error::PoolTimedOut)),
    }
}

/// PostgreSQL's code for a database that it does not have.
const INVALID_CATALOG_NAME: &str = "3D000";
/// Its codes for a user that does not exist or is not admitted, and for a wrong password.
const USER_REFUSED: [&str; 2] = ["28000", "28P01"];
const INSUFFICIENT_PRIVILEGE: &str = "42501";

fn refused(options: &PgConnectOptions, cause: sqlx::Error) -> OpenError {
    if code(&cause).as_deref() != Some(INVALID_CATALOG_NAME) {
        return unreachable(options, cause);
    }
    let user = options.get_username();
    let cause = Fault::from(cause);
    OpenError::NoDatabase {
        server: format!("{}:{}", options.get_host(), options.get_port()),
        database: options.get_database().unwrap_or(user).to_owned(),
        user: user.to_owned(),
        cause: Box::new(cause),
    }
}

pub(super) fn unreachable(options: &PgConnectOptions, cause: impl Into<Fault>) -> OpenError {
    let (database, user) = (name(options), options.get_username().to_owned());
    let fault = cause.into();
    let code = match &fault {
        Fault::Database(error) => code(error),
        _ => None,
    };
    let cause = Box::new(fault);
    match code.as_deref() {
        Some(code) if USER_REFUSED.contains(&code) => OpenError::UserRefused {
            database,
            user,
            cause,
        },
        Some(INSUFFICIENT_PRIVILEGE) => OpenError::NotPermitted {
            database,
            user,
            cause,
        },
        _ => OpenError::Unreachable { database, cause },
    }
}

/// Host, port and database; the URL itself may hold a password.
pub(super) fn name(options: &PgConnectOptions) -> String {
    let database = options.get_database().unwrap_or(options.get_username());
    format!("{}:{}/{database}", options.get_host(), options.get_port())
}

#[cfg(test)]
mod tests {
    use super::{OpenError, validate_url};
    use crate::store::DatabaseUrl;

    const REFUSED: [&str; 12] = [
        "postgres://db.example.com/preauth",
        "postgresql://ana:geheim@10.0.0.7:5432/preauth",
        "postgres://db.example.com/preauth?sslmode=disable",
        "postgres://db.example.com/preauth?sslmode=allow",
        "postgres://db.example.com/preauth?sslmode=prefer",
        "postgres://db.example.com/preauth?sslmode=require",
        "postgres://db.example.com/preauth?ssl-mode=verify-ca",
        "postgres://db.example.com/preauth?sslmode=verify-full&ssl-mode=require",
        "postgres://localhost/preauth?host=db.example.com",
        "postgres://127.0.0.1/preauth?hostaddr=10.0.0.7",
        "postgres://localhost.example.com/preauth",
        "postgres://[2001:db8::1]/preauth",
    ];

    #[test]
    fn a_server_on_the_network_needs_a_verified_certificate() {
        for text in REFUSED {
            let refused = validate_url(&text.into());
            assert!(
                matches!(refused, Err(OpenError::UnverifiedServer { .. })),
                "{text}: {refused:?}"
            );
            assert!(validate_url(&DatabaseUrl::on_private_network(text)).is_ok());
        }
        for text in [
            "postgres://db.example.com/preauth?sslmode=verify-full",
            "postgres://db.example.com/preauth?sslmode=require&ssl-mode=verify-full",
            "postgres://10.0.0.7/preauth?sslmode=verify-full&application_name=x",
        ] {
            assert!(validate_url(&text.into()).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_server_on_this_machine_needs_none() {
        for text in [
            "postgres://localhost/preauth",
            "postgres://LOCALHOST:5433/preauth",
            "postgres://127.0.0.1/preauth",
            "postgres://127.8.8.8/preauth",
            "postgres://[::1]/preauth",
            "postgres://%2Frun%2Fpostgresql/preauth",
            "postgres:///preauth?host=/run/postgresql",
        ] {
            assert!(validate_url(&text.into()).is_ok(), "{text}");
        }
    }
}
