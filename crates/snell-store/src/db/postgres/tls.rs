//! TLS to the database, by the words that PostgreSQL's own programs use.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::{Result, StoreError};

/// The checked part of the server's certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TlsVerification {
    /// Nothing: `prefer` and `require` protect against listeners only.
    #[default]
    Nothing,
    /// The chain to a known root.
    Chain,
    /// The chain, and the name of the host.
    Full,
}

/// The options of TLS in an address.
#[derive(Clone, Debug, Default)]
pub(super) struct TlsOptions {
    pub(super) verification: TlsVerification,
    /// The root certificates; without it, those that browsers trust.
    pub(super) root_file: Option<String>,
    /// The certificate and the key of this client.
    pub(super) certificate_file: Option<String>,
    pub(super) key_file: Option<String>,
}

/// Builds the connector.
pub(super) fn build_tls(options: &TlsOptions) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(ring::default_provider());
    let refuse = |error: &dyn std::fmt::Display| StoreError::Database(format!("cannot use TLS: {error}"));
    let chain = match options.verification {
        TlsVerification::Nothing => None,
        TlsVerification::Chain | TlsVerification::Full => {
            let roots = load_roots(options.root_file.as_deref())?;
            let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
            Some(verifier.map_err(|error| refuse(&error))?)
        }
    };
    let is_name_checked = options.verification == TlsVerification::Full;
    let verifier = DatabaseVerifier { chain, is_name_checked, provider: provider.clone() };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| refuse(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match (&options.certificate_file, &options.key_file) {
        (Some(certificate), Some(key)) => {
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| refuse_file(key, &error))?;
            builder.with_client_auth_cert(load_certificates(certificate)?, key).map_err(|error| refuse(&error))?
        }
        _ => builder.with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

fn load_roots(file: Option<&str>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    let Some(file) = file else {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        return Ok(roots);
    };
    for certificate in load_certificates(file)? {
        roots.add(certificate).map_err(|error| refuse_file(file, &error))?;
    }
    Ok(roots)
}

fn load_certificates(file: &str) -> Result<Vec<CertificateDer<'static>>> {
    let certificates = CertificateDer::pem_file_iter(Path::new(file)).map_err(|error| refuse_file(file, &error))?;
    certificates.collect::<std::result::Result<_, _>>().map_err(|error| refuse_file(file, &error))
}

fn refuse_file(file: &str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Database(format!("cannot use {file} for TLS: {error}"))
}

/// Checks as much of the server's certificate as the user wants.
#[derive(Debug)]
struct DatabaseVerifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    is_name_checked: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for DatabaseVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The chain is checked before the name.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.is_name_checked => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
