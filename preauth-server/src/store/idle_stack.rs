//! Lends the connection that came back last, before the queue of sqlx's pool.
//!
//! That pool asks each connection that comes back for a sign of life, which is one more round trip for each
//! statement. And it lends the one that has been idle for longest, whose session has lost its place in the
//! processor's caches.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{Database, Pool};
use tokio::time::{Instant, sleep};

use super::error::Fault;

/// After this time a connection goes back to the pool, which replaces the old ones.
const TURN: Duration = Duration::from_mins(1);
/// The pool gets connections that nobody needed for this time, and closes them later.
const SURPLUS_AFTER: Duration = Duration::from_secs(5);

/// A pool with a stack of idle connections before it; clones share both.
#[derive(Debug)]
pub(super) struct IdleStack<DB: Database> {
    pool: Pool<DB>,
    state: Arc<Mutex<State<DB>>>,
}

#[derive(Debug)]
struct State<DB: Database> {
    idle: Vec<Idle<DB>>,
    /// Callers of the pool: only a connection that goes back to it ends their wait.
    waiting: usize,
    /// Whether a task returns to the pool what is not needed.
    is_swept: bool,
}

#[derive(Debug)]
struct Idle<DB: Database> {
    connection: PoolConnection<DB>,
    /// When the pool lent it.
    out_since: Instant,
    since: Instant,
}

impl<DB: Database> Clone for IdleStack<DB> {
    fn clone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            state: Arc::clone(&self.state),
        }
    }
}

impl<DB: Database> IdleStack<DB> {
    pub(super) fn before(pool: Pool<DB>) -> Self {
        let state = State {
            idle: Vec::new(),
            waiting: 0,
            is_swept: false,
        };
        Self {
            pool,
            state: Arc::new(Mutex::new(state)),
        }
    }

    pub(super) async fn acquire(&self) -> Result<Lent<DB>, sqlx::Error> {
        match self.last_used() {
            Ok(lent) => Ok(lent),
            Err(waiting) => waiting.acquire().await,
        }
    }

    /// The connection that came back last, or else a place among those that wait for the pool's.
    pub(super) fn last_used(&self) -> Result<Lent<DB>, Waiting<DB>> {
        let mut state = self.state();
        let Some(idle) = state.idle.pop() else {
            state.waiting = state.waiting.saturating_add(1);
            return Err(Waiting(self.clone()));
        };
        Ok(self.lend(idle))
    }

    /// All idle connections that the pool does not have.
    pub(super) fn take_all(&self) -> impl Iterator<Item = Lent<DB>> {
        let idle = std::mem::take(&mut self.state().idle);
        idle.into_iter().map(|idle| self.lend(idle))
    }

    fn lend(&self, idle: Idle<DB>) -> Lent<DB> {
        Lent {
            connection: Some(idle.connection),
            out_since: idle.out_since,
            idle_since: idle.since,
            home: self.clone(),
        }
    }

    pub(super) const fn pool(&self) -> &Pool<DB> {
        &self.pool
    }

    /// The number of idle connections, the pool's included.
    pub(super) fn idle(&self) -> usize {
        self.state().idle.len().saturating_add(self.pool.num_idle())
    }

    pub(super) async fn close(&self) {
        // From now on connections go back to the pool.
        let closed = self.pool.close();
        self.take_all().for_each(Lent::release);
        closed.await;
    }

    fn give_back(&self, connection: PoolConnection<DB>, out_since: Instant) {
        let since = Instant::now();
        let mut state = self.state();
        // Otherwise it goes back to the pool when it is dropped.
        let is_due = since.duration_since(out_since) >= TURN;
        if is_due || state.waiting > 0 || self.pool.is_closed() {
            return;
        }
        if !std::mem::replace(&mut state.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(&self.state)));
        }
        state.idle.push(Idle {
            connection,
            out_since,
            since,
        });
    }

    fn state(&self) -> MutexGuard<'_, State<DB>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns to the pool what nobody needed, until the stack is empty.
async fn sweep<DB: Database>(state: Weak<Mutex<State<DB>>>) {
    loop {
        sleep(SURPLUS_AFTER).await;
        let Some(state) = state.upgrade() else {
            return;
        };
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let is_surplus = |idle: &mut Idle<DB>| idle.since.elapsed() >= SURPLUS_AFTER;
        drop(state.idle.extract_if(.., is_surplus).collect::<Vec<_>>());
        if state.idle.is_empty() {
            state.is_swept = false;
            return;
        }
    }
}

impl<DB: Database> Drop for State<DB> {
    /// Closes the connections: to go back to the pool they would need a runtime, which may have ended.
    fn drop(&mut self) {
        for idle in self.idle.drain(..) {
            drop(idle.connection.detach());
        }
    }
}

/// A caller of the pool, until this is dropped.
#[derive(Debug)]
pub(super) struct Waiting<DB: Database>(IdleStack<DB>);

impl<DB: Database> Waiting<DB> {
    pub(super) async fn acquire(self) -> Result<Lent<DB>, sqlx::Error> {
        let out_since = Instant::now();
        let connection = self.0.pool.acquire().await?;
        Ok(self.0.lend(Idle {
            connection,
            out_since,
            since: out_since,
        }))
    }
}

impl<DB: Database> Drop for Waiting<DB> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.waiting = state.waiting.saturating_sub(1);
    }
}

/// A connection in use. It is closed when it is dropped in the middle of a statement: the pool would
/// wait for the rest of the answer, which may never come, and lack a connection until then.
#[derive(Debug)]
pub(super) struct Lent<DB: Database> {
    /// Taken at the end.
    connection: Option<PoolConnection<DB>>,
    out_since: Instant,
    idle_since: Instant,
    home: IdleStack<DB>,
}

impl<DB: Database> Lent<DB> {
    pub(super) fn connection(&mut self) -> Result<&mut DB::Connection, Fault> {
        self.connection.as_deref_mut().ok_or(Fault::TimedOut)
    }

    /// The time since the pool, which tests connections, lent it.
    pub(super) fn out_for(&self) -> Duration {
        self.out_since.elapsed()
    }

    /// The time since it came back.
    pub(super) fn idle_for(&self) -> Duration {
        self.idle_since.elapsed()
    }

    /// For the next caller, as it is: every statement was answered, and no transaction is open.
    pub(super) fn give_back(mut self) {
        if let Some(connection) = self.connection.take() {
            self.home.give_back(connection, self.out_since);
        }
    }

    /// Returns the connection after a statement or a transaction, unless the outcome shows that it is unusable.
    pub(super) fn return_after<T>(self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        match &outcome {
            Ok(_) => self.give_back(),
            Err(fault) if fault.is_broken_connection() => drop(self),
            Err(_) => self.release(),
        }
        outcome
    }

    /// To the pool, which ends what is open; every statement must have been answered.
    pub(super) fn release(mut self) {
        drop(self.connection.take());
    }
}

impl<DB: Database> Drop for Lent<DB> {
    fn drop(&mut self) {
        if let Some(connection) = &mut self.connection {
            connection.close_on_drop();
        }
    }
}

#[cfg(test)]
mod tests {
    use sqlx::Sqlite;
    use sqlx::sqlite::{SqlitePool, SqlitePoolOptions};

    use super::{Duration, IdleStack, Instant, Lent, SURPLUS_AFTER, TURN};

    const SHORT: Duration = Duration::from_millis(200);
    const LONG: Duration = Duration::from_secs(20);

    async fn stack(connections: u32) -> IdleStack<Sqlite> {
        let options = SqlitePoolOptions::new().max_connections(connections);
        let options = options.acquire_timeout(LONG).test_before_acquire(false);
        let pool: SqlitePool = options.connect("sqlite::memory:").await.unwrap();
        IdleStack::before(pool)
    }

    /// How many wait for the pool, and how many connections are on the stack.
    fn waiting_and_idle(stack: &IdleStack<Sqlite>) -> (usize, usize) {
        let state = stack.state();
        (state.waiting, state.idle.len())
    }

    /// Marks the session, by a setting that each has of its own.
    async fn mark(lent: &mut Lent<Sqlite>, millis: i64) {
        let statement = format!("PRAGMA busy_timeout = {millis}");
        let statement = sqlx::query(sqlx::AssertSqlSafe(statement));
        statement.execute(lent.connection().unwrap()).await.unwrap();
    }

    async fn marked(lent: &mut Lent<Sqlite>) -> i64 {
        let read = sqlx::query_scalar("PRAGMA busy_timeout");
        read.fetch_one(lent.connection().unwrap()).await.unwrap()
    }

    async fn two(stack: &IdleStack<Sqlite>) -> (Lent<Sqlite>, Lent<Sqlite>) {
        let first = stack.acquire().await.unwrap();
        (first, stack.acquire().await.unwrap())
    }

    #[tokio::test]
    async fn the_connection_that_came_back_last_is_lent_first() {
        let stack = stack(3).await;
        let mut lent = Vec::new();
        for session in 1..=3 {
            let mut one = stack.acquire().await.unwrap();
            mark(&mut one, session).await;
            lent.push(one);
        }
        assert_eq!(stack.idle(), 0);
        lent.into_iter().for_each(Lent::give_back);
        assert_eq!(stack.idle(), 3);
        for _ in 0..2 {
            let mut one = stack.acquire().await.unwrap();
            assert_eq!(marked(&mut one).await, 3);
            one.give_back();
        }
        let (mut first, mut second) = two(&stack).await;
        assert_eq!(
            (marked(&mut first).await, marked(&mut second).await),
            (3, 2)
        );
    }

    #[tokio::test]
    async fn who_waits_for_the_pool_gets_what_comes_back_meanwhile() {
        let stack = stack(1).await;
        let lent = stack.acquire().await.unwrap();
        let waiting = tokio::spawn({
            let stack = stack.clone();
            async move { stack.acquire().await.unwrap().give_back() }
        });
        while waiting_and_idle(&stack).0 == 0 {
            tokio::task::yield_now().await;
        }
        lent.give_back();
        tokio::time::timeout(LONG / 2, waiting)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(waiting_and_idle(&stack), (0, 1));
    }

    #[tokio::test]
    async fn who_gave_up_waits_no_longer() {
        let stack = stack(1).await;
        let lent = stack.acquire().await.unwrap();
        assert!(tokio::time::timeout(SHORT, stack.acquire()).await.is_err());
        lent.give_back();
        assert_eq!(waiting_and_idle(&stack), (0, 1));
    }

    #[tokio::test]
    async fn a_statement_that_was_cut_off_closes_its_connection_and_an_open_transaction_ends() {
        let stack = stack(1).await;
        let mut lent = stack.acquire().await.unwrap();
        mark(&mut lent, 7).await;
        drop(lent);
        let mut other = stack.acquire().await.unwrap();
        assert_ne!(marked(&mut other).await, 7, "another session");
        mark(&mut other, 8).await;
        let begun = sqlx::Connection::begin(other.connection().unwrap())
            .await
            .unwrap();
        drop(begun);
        other.release();
        let mut same = stack.acquire().await.unwrap();
        assert_eq!(marked(&mut same).await, 8, "the same session");
        sqlx::Connection::begin(same.connection().unwrap())
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn an_old_connection_goes_to_the_pool() {
        let stack = stack(1).await;
        let mut lent = stack.acquire().await.unwrap();
        lent.out_since = Instant::now().checked_sub(TURN).unwrap();
        lent.give_back();
        assert_eq!(
            waiting_and_idle(&stack),
            (0, 0),
            "the pool may have to replace it"
        );
        stack.acquire().await.unwrap().give_back();
        assert_eq!(waiting_and_idle(&stack), (0, 1));
    }

    #[tokio::test]
    async fn what_nobody_needed_goes_to_the_pool() {
        let stack = stack(2).await;
        let (first, second) = two(&stack).await;
        first.give_back();
        second.give_back();
        assert_eq!(waiting_and_idle(&stack), (0, 2));
        // The task begins to wait.
        tokio::task::yield_now().await;
        tokio::time::pause();
        tokio::time::advance(SURPLUS_AFTER.saturating_mul(2)).await;
        while waiting_and_idle(&stack).1 > 0 {
            tokio::task::yield_now().await;
        }
        tokio::time::resume();
        assert!(!stack.state().is_swept);
        stack.acquire().await.unwrap().give_back();
        assert!(stack.state().is_swept, "by another task");
    }

    #[tokio::test]
    async fn closing_waits_for_connections_in_use_and_not_for_idle_ones() {
        let stack = stack(2).await;
        let (first, second) = two(&stack).await;
        first.give_back();
        assert!(tokio::time::timeout(SHORT, stack.close()).await.is_err());
        second.give_back();
        tokio::time::timeout(LONG / 2, stack.close()).await.unwrap();
        assert_eq!(waiting_and_idle(&stack), (0, 0));
        assert_eq!(stack.pool().size(), 0);
        assert!(stack.acquire().await.is_err());
    }
}
