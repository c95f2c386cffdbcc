//! What MCP servers offer. Their tools have any name, so they are judged by class: what the server is about, which verb
//! the tool's name holds, and what it is given. Wherever a program does the same, the call is turned into its command
//! line, so that one set of tables judges both.
//!
//! A mention is not a use: a text that only is kept or shown is read for secrets and for nothing else.

pub(crate) mod analyzers;
mod findings;
mod request;
mod tables;
mod tool_name;

use serde_json::Value as Json;

pub(super) use tool_name::McpToolName;

use crate::judge::CallAnalysis;
use crate::judge::context::JudgeContext;
use crate::policy::allow_list::CommandPattern;
use findings::FindingSink;
use request::McpRequest;

/// One way of looking at a request. True if it is understood, and what comes after it need not look.
type RequestAnalyzer = fn(&McpRequest<'_>, &mut FindingSink<'_>) -> bool;

/// What a tool does: the first that understands it has the word.
const PRIMARY_ANALYZERS: &[RequestAnalyzer] = &[
    analyzers::git::analyze_git,
    analyzers::kubernetes::analyze_kubernetes,
    analyzers::database::analyze_database,
    analyzers::code::analyze_code_execution,
    analyzers::cli::analyze_cli,
    analyzers::destructive_verbs::analyze_destructive_verb,
];

/// What else a tool may do at the same time.
const ADDITIONAL_ANALYZERS: &[RequestAnalyzer] = &[
    analyzers::embedded_commands::analyze_embedded_commands,
    analyzers::files::analyze_files,
    analyzers::web::analyze_web_request,
    analyzers::secret_stores::analyze_secret_stores,
    analyzers::exfiltration::analyze_exfiltration,
];

/// What a tool of a server would do.
pub(super) fn analyze_mcp_call(
    named: &McpToolName,
    input: &Json,
    permits: &[Option<CommandPattern>],
    context: &JudgeContext,
    analysis: &mut CallAnalysis,
) {
    // Some agents hand on what a server is given as a text.
    let written = input.as_str().and_then(|text| serde_json::from_str(text).ok());
    let request = McpRequest::new(named, written.as_ref().unwrap_or(input));
    let mut sink = FindingSink::new(permits, context, analysis);
    let _ = PRIMARY_ANALYZERS.iter().any(|look| look(&request, &mut sink));
    for look in ADDITIONAL_ANALYZERS {
        look(&request, &mut sink);
    }
}
