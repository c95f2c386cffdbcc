//! The receiver of the demo: the real one, in this process, on a free port.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use snell_server::{PollSchedule, ServeError, ServeSettings, ServerListener, serve};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::STEP_TIMEOUT;

/// Long enough that no agent of the demo becomes silent.
const SILENT_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// The time that open requests have to finish at the end.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct DemoReceiver {
    address: SocketAddr,
    end: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl DemoReceiver {
    /// Starts a receiver for this data directory, with this poll interval.
    pub(super) async fn start(data: PathBuf, poll_interval: Duration) -> anyhow::Result<Self> {
        let mut settings = ServeSettings::new(data);
        settings.grace = SHUTDOWN_GRACE;
        settings.poll_schedule =
            PollSchedule { poll_active: poll_interval, silent_after: SILENT_AFTER, ..PollSchedule::default() };
        let listener = ServerListener::bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let address = listener.address();
        let (ready, is_ready) = oneshot::channel();
        let listener = listener.with_ready_callback(|_| {
            // Fails only if this task is cancelled.
            let _ = ready.send(());
        });
        let (end, shutdown) = oneshot::channel();
        let serving = tokio::spawn(serve(settings, listener, shutdown));
        if is_ready.await.is_err() {
            serving.await.context("the receiver failed")??;
            bail!("the receiver ended before it was ready");
        }
        Ok(Self { address, end, serving })
    }

    /// The address of its page.
    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Lets open requests finish, and ends.
    pub(super) async fn shut_down(self) {
        let _ = self.end.send(());
        let _ = tokio::time::timeout(STEP_TIMEOUT, self.serving).await;
    }
}
