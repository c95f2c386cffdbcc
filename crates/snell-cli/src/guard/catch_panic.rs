//! Failures that stay here.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// Whether this thread is doing something whose failure is nobody else's.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// Where it failed.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does something that must not end this process, whatever happens in it; answers where it failed, if it did. What it says
/// as it fails is not printed: it may hold what the agent wanted to do.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if QUIET.get() {
                PLACE.set(format_location(info));
            } else {
                before(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    // Nothing that was being worked on is looked at again.
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(before);
    done.map_err(|_| PLACE.take())
}

fn format_location(info: &PanicHookInfo<'_>) -> String {
    info.location().map_or_else(|| "an unknown place".to_owned(), |at| format!("{}:{}", at.file(), at.line()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_where_it_was_and_ends_nothing() {
        let failed = catch_panic(|| {
            assert_eq!(catch_panic(|| 1), Ok(1));
            panic!("something secret");
        });
        let place = failed.map(|()| String::new()).unwrap_err();
        assert!(place.starts_with(file!()) && !place.contains("something secret"), "{place}");
        assert_eq!(catch_panic(|| 2), Ok(2));
        assert!(!QUIET.get());
    }
}
