//! The three pipes of a running hook. Output is kept up to a limit.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use crate::outcome::Outcome;

/// How much of each output is kept. The rest is read and dropped, so that the hook does not block.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;

/// The size of one read.
const CHUNK_BYTES: usize = 16 * 1024;

/// All three pipes.
#[derive(Debug)]
pub(super) struct HookPipes<'a> {
    pub(super) stdin: StdinFeed<'a>,
    pub(super) stdout: OutputDrain<ChildStdout>,
    pub(super) stderr: OutputDrain<ChildStderr>,
}

impl<'a> HookPipes<'a> {
    pub(super) fn from_child(child: &mut Child, payload: &'a str) -> Self {
        Self {
            stdin: StdinFeed::new(child.stdin.take(), payload.as_bytes()),
            stdout: OutputDrain::new(child.stdout.take()),
            stderr: OutputDrain::new(child.stderr.take()),
        }
    }

    pub(super) fn are_drained(&self) -> bool {
        !self.stdout.is_open() && !self.stderr.is_open()
    }

    /// Reads output that is already in the pipe, without waiting for more.
    pub(super) async fn drain_available(&mut self) {
        if self.are_drained() {
            return;
        }
        // The first turn lets the runtime poll the pipes. Each further one reads a chunk, up to the limit.
        tokio::task::yield_now().await;
        for _ in 0..2 * MAX_OUTPUT_BYTES / CHUNK_BYTES {
            tokio::select! {
                biased;
                () = self.stdout.advance(), if self.stdout.is_open() => {}
                () = self.stderr.advance(), if self.stderr.is_open() => {}
                () = std::future::ready(()) => break,
            }
        }
    }

    /// The output as an outcome. The caller sets its end.
    pub(super) fn into_outcome(self) -> Outcome {
        let leaked = !self.are_drained();
        let stdin_unread = self.stdin.is_unread();
        let (stdout, stdout_cut) = self.stdout.into_text();
        let (stderr, stderr_cut) = self.stderr.into_text();
        Outcome {
            stdout,
            stderr,
            leaked,
            stdin_unread,
            truncated: stdout_cut || stderr_cut,
            ..Outcome::not_started("", Duration::ZERO)
        }
    }
}

/// Standard input during writing.
#[derive(Debug)]
pub(super) struct StdinFeed<'a> {
    pipe: Option<ChildStdin>,
    rest: &'a [u8],
}

impl<'a> StdinFeed<'a> {
    fn new(pipe: Option<ChildStdin>, payload: &'a [u8]) -> Self {
        Self { pipe, rest: payload }
    }

    pub(super) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Whether the hook has not read all of it.
    fn is_unread(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Writes once, and closes the pipe at the end of the payload. A hook may ignore or close its input.
    pub(super) async fn advance(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.write(self.rest).await {
            Ok(written) => {
                self.rest = &self.rest[written..];
                if self.rest.is_empty() || written == 0 {
                    self.pipe = None;
                }
            }
            Err(_) => self.pipe = None,
        }
    }
}

/// One output during reading.
#[derive(Debug)]
pub(super) struct OutputDrain<R> {
    pipe: Option<R>,
    kept: Vec<u8>,
    chunk: Box<[u8]>,
    truncated: bool,
}

impl<R: AsyncRead + Unpin> OutputDrain<R> {
    fn new(pipe: Option<R>) -> Self {
        Self { pipe, kept: Vec::new(), chunk: vec![0; CHUNK_BYTES].into_boxed_slice(), truncated: false }
    }

    pub(super) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Reads once. No data is lost if this future is dropped.
    pub(super) async fn advance(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        match pipe.read(&mut self.chunk).await {
            Ok(0) | Err(_) => self.pipe = None,
            Ok(length) => {
                let keep = length.min(MAX_OUTPUT_BYTES - self.kept.len());
                self.kept.extend_from_slice(&self.chunk[..keep]);
                self.truncated |= keep < length;
            }
        }
    }

    /// The output, and whether some of it was dropped.
    fn into_text(self) -> (String, bool) {
        let text = match String::from_utf8(self.kept) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        (text, self.truncated)
    }
}
