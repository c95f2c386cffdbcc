//! The address of a PostgreSQL database, as the user writes it: `postgres://user:password@host1,host2/database?…`.

use std::fmt;
use std::future::poll_fn;
use std::str::FromStr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};

use super::tls::{TlsOptions, TlsVerification, build_tls};
use crate::error::{Result, StoreError};

/// How long each host may take to accept a connection, unless the address has `connect_timeout`.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long sent data may stay unacknowledged, unless the address has `tcp_user_timeout`.
const TCP_TIMEOUT: Duration = Duration::from_secs(20);

/// The address of a PostgreSQL database. Neither `Display` nor `Debug` shows the password.
#[derive(Clone)]
pub struct PostgresAddress {
    config: Box<Config>,
    tls: Box<TlsOptions>,
}

impl PostgresAddress {
    /// Whether the text is meant as such an address.
    pub fn has_scheme(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// Connects to the first host that accepts the connection and has the wanted role.
    pub(super) async fn connect(&self) -> Result<Client> {
        if self.config.get_ssl_mode() == SslMode::Disable {
            let (client, connection) = self.config.connect(NoTls).await?;
            // Its errors are those of the client's statements.
            tokio::spawn(async move { drop(connection.await) });
            return Ok(client);
        }
        let (client, connection) = self.config.connect(build_tls(&self.tls)?).await?;
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }

    /// Listens to a channel until the connection is lost. Calls the function now and after each notification.
    pub(super) async fn listen(&self, channel: &str, notified: &(dyn Fn() + Sync)) -> Result<()> {
        if self.config.get_ssl_mode() == SslMode::Disable {
            let (client, connection) = self.config.connect(NoTls).await?;
            return follow_notifications(client, connection, channel, notified).await;
        }
        let (client, connection) = self.config.connect(build_tls(&self.tls)?).await?;
        follow_notifications(client, connection, channel, notified).await
    }
}

async fn follow_notifications<S, T>(
    client: Client,
    mut connection: Connection<S, T>,
    channel: &str,
    notified: &(dyn Fn() + Sync),
) -> Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    let begin = async {
        client.batch_execute(&format!("LISTEN {channel}")).await?;
        notified();
        // The client stays: without it, the connection ends.
        std::future::pending::<Result<()>>().await
    };
    let follow = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(_) = message? {
                notified();
            }
        }
        Ok(())
    };
    tokio::select! {
        ended = begin => ended,
        ended = follow => ended,
    }
}

impl FromStr for PostgresAddress {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |why: String| StoreError::Database(format!("invalid address of a PostgreSQL database: {why}"));
        if !Self::has_scheme(text) {
            return Err(refuse("it does not begin with postgres://".into()));
        }
        let (base, options) = text.split_once('?').unwrap_or((text, ""));
        let (mut tls, mut kept, mut ssl_mode) = (TlsOptions::default(), Vec::new(), SslMode::Prefer);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match (name, value) {
                ("sslmode", "disable") => ssl_mode = SslMode::Disable,
                ("sslmode", "allow" | "prefer") => ssl_mode = SslMode::Prefer,
                ("sslmode", "require") => ssl_mode = SslMode::Require,
                ("sslmode", "verify-ca") => (ssl_mode, tls.verification) = (SslMode::Require, TlsVerification::Chain),
                ("sslmode", "verify-full") => (ssl_mode, tls.verification) = (SslMode::Require, TlsVerification::Full),
                ("sslmode", other) => {
                    let words = "disable, allow, prefer, require, verify-ca or verify-full";
                    return Err(refuse(format!("sslmode is \"{other}\", but must be {words}")));
                }
                ("sslrootcert", "system") => {}
                ("sslrootcert", path) => tls.root_file = Some(decode_percent(path)),
                ("sslcert", path) => tls.certificate_file = Some(decode_percent(path)),
                ("sslkey", path) => tls.key_file = Some(decode_percent(path)),
                ("target_session_attrs", "primary") => kept.push("target_session_attrs=read-write"),
                ("target_session_attrs", "standby") => kept.push("target_session_attrs=read-only"),
                _ => kept.push(option),
            }
        }
        if tls.root_file.is_some() && ssl_mode == SslMode::Require && tls.verification == TlsVerification::Nothing {
            // As libpq does.
            tls.verification = TlsVerification::Chain;
        }
        let rest = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
        let mut config: Config = rest.parse().map_err(|error| refuse(describe_parse_error(&error)))?;
        config.ssl_mode(ssl_mode);
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host("localhost");
        }
        if config.get_application_name().is_none() {
            config.application_name("snell");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(TCP_TIMEOUT);
        }
        Ok(Self { config: Box::new(config), tls: Box::new(tls) })
    }
}

/// The causes of an error. They name options, and have no values.
fn describe_parse_error(error: &tokio_postgres::Error) -> String {
    crate::error::format_error_chain(error)
}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = self.config.get_ports();
        for (number, host) in self.config.get_hosts().iter().enumerate() {
            if number > 0 {
                f.write_str(",")?;
            }
            match host {
                Host::Tcp(name) => f.write_str(name)?,
                Host::Unix(path) => write!(f, "{}", path.display())?,
            }
            if let Some(port) = ports.get(number).or(ports.first()).filter(|port| **port != 5432) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().or(self.config.get_user()).unwrap_or_default())
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresAddress({self})")
    }
}

/// Decodes `%41`.
fn decode_percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_passwords() {
        for (written, shown) in [
            ("postgres://ann:pass-word@db.example/team", "postgres://ann@db.example/team"),
            (
                "postgresql://ann:p%40ss@a:5433,b:5434/team?target_session_attrs=primary",
                "postgres://ann@a:5433,b:5434/team",
            ),
            ("postgres://ann@%2Frun%2Fpostgresql/team?sslmode=disable", "postgres://ann@/run/postgresql/team"),
            ("postgres://db/team?user=ann&password=pass-word&sslmode=verify-full", "postgres://ann@db/team"),
        ] {
            let address: PostgresAddress = written.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert!(!format!("{address:?} {address:#?}").contains("ss-word"), "{address:?}");
        }
    }

    #[test]
    fn errors_name_the_option_without_its_value() {
        for (written, expected) in [
            ("mysql://db/team", "it does not begin with postgres://"),
            ("postgres://db/team?sslmode=maybe", "sslmode is \"maybe\""),
            ("postgres://ann:pass-word@db:port/team", "port"),
            ("postgres://ann:pass-word@db/team?color=red", "color"),
        ] {
            let error = written.parse::<PostgresAddress>().unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("pass-word"), "{error}");
        }
    }

    #[test]
    fn a_root_certificate_is_used_as_by_other_programs() {
        let verification = |options: &str| {
            let address: PostgresAddress = format!("postgres://db/team?{options}").parse().unwrap();
            address.tls.verification
        };
        assert_eq!(verification("sslmode=require"), TlsVerification::Nothing);
        assert_eq!(verification("sslmode=require&sslrootcert=ca.pem"), TlsVerification::Chain);
        assert_eq!(verification("sslmode=verify-ca"), TlsVerification::Chain);
        assert_eq!(verification("sslmode=verify-full&sslrootcert=ca.pem"), TlsVerification::Full);
    }
}
