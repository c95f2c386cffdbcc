//! The state that all routes share.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::answers::{AnswerWatch, LazyAnswerKey};
use crate::clock::ServerClock;
use crate::http::acceptor::ShutdownPhase;
use crate::ingest::writer::EventWriter;
use crate::metrics::SharedMetrics;
use crate::reconciler::hook_activity::HookActivity;
use crate::reconciler::poll_mode::PollScheduler;
use crate::settings::ServeSettings;
use crate::store_pool::StorePool;
use crate::stream::StreamHub;
use crate::tokens::{AccessTask, KnownToken, LiveTokens};

/// The state that all routes share.
pub(crate) struct AppState {
    pub(crate) settings: ServeSettings,
    pub(crate) clock: ServerClock,
    pub(crate) writer: EventWriter,
    pub(crate) named_tokens: Arc<LiveTokens>,
    pub(crate) answer_key: LazyAnswerKey,
    pub(crate) answer_watch: Arc<AnswerWatch>,
    pub(crate) store_pool: Arc<StorePool>,
    /// The memory budget for request bodies, in bytes.
    pub(crate) body_budget: Arc<Semaphore>,
    pub(crate) hub: Arc<StreamHub>,
    pub(crate) hook_activity: Arc<HookActivity>,
    pub(crate) poll_scheduler: Arc<PollScheduler>,
    pub(crate) metrics: SharedMetrics,
    pub(crate) shutdown_phase: watch::Receiver<ShutdownPhase>,
}

impl AppState {
    /// Whether there is a login with the right to answer.
    pub(crate) fn can_log_in_to_answer(&self) -> bool {
        let may_answer = |token: &KnownToken| token.role.allows(AccessTask::Answer);
        self.settings.answer_token.is_some() || self.named_tokens.load().iter().any(may_answer)
    }

    /// Whether people can log in.
    pub(crate) fn has_login(&self) -> bool {
        self.settings.token.is_some() || self.settings.answer_token.is_some() || !self.named_tokens.is_empty()
    }
}

pub(crate) type SharedAppState = Arc<AppState>;
