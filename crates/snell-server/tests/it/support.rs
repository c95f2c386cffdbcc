//! A server for one test.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use snell::Timestamp;
use snell_server::{ServeError, ServeSettings, ServerListener, serve};
use snell_store::Store;
use snell_store::requests::{AnswerChannel, NewRequest, RememberScope, RememberedAnswer, RequestKind, RequestOrigin};
use snell_test_support::http::{HttpRequest, HttpResponse};
use snell_test_support::sse::SseClient;
use snell_test_support::wait::WAIT_TIMEOUT;
use tempfile::TempDir;
use tokio::sync::oneshot;

/// A server and its data directory.
pub struct TestApp {
    pub directory: TempDir,
    pub address: SocketAddr,
    settings: ServeSettings,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl TestApp {
    /// A server with default settings.
    pub fn start() -> Self {
        Self::with_settings(|_| {})
    }

    /// A server with other settings.
    pub fn with_settings(change: impl FnOnce(&mut ServeSettings)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut settings = ServeSettings::new(directory.path());
        change(&mut settings);
        Self::in_directory(directory, settings, "127.0.0.1:0")
    }

    /// A server with default settings on another address.
    pub fn with_address(address: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let settings = ServeSettings::new(directory.path());
        Self::in_directory(directory, settings, address)
    }

    fn in_directory(directory: TempDir, settings: ServeSettings, address: &str) -> Self {
        let listener = ServerListener::bind(address.parse().unwrap()).unwrap();
        let (ready, is_ready) = channel();
        let address = listener.address();
        let listener = listener.with_ready_callback(move |_| ready.send(()).unwrap());
        let (stop, stopped) = oneshot::channel();
        let of_thread = settings.clone();
        let thread = std::thread::spawn(move || run_server(of_thread, listener, stopped));
        if is_ready.recv_timeout(WAIT_TIMEOUT).is_err() {
            panic!("the server did not start: {:?}", thread.join());
        }
        Self { directory, address, settings, stop: Some(stop), thread: Some(thread) }
    }

    /// Stops the server and waits for its end.
    pub fn stop(&mut self) {
        // It may have ended already.
        let _ = self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }

    /// Starts a shutdown without waiting.
    pub fn request_stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Restarts the server in the same directory.
    pub fn restart(mut self) -> Self {
        self.stop();
        let directory = std::mem::replace(&mut self.directory, tempfile::tempdir().unwrap());
        Self::in_directory(directory, self.settings.clone(), "127.0.0.1:0")
    }

    /// The error of a server that cannot start.
    pub fn start_error(settings: ServeSettings, address: &str) -> String {
        let listener = ServerListener::bind(address.parse().unwrap()).unwrap();
        run_server(settings, listener, oneshot::channel().1).unwrap_err().to_string()
    }

    pub fn data_dir(&self) -> &Path {
        self.directory.path()
    }

    pub fn socket_path(&self) -> PathBuf {
        self.data_dir().join("snell.sock")
    }

    pub fn database_path(&self) -> PathBuf {
        self.data_dir().join("snell.db")
    }

    /// A request to build.
    pub fn request(&self, method: &str, path: &str) -> HttpRequest {
        HttpRequest::new(self.address, method, path)
    }

    pub fn get(&self, path: &str) -> HttpResponse {
        self.request("GET", path).send()
    }

    /// The JSON of an existing resource.
    pub fn get_json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    /// Sends an event.
    pub fn post_hook(&self, route: &str, body: &Value) -> HttpResponse {
        HttpRequest::for_hook(self.address, route, body).send()
    }

    /// Sends an event that must be accepted, and returns the response.
    pub fn send_event(&self, route: &str, body: &Value) -> Value {
        let answer = self.post_hook(route, body);
        assert_eq!(answer.status, 200, "{route}: {}", answer.body);
        answer.json()
    }

    /// Starts a session in its own directory.
    pub fn begin_session(&self, session: &str) -> Value {
        let cwd = self.data_dir().join("projects").join(session);
        self.send_event("session-start", &json!({"session_id": session, "cwd": cwd}))
    }

    /// Opens a stream; the query starts with a question mark.
    pub fn open_stream(&self, query: &str) -> SseClient {
        self.open_stream_after(query, None)
    }

    /// Opens a stream after this change.
    pub fn open_stream_after(&self, query: &str, seen: Option<&str>) -> SseClient {
        let mut request = self.request("GET", &format!("/api/events/stream{query}")).without_chunking();
        if let Some(seen) = seen {
            request = request.header(&format!("Last-Event-ID: {seen}"));
        }
        SseClient::open(&request)
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}

/// A request that a test has opened, as a hook does.
pub struct OpenRequest {
    pub uid: String,
    pub request_id: i64,
}

impl OpenRequest {
    /// A permission for `make`, of an agent that is known.
    pub fn open(app: &TestApp, agent_id: i64) -> Self {
        Self::open_with(app, agent_id, |_| {})
    }

    pub fn open_with(app: &TestApp, agent_id: i64, change: impl FnOnce(&mut NewRequest)) -> Self {
        let opened_at = Timestamp::now();
        let mut request = NewRequest {
            kind: RequestKind::Permission,
            origin: RequestOrigin::Agent,
            channel: AnswerChannel::Reply,
            agent_id,
            session_id: Some("s1".to_owned()),
            event_id: None,
            tool: Some("Bash".to_owned()),
            tool_use_id: None,
            title: "Bash: make".to_owned(),
            detail: json!({"input": {"command": "make"}, "cwd": "/work/shop"}),
            opened_at,
            expires_at: opened_at + Duration::from_secs(600),
            waiter: None,
        };
        change(&mut request);
        let mut store = Store::open(&app.database_path()).unwrap().store;
        let request = store.open_request(&request).unwrap();
        Self { uid: request.uid, request_id: request.request_id }
    }

    pub fn api_path(&self) -> String {
        format!("/api/requests/{}", self.uid)
    }
}

/// Remembers the answer to a request, as a hook does.
pub fn remember_call(app: &TestApp, request_uid: &str) {
    let remembered = RememberedAnswer {
        request_uid: request_uid.to_owned(),
        scope: RememberScope::Project,
        scope_key: "/work/shop".to_owned(),
        tool: "Bash".to_owned(),
        subject: request_uid.to_owned(),
        title: "Bash: make".to_owned(),
        asked_by: vec!["rule make".to_owned()],
        created_at: Timestamp::now(),
        until: None,
    };
    Store::open(&app.database_path()).unwrap().store.remember_answer(&remembered).unwrap();
}

fn run_server(
    settings: ServeSettings,
    listener: ServerListener,
    stopped: oneshot::Receiver<()>,
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(serve(settings, listener, stopped))
}
