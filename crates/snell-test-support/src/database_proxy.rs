//! A proxy before PostgreSQL that loses answers: the transaction is committed, and its sender does not learn it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The server's messages after a commit, with their kind and length, and after a statement that writes rows.
const COMMITTED: &[u8] = b"C\0\0\0\x0bCOMMIT\0";
const WRITTEN: &[u8] = b"INSERT 0 ";

/// A proxy on a port of this machine.
#[derive(Debug)]
pub struct DatabaseProxy {
    /// Its port.
    pub port: u16,
    to_lose: Arc<AtomicUsize>,
}

impl DatabaseProxy {
    /// Starts a proxy before the socket in this directory.
    pub fn start(directory: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let to_lose = Arc::new(AtomicUsize::new(0));
        let (socket, of_thread) = (directory.join(".s.PGSQL.5432"), to_lose.clone());
        // It ends with the process of the test.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (socket, to_lose) = (socket.clone(), of_thread.clone());
                thread::spawn(move || pass_on(&client, &socket, &to_lose));
            }
        });
        Self { port, to_lose }
    }

    /// Loses the answer to the next commit, and the connection with it.
    pub fn lose_next_commit(&self) {
        self.to_lose.fetch_add(1, Ordering::SeqCst);
    }

    /// How many answers are still to be lost.
    pub fn count_to_lose(&self) -> usize {
        self.to_lose.load(Ordering::SeqCst)
    }
}

/// Passes on both directions until one of them ends.
fn pass_on(client: &TcpStream, socket: &PathBuf, to_lose: &AtomicUsize) {
    let Ok(server) = UnixStream::connect(socket) else {
        return;
    };
    let end = || {
        // One of them may be closed already.
        let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
    };
    client.set_nodelay(true).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            copy_until(client, &server, |_| false);
            end();
        });
        // The answers of one transaction may come one by one.
        let mut has_written = false;
        let is_lost = |answer: &[u8]| {
            let contains = |message: &[u8]| answer.windows(message.len()).any(|part| part == message);
            let take_one = |left: usize| left.checked_sub(1);
            has_written |= contains(WRITTEN);
            contains(COMMITTED)
                && std::mem::take(&mut has_written)
                && to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take_one).is_ok()
        };
        copy_until(&server, client, is_lost);
        end();
    });
}

/// Copies until there is no more, or something is not to be passed on.
fn copy_until(mut from: impl Read, mut to: impl Write, mut is_end: impl FnMut(&[u8]) -> bool) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length) = from.read(&mut buffer) {
        let Some(part) = buffer.get(..length).filter(|part| !part.is_empty() && !is_end(part)) else {
            return;
        };
        if to.write_all(part).is_err() {
            return;
        }
    }
}
