//! Excludes hooks that would call the caller itself.

use std::fmt;
use std::sync::Arc;

use crate::hook::Hook;

/// Returns why a hook is excluded, if it is.
type ExclusionReasonFn = dyn Fn(&Hook) -> Option<String> + Send + Sync;

/// Which hooks are excluded.
#[derive(Clone)]
pub(crate) struct HookExclusion(Arc<ExclusionReasonFn>);

impl HookExclusion {
    /// Excludes the hooks for which this returns a reason.
    pub(crate) fn from_fn(why: impl Fn(&Hook) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(why))
    }

    /// Disables a hook if it is excluded.
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
