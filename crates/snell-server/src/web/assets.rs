//! Scripts, styles and icons. They are part of the program, so there is nothing to install or to load from elsewhere.
//!
//! All files are below a path with their version, so browsers may cache them forever, and scripts can import each other
//! by relative names.

use std::sync::LazyLock;

use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, Uri};
use axum::response::Response;
use sha2::{Digest, Sha256};

use crate::http::errors::HttpError;
use crate::http::routes::response_with_type;

/// One file.
struct StaticAsset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

/// A file of `assets/`, with its type.
macro_rules! asset {
    ($name:literal, $kind:literal) => {
        StaticAsset { name: $name, kind: $kind, text: include_str!(concat!("../../assets/", $name)) }
    };
}

/// All files.
const ASSETS: &[StaticAsset] = &[
    asset!("page.css", "text/css; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
    asset!("icon-waiting.svg", "image/svg+xml"),
    asset!("page.js", "text/javascript; charset=utf-8"),
    asset!("live.js", "text/javascript; charset=utf-8"),
    asset!("connection.js", "text/javascript; charset=utf-8"),
    asset!("line.js", "text/javascript; charset=utf-8"),
    asset!("stream.js", "text/javascript; charset=utf-8"),
    asset!("worker.js", "text/javascript; charset=utf-8"),
    asset!("regions.js", "text/javascript; charset=utf-8"),
    asset!("merge.js", "text/javascript; charset=utf-8"),
    asset!("times.js", "text/javascript; charset=utf-8"),
    asset!("notices.js", "text/javascript; charset=utf-8"),
    asset!("keys.js", "text/javascript; charset=utf-8"),
    asset!("timeline.js", "text/javascript; charset=utf-8"),
    asset!("log.js", "text/javascript; charset=utf-8"),
    asset!("search.js", "text/javascript; charset=utf-8"),
];

/// Cache header of files that never change.
const IMMUTABLE_CACHE_CONTROL: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// A hash of all files.
pub(super) static ASSETS_VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for asset in ASSETS {
        digest.update(asset.name);
        digest.update(asset.text);
    }
    let digest = digest.finalize();
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
});

/// The address of a file.
pub(super) fn build_asset_url(name: &str) -> String {
    format!("/assets/{}/{name}", *ASSETS_VERSION)
}

/// `GET /assets/{version}/{name}`. For another version, the response is the current file, without caching.
pub(crate) async fn get_asset(uri: Uri) -> Result<Response, HttpError> {
    let mut parts = uri.path().split('/').skip(2);
    let (version, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let asset = asset.ok_or_else(|| HttpError::NotFound("there is no such file".into()))?;
    let mut answer = response_with_type(asset.kind, asset.text);
    if version == *ASSETS_VERSION {
        answer.headers_mut().insert(CACHE_CONTROL, IMMUTABLE_CACHE_CONTROL);
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_import_only_what_is_served() {
        let is_script = |asset: &&StaticAsset| asset.name.ends_with(".js");
        for script in ASSETS.iter().filter(is_script) {
            for named in script.text.split("\"./").skip(1) {
                let name = named.split('"').next().unwrap();
                assert!(ASSETS.iter().any(|asset| asset.name == name), "{}: {name}", script.name);
            }
        }
    }

    #[test]
    fn scripts_make_no_markup_from_text() {
        let forbidden = ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"];
        for asset in ASSETS {
            for word in forbidden {
                assert!(!asset.text.contains(word), "{}: {word}", asset.name);
            }
        }
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        for asset in ASSETS {
            let text = asset.text.replace("http://www.w3.org/2000/svg", "");
            for word in ["http://", "https://", "@import", "url("] {
                assert!(!text.contains(word), "{}: {word}", asset.name);
            }
        }
    }
}
