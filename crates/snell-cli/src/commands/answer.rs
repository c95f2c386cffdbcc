//! `snell answer`: answers a request of an agent.

use jiff::civil::Date;
use snell::Timestamp;
use snell_server::pane_input;
use snell_store::requests::{
    AnswerAuthor, AnswerChannel, AnswerChoice, AnswerOrigin, AnswerOutcome, RememberScope, RememberTerm, RequestAnswer,
    RequestFilter, RequestKind, RequestQuestion, RequestStatus, RequestView,
};

use super::DONE;
use super::requests::{describe_end, find_request, forget_answer, load_requests, print_request};
use crate::env::read_user_name;
use crate::output::{self, CommandError, time};
use crate::process::question;
use crate::record::open_store::StoreHandle;
use crate::session_arg;

/// A shorter id could be that of another request.
const MIN_ID_CHARS: usize = 4;

/// Answer what an agent asks you
///
/// The first answer counts, wherever it is given. Without arguments, at a terminal, it shows the only open request and asks.
/// An agent cannot answer: the command refuses if one of its parent processes is an agent.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell answer 5f3a2b allow\n  snell answer 5f3a2b deny --message 'use make instead'\n  \
    snell answer 5f3a2b allow --remember project --until 2027-01-31\n  snell answer 5f3a2b 2\n  \
    snell answer 5f3a2b 1,3 'something else'\n  snell answer --forget 5f3a2b"
)]
pub(crate) struct Args {
    /// The request; the beginning of its id is enough
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// allow or deny; for questions, one choice number or text per question
    #[arg(value_name = "ANSWER")]
    answers: Vec<String>,
    /// A message to the agent, if you deny
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Allow the same call again: in this session, or in this project
    #[arg(long, value_name = "SCOPE", value_parser = ["session", "project"])]
    remember: Option<String>,
    /// Allow, and let the agent apply this one of its own suggestions from now on
    #[arg(long, value_name = "NUMBER")]
    suggestion: Option<usize>,
    /// Forget the answer that you remembered with this request (`snell requests --remembered`)
    #[arg(long, value_name = "ID", conflicts_with_all = ["id", "message", "remember", "suggestion"])]
    forget: Option<String>,
    /// The last day for which it is remembered [default: none]
    #[arg(long, value_name = "DATE", requires = "remember")]
    until: Option<Date>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open_for_writing()?;
    if session_arg::is_below_agent(&mut store_handle)? {
        let message = CommandError::new("an agent cannot answer requests");
        return Err(message.with_hint("run this command in a terminal of your own").into());
    }
    let typed_id = args.id.as_ref().or(args.forget.as_ref());
    if let Some(id) = typed_id.filter(|id| id.len() < MIN_ID_CHARS) {
        let message = CommandError::new(format!("the id \"{id}\" is too short"));
        return Err(message.with_hint(format!("write at least {MIN_ID_CHARS} characters of it")).into());
    }
    if let Some(id) = &args.forget {
        forget_answer(&mut store_handle, id)?;
        return Ok(DONE);
    }
    let request = match &args.id {
        Some(id) => find_request(&mut store_handle, id)?,
        None => find_only_request(&mut store_handle)?,
    };
    if request.status != RequestStatus::Open {
        return Err(report_closed(&request).into());
    }
    request.check_way().map_err(CommandError::from)?;
    let answer = if args.answers.is_empty() {
        ask_for_answer(args, &request)?
    } else {
        build_answer(args, &request, &args.answers)?
    };
    request.check_answer(&answer, Timestamp::now()).map_err(CommandError::from)?;
    let name = read_user_name().unwrap_or_else(|| "a user of this machine".to_owned());
    let author = AnswerAuthor { name, origin: AnswerOrigin::Terminal };
    let outcome = store_handle.write_with_retry(|store| {
        pane_input::answer_request(store, &request.uid, &answer, &author, Timestamp::now())
    })?;
    match outcome {
        AnswerOutcome::Accepted(closed) => {
            let is_typed_later = closed.channel == AnswerChannel::Pane && closed.delivered_at.is_none();
            let later = if is_typed_later { "; Snell types it in a moment" } else { "" };
            output::print_line(&format!("Request {}: {}{later}.", closed.uid, describe_choice(&answer)));
            Ok(DONE)
        }
        AnswerOutcome::TooLate(closed) => Err(report_closed(&closed).into()),
        AnswerOutcome::Refused(_, problem) => Err(CommandError::from(problem).into()),
        AnswerOutcome::Unknown => Err(CommandError::new("the request was removed").into()),
    }
}

/// The error about a request that cannot be answered any more.
fn report_closed(request: &RequestView) -> CommandError {
    let end = describe_end(request, Timestamp::now());
    CommandError::new(format!("request {} is closed: {end}", request.uid))
        .with_hint("run `snell requests` for the open ones")
}

/// The open request, if there is exactly one and a person can look at it before the answer.
fn find_only_request(store_handle: &mut StoreHandle) -> anyhow::Result<RequestView> {
    let mut open = load_requests(store_handle, &RequestFilter::open())?;
    open.retain(|request| request.answerable);
    match (open.len(), open.pop()) {
        (1, Some(request)) if question::can_ask() => Ok(request),
        (0, _) => {
            Err(CommandError::new("no request is open").with_hint("run `snell requests --all` for others").into())
        }
        (count, _) => {
            let are = if count == 1 { "is" } else { "are" };
            let text = format!("no request is named, and {} {are} open", output::format_count(count, "request"));
            Err(CommandError::new(text).with_hint("run `snell requests`, then `snell answer ID ANSWER`").into())
        }
    }
}

/// Shows the request and asks at the terminal.
fn ask_for_answer(args: &Args, request: &RequestView) -> anyhow::Result<RequestAnswer> {
    if !question::can_ask() {
        let hint = match request.kind {
            RequestKind::Permission => "add allow or deny",
            RequestKind::Question => "add a choice number or a text for each question",
        };
        return Err(CommandError::new("the answer is missing").with_hint(hint).into());
    }
    print_request(request, Timestamp::now());
    let parse = |text: &str| {
        let words: Vec<String> = text.split(';').map(|part| part.trim().to_owned()).collect();
        build_answer(args, request, &words)
    };
    let prompt = match request.kind {
        RequestKind::Permission => "Your answer, allow or deny",
        RequestKind::Question => "Your answers, with a semicolon between them",
    };
    question::ask_until_valid(prompt, "deny", parse)
}

/// The answer that these words stand for.
fn build_answer(args: &Args, request: &RequestView, words: &[String]) -> anyhow::Result<RequestAnswer> {
    let remember = args.remember.as_deref().map(|scope| RememberTerm {
        scope: if scope == "session" { RememberScope::Session } else { RememberScope::Project },
        until: args.until.map(time::end_of_day),
    });
    let answer = |choice, replies| RequestAnswer {
        choice,
        replies,
        message: args.message.clone(),
        remember: remember.clone(),
        suggestion: args.suggestion,
    };
    Ok(match (words, request.kind) {
        ([word], _) if word == "deny" => answer(AnswerChoice::Deny, Vec::new()),
        ([word], RequestKind::Permission) if word == "allow" => answer(AnswerChoice::Allow, Vec::new()),
        (_, RequestKind::Permission) => {
            let text = format!("\"{}\" is no answer to a permission", words.join(" "));
            return Err(CommandError::new(text).with_hint("answer allow or deny").into());
        }
        (words, RequestKind::Question) => answer(AnswerChoice::Reply, read_replies(request, words)?),
    })
}

/// The replies, with the labels of choices in place of their numbers.
fn read_replies(request: &RequestView, words: &[String]) -> anyhow::Result<Vec<String>> {
    let questions = request.questions();
    let reply = |(number, word): (usize, &String)| match questions.get(number) {
        Some(question) => read_choices(question, word),
        None => Ok(word.clone()),
    };
    words.iter().enumerate().map(reply).collect()
}

/// The labels of numbers such as `2` or `1,3`; any other text is itself.
fn read_choices(question: &RequestQuestion, word: &str) -> anyhow::Result<String> {
    let numbers: Option<Vec<usize>> = word.split(',').map(|part| part.trim().parse().ok()).collect();
    let Some(numbers) = numbers.filter(|_| !question.options.is_empty()) else {
        return Ok(word.to_owned());
    };
    if numbers.len() > 1 && !question.multi_select {
        return Err(CommandError::new("this question takes one choice").with_hint("write one number").into());
    }
    let label = |number: usize| {
        let option = number.checked_sub(1).and_then(|index| question.options.get(index));
        option.map(|option| option.label.clone()).ok_or_else(|| {
            CommandError::new(format!("there is no choice {number}"))
                .with_hint(format!("write a number from 1 to {}", question.options.len()))
        })
    };
    let labels = numbers.into_iter().map(label).collect::<Result<Vec<_>, _>>()?;
    Ok(labels.join(", "))
}

fn describe_choice(answer: &RequestAnswer) -> &'static str {
    match answer.choice {
        AnswerChoice::Allow if answer.remember.is_some() => "allowed, and remembered",
        AnswerChoice::Allow => "allowed",
        AnswerChoice::Deny => "denied",
        AnswerChoice::Reply => "answered",
    }
}
