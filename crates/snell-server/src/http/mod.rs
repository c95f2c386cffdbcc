//! A request's way through the server: listener, connection limits, middleware, gate, routes and errors.

pub(crate) mod acceptor;
pub(crate) mod connection_owner;
pub(crate) mod errors;
pub(crate) mod gate;
pub(crate) mod listener;
pub(crate) mod middleware;
pub(crate) mod proxy_identity;
pub(crate) mod query_params;
pub(crate) mod rfc3339;
pub(crate) mod routes;
pub(crate) mod tls;
pub(crate) mod token;
pub(crate) mod write_timeout;
