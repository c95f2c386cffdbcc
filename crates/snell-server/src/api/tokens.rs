//! Tokens of people and machines, for those who may administer them.

use axum::extract::{RawQuery, Request, State};
use axum::http::Uri;
use serde::{Deserialize, Serialize};
use snell::{Timestamp, UserMessage};

use super::{ApiResult, respond_json};
use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::{HttpError, format_error_chain};
use crate::http::query_params::QueryParams;
use crate::ingest::body;
use crate::tokens::{AccessRole, IssuedToken, NamedTokens, TokenFileError, TokenSummary};

/// `GET /api/tokens`: all of them, without the tokens themselves.
pub(crate) async fn list_tokens(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> ApiResult {
    QueryParams::parse(query.as_deref(), &[])?;
    let tokens = use_tokens(&app, |tokens| tokens.list()).await?;
    #[derive(Serialize)]
    struct TokenPage<'t> {
        items: Vec<TokenSummary<'t>>,
    }
    respond_json(&TokenPage { items: tokens.iter().map(TokenSummary::from).collect() })
}

/// A token to create.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewTokenBody {
    name: String,
    role: AccessRole,
}

/// `POST /api/tokens`: creates one. Only this response has the token.
pub(crate) async fn create_token(State(app): State<SharedAppState>, request: Request) -> ApiResult {
    let (text, _permit) = body::read_json_body(request, app.settings.body_timeout, &app.body_budget).await?;
    let wanted: NewTokenBody = serde_json::from_slice(&text).map_err(|error| {
        let message = UserMessage::new(format!("the request body is not a token: {error}"));
        HttpError::bad_request(message.with_hint("send an object such as {\"name\": \"ada\", \"role\": \"look\"}"))
    })?;
    let create = move |tokens: &NamedTokens| tokens.create(&wanted.name, wanted.role, Timestamp::now());
    let IssuedToken { stored, text } = use_tokens(&app, create).await?;
    #[derive(Serialize)]
    struct CreatedToken<'t> {
        #[serde(flatten)]
        stored: TokenSummary<'t>,
        token: &'t str,
    }
    respond_json(&CreatedToken { stored: TokenSummary::from(&stored), token: &text })
}

/// `POST /api/tokens/{id}/revoke`
pub(crate) async fn revoke_token(State(app): State<SharedAppState>, uri: Uri) -> ApiResult {
    QueryParams::parse(uri.query(), &[])?;
    let id = uri.path().split('/').nth(3).unwrap_or_default().to_owned();
    let revoked = use_tokens(&app, move |tokens| tokens.revoke(&id)).await?;
    respond_json(&TokenSummary::from(&revoked))
}

/// Reads or changes the file of the tokens, which may wait for another process.
async fn use_tokens<T: Send + 'static>(
    app: &AppState,
    work: impl FnOnce(&NamedTokens) -> Result<T, TokenFileError> + Send + 'static,
) -> Result<T, HttpError> {
    let tokens = NamedTokens::in_directory(&app.settings.directory);
    let done = tokio::task::spawn_blocking(move || work(&tokens)).await;
    let done = done.map_err(|_| HttpError::busy("the server is shutting down"))?;
    done.map_err(|error| match error {
        TokenFileError::Unknown { .. } => HttpError::NotFound(error.to_string().into()),
        TokenFileError::InvalidName | TokenFileError::NameInUse { .. } | TokenFileError::TooMany => {
            HttpError::bad_request(error.to_string())
        }
        other => HttpError::busy(format_error_chain(&other)),
    })
}
