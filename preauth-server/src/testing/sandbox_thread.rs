//! The threads of a test's server.

use std::error::Error as StdError;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use preauth_core::service::Operations;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::cli::sandbox::{DataFolder, SandboxArgs, Started, start};
use crate::clock::TimeMachine;
use crate::language::Language;
use crate::sandbox::Credentials;

/// Prefix of the names of temporary folders.
const FOLDER_PREFIX: &str = "preauth-test-";

/// Time for requests in progress at the end.
const END: Duration = Duration::from_secs(1);

type Failure = Box<dyn StdError + Send + Sync>;

/// A sandbox on a thread that waits for its end, and on the threads of a runtime.
pub(super) struct SandboxThread {
    runtime: Handle,
    sandbox: Arc<Started>,
    /// Taken at the end.
    end: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl SandboxThread {
    /// Starts a sandbox in a new folder.
    pub(super) fn begin(webhook_url: Option<String>, rate_limit: u32) -> Result<Self, Failure> {
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let args = SandboxArgs {
            listen: any_port,
            platform_listen: any_port,
            portal_listen: Some(any_port),
            data: None,
            database: None,
            webhook_url,
            rate_limit,
            ready_file: None,
        };
        let (begun, beginning) = mpsc::sync_channel(1);
        let (end, ended) = oneshot::channel();
        let thread = std::thread::Builder::new().name("preauth-test".to_owned());
        let thread = thread.spawn(move || live(&args, &begun, ended))?;
        match beginning.recv().map_err(Failure::from).flatten() {
            Ok((runtime, sandbox)) => Ok(Self {
                runtime,
                sandbox,
                end: Some((end, thread)),
            }),
            Err(failure) => {
                // The thread removes its folder before it ends; a test that ends earlier would
                // interrupt that.
                let _ = thread.join();
                Err(failure)
            }
        }
    }

    /// Runs work on the runtime, and waits for it.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, mpsc::RecvError> {
        let (done, wait) = mpsc::sync_channel(1);
        self.runtime.spawn(async move {
            let _ = done.send(work.await);
        });
        wait.recv()
    }

    /// The addresses of the integration API and of the platform API.
    pub(super) fn addresses(&self) -> [SocketAddr; 2] {
        let running = &self.sandbox.running;
        [running.address(), running.platform_address()]
    }

    pub(super) fn credentials(&self) -> &Credentials {
        &self.sandbox.credentials
    }

    pub(super) fn time_machine(&self) -> &TimeMachine {
        &self.sandbox.time_machine
    }

    pub(super) fn operations(&self) -> Arc<Operations> {
        Arc::clone(self.sandbox.running.operations())
    }
}

impl Drop for SandboxThread {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.end.take() {
            let _ = end.send(());
            let _ = thread.join();
        }
    }
}

/// Runs the sandbox, from the creation of its folder to its removal.
fn live(
    args: &SandboxArgs,
    begun: &mpsc::SyncSender<Result<(Handle, Arc<Started>), Failure>>,
    ended: oneshot::Receiver<()>,
) {
    let folder = match DataFolder::temporary(FOLDER_PREFIX) {
        Ok(folder) => folder,
        Err(failure) => return drop(begun.send(Err(failure))),
    };
    match Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => {
            let started = runtime.block_on(start(args, folder.path(), Language::English));
            let is_started = started.is_ok();
            let outcome = started.map(|sandbox| (runtime.handle().clone(), Arc::new(sandbox)));
            if begun.send(outcome).is_ok() && is_started {
                let _ = runtime.block_on(ended);
            }
            // Its remaining tasks do not matter after the test, so the wait is bounded.
            runtime.shutdown_timeout(END);
        }
        Err(error) => drop(begun.send(Err(error.into()))),
    }
    folder.end();
}
