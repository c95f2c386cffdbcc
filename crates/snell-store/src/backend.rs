//! What a database must be able to do for the store as a whole.

use std::path::Path;

use snell::Timestamp;

use crate::error::Result;
use crate::model::State;
use crate::observation::FinishedRun;
use crate::query::{AgentFilter, AgentView, Exported, LogEntry, LogFilter, Pruned, SessionView, Totals};
use crate::rows::Rows;

/// How much tidying is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tidying {
    /// Only if there is enough to be worth it; this process goes on.
    IfNeeded,
    /// Only if there is enough to be worth it; this process ends, and with it its knowledge of what was done.
    BeforeLeaving,
    /// Everything, so that whoever comes next has nothing to do.
    Thorough,
}

/// A database.
pub(crate) trait Backend: Send {
    /// Does the work in one transaction, which is undone if the work fails.
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()>;
    /// Lets the work see one state of the database. It writes nothing.
    fn look(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()>;
    /// Asks about what is kept.
    fn queries(&mut self) -> &mut dyn Queries;
    /// Does what makes later work faster.
    fn tidy(&mut self, tidying: Tidying) -> Result<()>;
    /// The file it is, and which one of that name, if it is a file.
    fn file(&self) -> Option<(&Path, u64)>;
}

/// What people and programs ask about, and the little that they write by themselves.
pub(crate) trait Queries {
    fn agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>>;
    fn count_agents(&mut self, state: State) -> Result<i64>;
    /// The newest first, unless the filter asks for what came after an entry.
    fn log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>>;
    /// The number of the newest event; 0 if there is none.
    fn last_id(&mut self) -> Result<i64>;
    /// Sessions whose id begins like this, the latest first.
    fn sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>>;
    /// Tells everything about a session, in the order in which it happened, until the listener has heard enough.
    fn export(&mut self, session: &SessionView, listener: &mut dyn FnMut(Exported) -> bool) -> Result<()>;
    fn totals(&mut self) -> Result<Totals>;
    /// Records how full the context of a session is.
    fn set_context(&mut self, session_id: &str, percent: f64, model: Option<&str>) -> Result<bool>;
    /// Records how a hook ended that nobody waited for. Answers whether its event is known.
    fn finish_run(&mut self, finished: &FinishedRun) -> Result<bool>;
    /// Removes some of what is older; answers how much, so that the caller can go on until there is nothing left.
    fn prune(&mut self, before: Timestamp, at_most: u32) -> Result<Pruned>;
    /// How much is older.
    fn older(&mut self, before: Timestamp) -> Result<Pruned>;
}
