//! Writes the lists of `data/*.toml` as constants, and links the release binary of Linux statically, at a
//! fixed address.
//!
//! An agent starts `snell` for every event, so what a process costs before `main` is what Snell costs. Loading and
//! relocating shared libraries is more than half of it. rustc's own switches for this (`crt-static`,
//! `relocation-model`) would have to be set for all crates, and then procedural macros no longer build; so the linker is
//! told here, for the binary alone. rustc names the C library's parts as shared libraries, and the linker finds them in
//! our directory first, where each name stands for the static archive.
//!
//! Where an archive is missing, or with `SNELL_DYNAMIC=1`, the binary is linked as usual: slower to start, nothing else.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What rustc links for `*-linux-gnu`, and the archive that takes each one's place.
const LIBRARIES: &[(&str, &str)] = &[
    ("c", "libc.a"),
    ("dl", "libdl.a"),
    ("gcc_s", "libgcc_eh.a"),
    ("m", "libm.a"),
    ("pthread", "libpthread.a"),
    ("rt", "librt.a"),
    ("util", "libutil.a"),
];

/// What the standard library uses to start processes without copying this one, if it is there. It only asks whether it
/// is, which does not make a linker take it out of an archive.
const ASKED_FOR: &[&str] = &["gnu_get_libc_version", "posix_spawn_file_actions_addchdir_np"];

/// Lists of words, and the file with their constants.
const WORD_LISTS: &[(&str, &str)] =
    &[("data/messaging.toml", "messaging_words.rs"), ("data/judge_context.toml", "judge_context_lists.rs")];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for (lists, constants) in WORD_LISTS {
        generate_word_lists(lists, &out.join(constants))?;
    }
    println!("cargo::rerun-if-env-changed=SNELL_DYNAMIC");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let wanted = is("PROFILE", "release")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && env::var("HOST") == env::var("TARGET")
        && !is("SNELL_DYNAMIC", "1");
    if !wanted {
        return Ok(());
    }
    if let Some(directory) = stand_ins(out) {
        println!("cargo::rustc-link-arg-bins=-L{}", directory.display());
        println!("cargo::rustc-link-arg-bins=-static");
        println!("cargo::rustc-link-arg-bins=-no-pie");
        for symbol in ASKED_FOR {
            println!("cargo::rustc-link-arg-bins=-Wl,-u,{symbol}");
        }
        lay_out();
    }
    Ok(())
}

/// One constant per list. They are compiled in because a hook starts for every call and must not read lists first.
fn generate_word_lists(path: &str, out: &Path) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={path}");
    let lists: BTreeMap<String, Vec<String>> =
        toml::from_str(&fs::read_to_string(path)?).map_err(|fault| format!("{path}: {fault}"))?;
    let constants = lists
        .iter()
        .map(|(name, words)| format!("pub(super) const {}: &[&str] = &{words:?};\n", name.to_uppercase()))
        .collect::<String>();
    Ok(fs::write(out, constants)?)
}

/// Has the linker put side by side what a hook runs: see `xtask/src/layout.rs`. A linker that somebody chose may not read
/// such scripts (mold does not), and only costs time if it gets none.
fn lay_out() {
    println!("cargo::rerun-if-changed=layout.ld");
    println!("cargo::rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if let (Ok(directory), false) =
        (env::var("CARGO_MANIFEST_DIR"), flags.contains("fuse-ld") || flags.contains("linker="))
    {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{directory}/layout.ld");
    }
}

/// A directory in which each shared library's name stands for its archive; nothing if one has no archive.
fn stand_ins(out: PathBuf) -> Option<PathBuf> {
    let directory = out.join("static");
    fs::create_dir_all(&directory).ok()?;
    for (library, archive) in LIBRARIES {
        let found = archive_path(archive)?;
        let script = format!("GROUP ( {} )\n", found.display());
        fs::write(directory.join(format!("lib{library}.so")), script).ok()?;
    }
    Some(directory)
}

/// Where the C compiler finds an archive.
fn archive_path(archive: &str) -> Option<PathBuf> {
    let asked = Command::new("cc").arg(format!("-print-file-name={archive}")).output().ok()?;
    let path = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim());
    // A name that comes back as it went was not found.
    (path.is_absolute() && Path::exists(&path)).then_some(path)
}
