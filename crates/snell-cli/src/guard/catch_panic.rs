//! Catches panics of the guard.

use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// Whether the panic hook must not print panics of this thread.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic occurred.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `work`; returns the place of a panic as the error. Does not print the panic's message: it may contain the
/// agent's command.
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
    // After a panic nothing that `work` changed is used again.
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
