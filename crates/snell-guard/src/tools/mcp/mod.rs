//! Tools of MCP servers. They may have any name, so they are judged by the kind of server, the verb in the tool's name,
//! and the input. If a program does the same, the call is turned into its command line, so that one set of tables
//! judges
//! both.
//!
//! A mention is not a use: a text that is only stored or shown is checked for secrets and nothing else.

pub(crate) mod analyzers;
mod findings;
mod request;
mod tables;
mod tool_name;

use serde_json::Value as Json;

pub(super) use tool_name::McpToolName;

use crate::judge::CallAnalysis;
use crate::judge::context::JudgeContext;
use crate::policy::entries::EntryPattern;
use findings::FindingSink;
use request::McpRequest;

/// Analyses a request. Returns true if it is understood, so that later analyzers are skipped.
type RequestAnalyzer = fn(&McpRequest<'_>, &mut FindingSink<'_>) -> bool;

/// Analyzers of a tool's main effect: the first one that understands the request decides.
const PRIMARY_ANALYZERS: &[RequestAnalyzer] = &[
    analyzers::git::analyze_git,
    analyzers::kubernetes::analyze_kubernetes,
    analyzers::database::analyze_database,
    analyzers::code::analyze_code_execution,
    analyzers::cli::analyze_cli,
    analyzers::destructive_verbs::analyze_destructive_verb,
];

/// Analyzers of further effects.
const ADDITIONAL_ANALYZERS: &[RequestAnalyzer] = &[
    analyzers::embedded_commands::analyze_embedded_commands,
    analyzers::files::analyze_files,
    analyzers::web::analyze_web_request,
    analyzers::secret_stores::analyze_secret_stores,
    analyzers::exfiltration::analyze_exfiltration,
];

/// Analyses a call of an MCP tool.
pub(super) fn analyze_mcp_call(
    named: &McpToolName,
    input: &Json,
    permits: &[Option<EntryPattern>],
    context: &JudgeContext,
    analysis: &mut CallAnalysis,
) {
    // Some agents pass a server's input as a string.
    let written = input.as_str().and_then(|text| serde_json::from_str(text).ok());
    let request = McpRequest::new(named, written.as_ref().unwrap_or(input));
    let mut sink = FindingSink::new(permits, context, analysis);
    let _ = PRIMARY_ANALYZERS.iter().any(|look| look(&request, &mut sink));
    for look in ADDITIONAL_ANALYZERS {
        look(&request, &mut sink);
    }
}
