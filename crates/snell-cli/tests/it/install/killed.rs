//! Killed at any moment, and many at once.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::InstallHome;

/// How often it is killed.
const KILLS: u64 = 60;

/// How long it lives here, if nobody kills it.
fn measure_install_time(home: &InstallHome) -> Duration {
    let started = Instant::now();
    home.run_successfully(&["install", "claude", "--json"]);
    home.run_successfully(&["uninstall", "claude", "--json"]);
    started.elapsed() / 2
}

#[test]
fn a_killed_install_leaves_the_old_file_or_the_new_one_and_can_be_undone() {
    let text = "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": { },\n}\n";
    let home = InstallHome::with_settings(text);
    let life = measure_install_time(&home);
    home.run_successfully(&["install", "claude"]);
    let plain = home.read_settings();
    home.run_successfully(&["install", "claude", "--notify"]);
    let notify = home.read_settings();
    home.run_successfully(&["uninstall", "claude"]);
    assert_eq!(home.read_settings(), text);
    let steps = [&["install", "claude"][..], &["install", "claude", "--notify"], &["uninstall", "claude"]];
    for number in 0..KILLS {
        let step = steps[usize::try_from(number).unwrap() % steps.len()];
        let mut child = home.snell_command(step).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moment = life * u32::try_from(number * 37 % KILLS).unwrap() / u32::try_from(KILLS).unwrap();
        let started = Instant::now();
        while started.elapsed() < moment {
            std::thread::yield_now();
        }
        // It may have come to its end.
        let _ = child.kill();
        child.wait().unwrap();
        let now = home.read_settings();
        assert!([text, &plain, &notify].contains(&now.as_str()), "{step:?} left\n{now}");
        if number % 10 == 9 {
            home.run_successfully(&["uninstall", "claude"]);
            assert_eq!(home.read_settings(), text, "after {step:?}");
        }
    }
}

#[test]
fn whoever_reads_meanwhile_sees_the_old_file_or_the_new_one() {
    let text = format!("{{\"model\": \"{}\"}}", "opus ".repeat(20_000));
    let home = InstallHome::with_settings(&text);
    home.run_successfully(&["install", "claude"]);
    let installed = home.read_settings();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let seen = home.read_settings();
                assert!(seen == text || seen == installed, "{} bytes were seen", seen.len());
            }
        });
        for _ in 0..10 {
            home.run_snell(&["uninstall", "claude"]);
            home.run_snell(&["install", "claude"]);
        }
        is_over.store(true, Ordering::Relaxed);
        reader.join().unwrap();
    });
    assert_eq!(home.read_settings(), installed);
}

#[test]
fn many_at_once_wait_for_each_other() {
    let home = InstallHome::with_settings("{\"model\": \"opus\"}");
    home.run_successfully(&["install", "claude"]);
    let installed = home.read_settings();
    home.run_successfully(&["uninstall", "claude"]);
    let children: Vec<_> =
        (0..8).map(|_| home.snell_command(&["install", "claude"]).stdout(Stdio::null()).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(home.read_settings(), installed);
    home.run_successfully(&["uninstall", "claude"]);
    assert_eq!(home.read_settings(), "{\"model\": \"opus\"}");
}
