//! TLS in the server itself. A renewed certificate is used without a restart.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use snell::{FileAccess, RegularFile};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::http::errors::{ServeError, format_error_chain};

/// How often new connections check whether the files have changed.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// The only protocol that the server speaks.
const HTTP_1_1: &[u8] = b"http/1.1";

/// A certificate and its key, as PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain of certificates, the server's own first.
    pub certificate: PathBuf,
    /// The private key of the first one.
    pub key: PathBuf,
}

/// Longer files are cut, and then invalid.
const MAX_PEM_BYTES: u64 = 1024 * 1024;

/// Properties that change with the files.
type FileStamps = [Option<(u64, i64, i64)>; 2];

impl TlsFiles {
    /// Reads both files.
    pub(crate) fn load(&self) -> Result<TlsCertificate, ServeError> {
        let stamps = self.read_stamps();
        let loaded = LoadedCertificate { stamps, acceptor: self.build_acceptor()?, checked: Instant::now() };
        Ok(TlsCertificate { files: self.clone(), loaded: Arc::new(Mutex::new(loaded)) })
    }

    fn read_stamps(&self) -> FileStamps {
        [&self.certificate, &self.key].map(|path| {
            let found = fs::metadata(path).ok()?;
            Some((found.ino(), found.mtime(), found.mtime_nsec()))
        })
    }

    fn build_acceptor(&self) -> Result<TlsAcceptor, ServeError> {
        let fail = |why: String| ServeError::Tls { certificate: self.certificate.clone(), key: self.key.clone(), why };
        let (chain, _) = read_pem(&self.certificate).map_err(|error| fail(format!("the certificate: {error}")))?;
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&chain).collect();
        let chain = chain.map_err(|error| fail(format!("the certificate: {error}")))?;
        let (key, mode) = read_pem(&self.key).map_err(|error| fail(format!("the key: {error}")))?;
        if mode & 0o007 != 0 {
            return Err(fail("every user of this machine can read the key".into()));
        }
        let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| fail(format!("the key: {error}")))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| fail(error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| fail(error.to_string()))?;
        config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// The text of a file, and its permissions.
fn read_pem(path: &Path) -> io::Result<(Vec<u8>, u32)> {
    let file = RegularFile::open(path, FileAccess::Read)?;
    let mode = file.metadata().permissions().mode();
    Ok((file.read_prefix(MAX_PEM_BYTES)?.0, mode))
}

/// The certificate that new connections get.
#[derive(Clone)]
pub(crate) struct TlsCertificate {
    files: TlsFiles,
    loaded: Arc<Mutex<LoadedCertificate>>,
}

struct LoadedCertificate {
    stamps: FileStamps,
    acceptor: TlsAcceptor,
    checked: Instant,
}

impl TlsCertificate {
    /// The acceptor of a new connection. Files that cannot be used leave the old certificate in use.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.checked.elapsed() >= CHECK_INTERVAL {
            loaded.checked = Instant::now();
            let stamps = self.files.read_stamps();
            if loaded.stamps != stamps {
                match self.files.build_acceptor() {
                    Ok(acceptor) => (loaded.acceptor, loaded.stamps) = (acceptor, stamps),
                    Err(error) => {
                        tracing::warn!(error = format_error_chain(&error), "keeping the old certificate");
                    }
                }
            }
        }
        loaded.acceptor.clone()
    }
}
