//! The key of a data directory. It signs links that answer one request, and the values that forms of the page carry.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use snell::Timestamp;
use snell_store::requests::AnswerChoice;

use super::hmac::compute_hmac;
use crate::http::errors::{HttpError, format_error_chain};
use crate::http::token::{AccessToken, TokenError, read_token_file, to_hex};

/// The file in the data directory.
const FILE_NAME: &str = "answers.key";

/// The length of a new key.
const KEY_BYTES: usize = 32;

/// The length of the random part of a temporary file's name.
const NAME_BYTES: usize = 8;

/// The key of a data directory.
#[derive(Clone)]
pub struct AnswerKey {
    secret: String,
}

impl std::fmt::Debug for AnswerKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnswerKey(…)")
    }
}

/// A link that gives one answer to one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerLink {
    /// The request.
    pub uid: String,
    /// The only answer that the link can give.
    pub choice: AnswerChoice,
    /// When the link ends, in seconds.
    pub expires_at: i64,
}

impl AnswerLink {
    /// Whether the link has ended.
    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now.as_second()
    }

    /// The part of a link before its signature.
    fn to_text(&self) -> String {
        format!("{}.{}.{}", self.uid, self.choice, self.expires_at)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (uid, choice, expires_at) = (parts.next()?, parts.next()?, parts.next()?);
        let choice = AnswerChoice::parse(choice)?;
        let link = Self { uid: uid.to_owned(), choice, expires_at: expires_at.parse().ok()? };
        // Other spellings of the same link, such as a number with a sign, are no links.
        (link.to_text() == text).then_some(link)
    }
}

impl AnswerKey {
    /// The key of this data directory. A new one is created if there is none.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or created, or other users can read it.
    pub fn load_or_create(directory: &Path) -> Result<Self, TokenError> {
        let path = directory.join(FILE_NAME);
        if !path.exists() {
            create_key_file(&path).map_err(|source| TokenError::Unreadable { path: path.clone(), source })?;
        }
        read_token_file(&path).map(|secret| Self { secret })
    }

    /// The link as the last part of a path.
    pub fn sign_link(&self, link: &AnswerLink) -> String {
        let text = link.to_text();
        format!("{text}.{}", self.sign("link", &text))
    }

    /// The link in the last part of a path, if this key has signed it.
    pub(crate) fn verify_link(&self, signed: &str) -> Option<AnswerLink> {
        let (text, signature) = signed.rsplit_once('.')?;
        let expected = AccessToken::new(self.sign("link", text));
        expected.matches(signature.as_bytes()).then(|| AnswerLink::parse(text))?
    }

    /// The value that a form of the page must carry for a client. Pages of other sites cannot read it.
    pub(crate) fn form_value(&self, client: &str) -> String {
        self.sign("form", client)
    }

    /// Whether this is the value of a form for a client.
    pub(crate) fn accepts_form_value(&self, client: &str, shown: &str) -> bool {
        AccessToken::new(self.form_value(client)).matches(shown.as_bytes())
    }

    fn sign(&self, purpose: &str, text: &str) -> String {
        compute_hmac(self.secret.as_bytes(), format!("{purpose}\n{text}").as_bytes())
    }
}

/// Random bytes of the system.
pub(crate) fn read_random_bytes<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut random = [0; COUNT];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(random)
}

/// Creates the key file. If another process creates one at the same time, that one stays.
fn create_key_file(path: &Path) -> io::Result<()> {
    let random: [u8; KEY_BYTES + NAME_BYTES] = read_random_bytes()?;
    let (text, name) = (to_hex(&random[..KEY_BYTES]), to_hex(&random[KEY_BYTES..]));
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{name}"));
    let temporary = PathBuf::from(temporary);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| match fs::hard_link(&temporary, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let _ = fs::remove_file(&temporary);
    linked
}

/// The key of a data directory, read when it is first needed.
#[derive(Debug)]
pub(crate) struct LazyAnswerKey {
    directory: PathBuf,
    key: OnceLock<AnswerKey>,
}

impl LazyAnswerKey {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), key: OnceLock::new() }
    }

    /// The key; without it, no answer can be given through a form or a link.
    pub(crate) fn get(&self) -> Result<&AnswerKey, HttpError> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        match AnswerKey::load_or_create(&self.directory) {
            Ok(key) => Ok(self.key.get_or_init(|| key)),
            Err(error) => {
                tracing::warn!(error = format_error_chain(&error), "cannot use the key of answers");
                Err(HttpError::busy("the key of answers cannot be used"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn sample_link(choice: AnswerChoice) -> AnswerLink {
        AnswerLink { uid: "0123456789ab".into(), choice, expires_at: 1_800_000_000 }
    }

    #[test]
    fn only_the_link_that_was_signed_is_valid() {
        let directory = tempfile::tempdir().unwrap();
        let key = AnswerKey::load_or_create(directory.path()).unwrap();
        let link = sample_link(AnswerChoice::Deny);
        let signed = key.sign_link(&link);
        assert_eq!(key.verify_link(&signed), Some(link.clone()));
        let (text, signature) = signed.rsplit_once('.').unwrap();
        let forged = [
            signed.replace("deny", "allow"),
            signed.replace("0123456789ab", "0123456789ac"),
            signed.replace("1800000000", "1900000000"),
            signed.replace("1800000000", "+1800000000"),
            format!("{text}.{}", signature.to_uppercase()),
            format!("{text}.{}", &signature[1..]),
            format!("{text}."),
            text.to_owned(),
            String::new(),
            format!("{}.{}", text, key.form_value(text)),
        ];
        for forged in forged {
            assert_eq!(key.verify_link(&forged), None, "{forged}");
        }
        let other = AnswerKey::load_or_create(tempfile::tempdir().unwrap().path()).unwrap();
        assert_eq!(other.verify_link(&signed), None);
    }

    #[test]
    fn a_key_is_created_once_and_only_its_owner_can_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let keys: Vec<_> = std::thread::scope(|scope| {
            let load = || AnswerKey::load_or_create(directory.path()).unwrap().secret;
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(load)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0] && key.len() == 2 * KEY_BYTES), "{keys:?}");
        let names: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [FILE_NAME]);
        let path = directory.path().join(FILE_NAME);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(AnswerKey::load_or_create(directory.path()).is_err());
    }
}
