//! The receiver of the play: the real one, in this process, on a free port. Whatever happens to us, it ends with us.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use snell_server::{PollSchedule, ServeError, ServeSettings, ServerListener, serve};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::STEP_TIMEOUT;

/// The agents of the play are not reported as silent before this.
const SILENT_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// For how long requests that are under way may hold up the end.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct DemoReceiver {
    address: SocketAddr,
    end: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl DemoReceiver {
    /// A receiver for what is recorded in this directory, that looks after agents this often.
    pub(super) async fn start(data: PathBuf, looks_every: Duration) -> anyhow::Result<Self> {
        let mut settings = ServeSettings::new(data);
        settings.grace = SHUTDOWN_GRACE;
        settings.poll_schedule =
            PollSchedule { poll_active: looks_every, silent_after: SILENT_AFTER, ..PollSchedule::default() };
        let listener = ServerListener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let address = listener.address();
        let (ready, is_ready) = oneshot::channel();
        let listener = listener.with_ready_callback(|_| {
            // It fails only if this task was cancelled.
            let _ = ready.send(());
        });
        let (end, told_to_end) = oneshot::channel();
        let serving = tokio::spawn(serve(settings, listener, told_to_end));
        if is_ready.await.is_err() {
            serving.await.context("the receiver failed")??;
            bail!("the receiver ended before it began");
        }
        Ok(Self { address, end, serving })
    }

    /// The address of its page.
    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Lets those who are inside finish, and ends.
    pub(super) async fn shut_down(self) {
        let _ = self.end.send(());
        let _ = tokio::time::timeout(STEP_TIMEOUT, self.serving).await;
    }
}
