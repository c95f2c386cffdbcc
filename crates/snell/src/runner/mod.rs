//! Runs the action of a hook, a process or a request, within its limits.

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

/// The default number of hooks of one engine that run at the same time. The others wait before their timeout starts. A
/// running process needs four file descriptors, and a host needs some for itself.
pub(crate) fn default_max_running() -> usize {
    const MOST: u64 = 128;
    let descriptors = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let running = (descriptors.saturating_sub(64) / 6).clamp(4, MOST);
    usize::try_from(running).unwrap_or(4)
}

/// An action that is ready to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum HookWork {
    Process(ProcessRequest),
    Http(HookHttpRequest),
}

/// The condition of a hook, if it runs a command, and its action.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HookTask {
    pub(crate) condition: Option<ProcessRequest>,
    pub(crate) work: HookWork,
}

/// How a task ended.
#[derive(Debug)]
pub(crate) enum TaskEnd {
    Ran(Outcome),
    /// The condition was false, with this outcome.
    Withheld(Outcome),
}

impl HookTask {
    /// Runs the action, if the condition is true.
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

/// An HTTP request with its payload.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct HookHttpRequest {
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Arc<str>,
    pub(crate) timeout: Duration,
}

/// The state that all runs of an engine share.
#[derive(Clone)]
pub(crate) struct HookRunner {
    /// The environment of hooks. Without one they inherit the host's.
    environment: Option<Arc<BTreeMap<OsString, OsString>>>,
    running: Arc<Semaphore>,
}

impl fmt::Debug for HookRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment has secrets, so it is not part of debug output.
        f.debug_struct("HookRunner").field("running", &self.running).finish_non_exhaustive()
    }
}

impl fmt::Debug for HookHttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers contain values of variables.
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

    /// A variable of the environment of hooks, if the host passed one.
    pub(crate) fn env_var(&self, name: &str) -> Option<&OsString> {
        self.environment.as_ref()?.get(OsStr::new(name))
    }

    /// Runs the action to its end or its deadline.
    async fn run_work(&self, work: &HookWork) -> Outcome {
        match work {
            HookWork::Process(request) => self.run_process(request).await,
            HookWork::Http(request) => self.run_http(request).await,
        }
    }

    /// Runs a process to its end or its deadline.
    async fn run_process(&self, request: &ProcessRequest) -> Outcome {
        // The semaphore is never closed. If it were, the hook would still run.
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
