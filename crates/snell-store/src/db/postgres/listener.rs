//! Waiting for changes of other processes: each writer notifies after its commit.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::address::PostgresAddress;

/// The channel of notifications about new changes.
const CHANGES_CHANNEL: &str = "snell_changes";

/// The statement of a writer.
pub(super) const NOTIFY_CHANGES: &str = "NOTIFY snell_changes";

/// The pause before another attempt to connect.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);

/// A thread that listens until this is dropped.
#[derive(Debug)]
pub(crate) struct ChangeListener {
    _end: oneshot::Sender<()>,
}

impl ChangeListener {
    /// Starts to listen. Each notification, and each new connection, writes to this socket.
    pub(crate) fn start(address: PostgresAddress, waker: UnixStream) -> std::io::Result<Self> {
        let (end, ended) = oneshot::channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listen = async move {
            loop {
                // Without a connection, watchers look again from time to time.
                let _ = address.listen(CHANGES_CHANNEL, &|| wake(&waker)).await;
                tokio::time::sleep(RECONNECT_INTERVAL).await;
            }
        };
        std::thread::Builder::new().name("listener".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = ended => {}
                    () = listen => {}
                }
            });
        })?;
        Ok(Self { _end: end })
    }
}

fn wake(waker: &UnixStream) {
    // If the socket is full, a wake-up is under way.
    let _ = (&mut &*waker).write(&[1]);
}
