//! Pictures for the documentation, made from the running product.

use std::fs;
use std::path::Path;

use crate::driver::Browser;
use crate::live::look_at;
use crate::server::Server;
use crate::story;

/// A picture is a part of the repository, and stays small.
const MAX_BYTES: usize = 150 * 1024;

#[test]
fn the_picture_of_the_page_is_made_from_the_running_page() {
    let Some(browser) = Browser::open() else { return };
    let server = Server::start();
    story::told_to(&server);
    browser.prefers("light");
    browser.is_as_large_as(1100, 560);
    look_at(&browser, &server, "/");
    let picture = decoded(&browser.picture());
    assert_eq!(picture[..8], *b"\x89PNG\r\n\x1a\n");
    assert!(picture.len() <= MAX_BYTES, "{} bytes", picture.len());
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures/page.png");
    if std::env::var_os("SNELL_BLESS").is_some() {
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(&kept, &picture).unwrap();
    }
    let kept = fs::read(&kept).expect("docs/pictures/page.png is made with SNELL_BLESS=1");
    assert!(kept.starts_with(b"\x89PNG") && kept.len() <= MAX_BYTES);
}

/// Bytes from base64.
fn decoded(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = text.bytes().filter(|letter| *letter != b'=');
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0_u32);
    for letter in letters {
        let value = LETTERS.iter().position(|other| *other == letter).unwrap();
        bits = (bits << 6 | value as u32) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}
