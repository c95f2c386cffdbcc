//! Running what a hook does: a process or a request, within limits that hold on every path.

mod background;
#[cfg(feature = "http")]
mod http;
mod pipes;
mod process;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::outcome::Outcome;

pub(crate) use background::{BackgroundJob, BackgroundLauncher, BackgroundObserver};
pub use background::{BackgroundMode, BackgroundResult, supervise_jobs};
pub(crate) use process::{EnvVariable, ProcessRequest, SpilledVariable};

/// How many hooks of one engine run at the same time, if nobody says otherwise; the others wait their turn before their
/// clock starts. A running process holds four descriptors, and a host needs some for itself.
pub(crate) fn default_max_running() -> usize {
    const MOST: u64 = 128;
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let running = (descriptors.saturating_sub(64) / 6).clamp(4, MOST);
    usize::try_from(running).unwrap_or(4)
}

/// What a hook does, ready to be done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum HookWork {
    Process(ProcessRequest),
    Http(HookHttpRequest),
}

/// What a hook needs to run: its condition, if it has one to run first, and its work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HookTask {
    pub(crate) condition: Option<ProcessRequest>,
    pub(crate) work: HookWork,
}

/// How a task ended.
#[derive(Debug)]
pub(crate) enum TaskEnd {
    Ran(Outcome),
    /// The condition did not hold; this is what came of trying it.
    Withheld(Outcome),
}

impl HookTask {
    /// Does the work, if the condition holds.
    pub(crate) async fn run(&self, runner: &HookRunner) -> TaskEnd {
        if let Some(condition) = &self.condition {
            let outcome = runner.run_process(condition).await;
            if !outcome.is_success() {
                return TaskEnd::Withheld(outcome);
            }
        }
        TaskEnd::Ran(runner.run_work(&self.work).await)
    }
}

/// A request to an address, with its payload.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct HookHttpRequest {
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Arc<str>,
    pub(crate) timeout: Duration,
}

/// What every run of an engine shares.
#[derive(Clone)]
pub(crate) struct HookRunner {
    /// The environment that hooks start from; without one they inherit the host's.
    environment: Option<Arc<BTreeMap<OsString, OsString>>>,
    running: Arc<Semaphore>,
}

impl fmt::Debug for HookRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment holds secrets; it has no place in a debug print.
        f.debug_struct("HookRunner").field("running", &self.running).finish_non_exhaustive()
    }
}

impl fmt::Debug for HookHttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers hold what variables held.
        f.debug_struct("HookHttpRequest").field("url", &self.url).finish_non_exhaustive()
    }
}

impl HookRunner {
    pub(crate) fn new(environment: Option<BTreeMap<OsString, OsString>>, max_running: usize) -> Self {
        Self {
            environment: environment.map(Arc::new),
            running: Arc::new(Semaphore::new(max_running.clamp(1, Semaphore::MAX_PERMITS))),
        }
    }

    /// A variable of the environment that hooks start from, where the host handed one over.
    pub(crate) fn env_var(&self, name: &str) -> Option<&OsString> {
        self.environment.as_ref()?.get(OsStr::new(name))
    }

    /// Does the work, to its end or its deadline.
    async fn run_work(&self, work: &HookWork) -> Outcome {
        match work {
            HookWork::Process(request) => self.run_process(request).await,
            HookWork::Http(request) => self.run_http(request).await,
        }
    }

    /// Runs a process to its end or its deadline.
    async fn run_process(&self, request: &ProcessRequest) -> Outcome {
        // The semaphore is never closed; were it, running without a permit would still be right.
        let _permit = self.running.acquire().await.ok();
        process::run_process(request, self.environment.as_deref()).await
    }

    #[cfg(feature = "http")]
    async fn run_http(&self, request: &HookHttpRequest) -> Outcome {
        let _permit = self.running.acquire().await.ok();
        http::send_request(request.clone()).await
    }

    #[cfg(not(feature = "http"))]
    async fn run_http(&self, _request: &HookHttpRequest) -> Outcome {
        Outcome::not_started("this build of Snell has no \"http\" feature", Duration::ZERO)
    }
}
