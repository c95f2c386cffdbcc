//! Hooks that the caller leaves out, because they are the caller itself.

use std::fmt;
use std::sync::Arc;

use crate::hook::Hook;

/// Answers why a hook is left out, if it is.
type ExclusionReasonFn = dyn Fn(&Hook) -> Option<String> + Send + Sync;

/// Which hooks are left out.
#[derive(Clone)]
pub(crate) struct HookExclusion(Arc<ExclusionReasonFn>);

impl HookExclusion {
    /// Those for which this answers why.
    pub(crate) fn from_fn(why: impl Fn(&Hook) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(why))
    }

    /// Switches a hook off that is left out.
    pub(super) fn apply_to(&self, hook: &mut Hook) {
        if let Some(why) = (self.0)(hook) {
            hook.is_excluded = true;
            hook.disabled = Some(why);
        }
    }
}

impl fmt::Debug for HookExclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LeftOut")
    }
}
