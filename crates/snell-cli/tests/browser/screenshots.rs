//! Screenshots for the documentation.

use std::fs;

use snell_test_support::files::find_repository_root;

use crate::agent_story;
use crate::driver::BrowserSession;
use crate::live::open_live_page;
use crate::server::BrowserTestServer;

/// The pictures are in the repository, so they must be small.
const MAX_BYTES: usize = 100 * 1024;

/// Every picture: its name, its page and its height.
const PICTURES: &[(&str, &str, u32)] = &[("page", "/", 600), ("timeline", "/agents/4", 640), ("guard", "/guard", 670)];

const WIDTH: u32 = 1100;

#[test]
fn the_pictures_of_the_page_are_made_from_the_running_page() {
    let Some(browser) = BrowserSession::open() else { return };
    let server = BrowserTestServer::start();
    agent_story::send_story(&server);
    browser.set_color_scheme("light");
    for (name, view, height) in PICTURES {
        browser.resize_viewport(WIDTH, *height);
        open_live_page(&browser, &server, view);
        let picture = decode_base64(&browser.picture());
        assert_eq!(picture[..8], *b"\x89PNG\r\n\x1a\n");
        assert!(picture.len() <= MAX_BYTES, "{name}: {} bytes", picture.len());
        check_stored_picture(name, &picture);
    }
}

fn check_stored_picture(name: &str, picture: &[u8]) {
    let docs = find_repository_root().join("docs");
    let kept = docs.join(format!("pictures/{name}.png"));
    if std::env::var_os("SNELL_BLESS").is_some() {
        fs::create_dir_all(kept.parent().unwrap()).unwrap();
        fs::write(&kept, picture).unwrap();
    }
    let kept = fs::read(&kept).unwrap_or_else(|_| panic!("docs/pictures/{name}.png is made with SNELL_BLESS=1"));
    assert!(kept.starts_with(b"\x89PNG") && kept.len() <= MAX_BYTES);
    // The documentation describes each picture in its alternative text.
    let page = fs::read_to_string(docs.join("guide/read-the-page.md")).unwrap();
    let (before, _) = page
        .split_once(&format!("](../pictures/{name}.png)"))
        .unwrap_or_else(|| panic!("docs/guide/read-the-page.md shows pictures/{name}.png"));
    let told = before.rsplit("![").next().unwrap();
    assert!(told.len() > 30, "{name}: {told}");
}

/// Bytes from base64.
fn decode_base64(text: &str) -> Vec<u8> {
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
