//! Remembered answers: the list, and the end of one.

use snell::Timestamp;
use snell_store::requests::{RememberScope, RememberedAnswer};

use crate::output::time::{format_elapsed, format_time_short};
use crate::output::{self, CommandError, TableColumn, TextTable};
use crate::record::open_store::StoreHandle;

/// The longest text of a cell.
const SHOWN_CELLS: usize = 60;

/// All of them, in practice.
const LIMIT: u32 = 10_000;

const NO_ANSWERS: &str = "No remembered answers. To remember one: snell answer ID allow --remember project";

/// Prints the answers that Snell gives again, the latest first.
pub(super) fn print_answers(answers: &[RememberedAnswer]) {
    if answers.is_empty() {
        return output::print_line(NO_ANSWERS);
    }
    build_table(answers, Timestamp::now()).print();
    output::print_faint("To end one: snell answer --forget ID");
}

/// Ends the answer to the request with this id, or the only one whose id starts with it.
pub(crate) fn forget_answer(store_handle: &mut StoreHandle, id: &str) -> anyhow::Result<()> {
    let mut answers = load_answers(store_handle)?;
    answers.retain(|answer| answer.request_uid.starts_with(id));
    let missing = || {
        CommandError::new(format!("no remembered answer has the id \"{id}\""))
            .with_hint("run `snell requests --remembered` for a list")
    };
    let answer = match answers.as_slice() {
        [answer] => answer,
        [] => return Err(missing().into()),
        _ => {
            let text = format!("several remembered answers have an id that begins with \"{id}\"");
            return Err(CommandError::new(text).with_hint("write more of the id").into());
        }
    };
    let forgotten =
        store_handle.write_with_retry(|store| store.forget_answer(&answer.request_uid, Timestamp::now()))?;
    let forgotten = forgotten.ok_or_else(missing)?;
    let title = output::shorten_to_one_line(&forgotten.title, SHOWN_CELLS);
    output::print_line(&format!("Forgotten: {title}. The next such call is asked about again."));
    Ok(())
}

pub(super) fn load_answers(store_handle: &mut StoreHandle) -> anyhow::Result<Vec<RememberedAnswer>> {
    if store_handle.has_no_records() {
        return Ok(Vec::new());
    }
    store_handle.query(|store| store.list_remembered_answers(Timestamp::now(), LIMIT))
}

fn build_table(answers: &[RememberedAnswer], now: Timestamp) -> TextTable<5> {
    let mut table = TextTable::new([
        TableColumn::new("ID"),
        TableColumn::new("SINCE").with_drop_rank(2),
        TableColumn::new("UNTIL").with_drop_rank(1),
        TableColumn::new("IN"),
        TableColumn::new("ALLOWS").flexible(),
    ]);
    for answer in answers {
        let key = output::shorten_to_one_line(&answer.scope_key, SHOWN_CELLS);
        table.add_row([
            answer.request_uid.clone(),
            format!("{} ago", format_elapsed(answer.created_at, now)),
            answer.until.map_or_else(|| "no end".to_owned(), |until| format_time_short(until, now)),
            match answer.scope {
                RememberScope::Session => format!("session {key}"),
                RememberScope::Project => key,
            },
            output::shorten_to_one_line(&answer.title, SHOWN_CELLS),
        ]);
    }
    table
}
