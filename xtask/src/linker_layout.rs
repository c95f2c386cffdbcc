//! The functions that a hook runs, so that the linker can place them together.
//!
//! The kernel maps a program in pieces of 64 KiB around each first access, and every piece takes a few microseconds
//! when it is mapped and again when the process ends. A hook runs less than a tenth of the program; scattered over all
//! of it, it needs five times as many pieces. So this task runs the hooks that agents fire once under valgrind, and
//! writes the functions that ran into a linker script for `build.rs`.
//!
//! The script has each function twice: with the name from this compiler, and without the hashes that the next compiler
//! changes. A name that no longer exists costs nothing, and a missing one costs a little time. Run this task again when
//! the benchmarks get slower.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

/// The path of the result.
const SCRIPT_PATH: &str = "crates/snell-cli/layout.ld";
const PROGRAM_PATH: &str = "target/release/snell";
const SCRATCH_DIR: &str = "target/layout";
/// In the scratch directory: the home and the data directory of the calls.
const SANDBOX_HOME: &str = "home";
const SANDBOX_DATA: &str = "data";

const SCRIPT_HEAD: &str = "\
/* The functions that a hook runs, side by side: see xtask/src/linker_layout.rs, which writes this file (`cargo xtask layout`). */
SECTIONS
{
  .text.hook :
  {
";
const SCRIPT_TAIL: &str = "  }
}
INSERT BEFORE .text;
";

/// The calls of an agent with their stdin, the most frequent first. They change nothing: hooks only judge and record.
const PROFILED_CALLS: &[(&[&str], &str)] = &[
    (
        CLAUDE_ARGS,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"cd crates && cargo test --workspace 2>&1 | tail -n 20"}}"#,
    ),
    (
        CLAUDE_ARGS,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"2","tool_input":{"command":"git add -A && git commit -m \"A test\" && git push"}}"#,
    ),
    (
        CLAUDE_ARGS,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"3","tool_input":{"command":"rm -rf ~"}}"#,
    ),
    (
        CLAUDE_ARGS,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"4","tool_input":{"command":"for f in $(ls src); do sed -n 1,20p \"src/$f\" > /dev/null; done"}}"#,
    ),
    (
        CLAUDE_ARGS,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Edit","tool_use_id":"5","tool_input":{"file_path":"PROJECT/src/main.rs","old_string":"a","new_string":"b"}}"#,
    ),
    (
        CLAUDE_ARGS,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Read","tool_use_id":"6","tool_input":{"file_path":"PROJECT/src/main.rs"}}"#,
    ),
    (
        CLAUDE_ARGS,
        r#"{"hook_event_name":"PreToolUse","tool_name":"mcp__files__read","tool_use_id":"7","tool_input":{"path":"notes.md"}}"#,
    ),
    (
        CLAUDE_ARGS,
        r#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"1","tool_input":{"command":"cargo test"},"tool_response":{"stdout":"ok","stderr":""}}"#,
    ),
    (CLAUDE_ARGS, r#"{"hook_event_name":"Notification","message":"Claude needs your permission to use Bash"}"#),
    (CLAUDE_ARGS, r#"{"hook_event_name":"Stop","stop_hook_active":false}"#),
    (CLAUDE_ARGS, r#"{"hook_event_name":"UserPromptSubmit","prompt":"mend the parser"}"#),
    (CLAUDE_ARGS, r#"{"hook_event_name":"SessionEnd","reason":"clear"}"#),
    (
        UNNAMED_ARGS,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"8","tool_input":{"command":"cargo build"}}"#,
    ),
    (
        UNNAMED_ARGS,
        r#"{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"npm test"}}"#,
    ),
    (
        RUN_ARGS,
        r#"{"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"notes.md","content":""}}"#,
    ),
    (CLAUDE_ARGS, r#"{"hook_event_name":"SessionStart","source":"startup"}"#),
];

const CLAUDE_ARGS: &[&str] = &["hook", "--agent", "claude"];
const UNNAMED_ARGS: &[&str] = &["hook"];
const RUN_ARGS: &[&str] = &["run", "PreToolUse"];

/// A section of the program, and the file that it comes from.
struct CodeSection {
    start: u64,
    size: u64,
    name: SectionPattern,
}

/// The name of a section in a linker script.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SectionPattern {
    /// With the hashes of this compiler.
    exact: String,
    /// Without hashes, together with copies for other types.
    lasting: String,
}

/// Writes the script.
pub(crate) fn write_layout() -> anyhow::Result<()> {
    let scratch = std::env::current_dir()?.join(SCRATCH_DIR);
    // State of an earlier run would change what a hook does. The map stays: without a change, nothing is linked again.
    for state in [SANDBOX_HOME, SANDBOX_DATA] {
        let _ = fs::remove_dir_all(scratch.join(state));
    }
    fs::create_dir_all(&scratch)?;
    let map = scratch.join("snell.map");
    build_release(&map)?;
    let pieces = parse_sections(&fs::read_to_string(&map).context("the linker wrote no map")?);
    ensure!(!pieces.is_empty(), "the linker's map is not from lld");
    let desk = ProfilingSandbox::new(&scratch)?;
    // The first call also creates the database and other state, so it is not measured.
    desk.profile_call(PROFILED_CALLS.len(), CLAUDE_ARGS, r#"{"hook_event_name":"SessionStart","source":"startup"}"#)?;
    let mut ran = Vec::new();
    for (number, (args, payload)) in PROFILED_CALLS.iter().enumerate() {
        crate::print_message(&format!("{} of {}: snell {}", number + 1, PROFILED_CALLS.len(), args.join(" ")));
        ran.push(find_touched_sections(&pieces, &desk.profile_call(number, args, payload)?));
    }
    let patterns = order_patterns(&pieces, &ran);
    let mut script = SCRIPT_HEAD.to_owned();
    for pattern in &patterns {
        writeln!(script, "    {pattern}")?;
    }
    script.push_str(SCRIPT_TAIL);
    fs::write(SCRIPT_PATH, script)?;
    crate::print_message(&format!(
        "{SCRIPT_PATH}: {} names of functions that {} calls ran",
        patterns.len(),
        PROFILED_CALLS.len()
    ));
    Ok(())
}

fn build_release(map: &Path) -> anyhow::Result<()> {
    crate::print_message("building the release binary with its symbols");
    let status = Command::new("cargo")
        .args(["rustc", "--quiet", "--release", "--package", "snell-cli", "--bin", "snell", "--"])
        .args(["-C", "strip=none", "-C"])
        .arg(format!("link-arg=-Wl,-Map={}", map.display()))
        .status()?;
    ensure!(status.success(), "the release binary does not build");
    Ok(())
}

/// A home and a project for the calls, with one hook in it.
struct ProfilingSandbox {
    scratch: PathBuf,
    project: PathBuf,
    program: PathBuf,
}

impl ProfilingSandbox {
    fn new(scratch: &Path) -> anyhow::Result<Self> {
        let project = scratch.join(SANDBOX_HOME).join("work/app");
        fs::create_dir_all(project.join(".git"))?;
        let configuration = scratch.join(SANDBOX_HOME).join(".config/snell");
        fs::create_dir_all(&configuration)?;
        fs::write(
            configuration.join("snell.toml"),
            "profile = \"claude-os\"\n[[hook]]\nevent = \"PreToolUse\"\ntool = \"Write\"\nrun = \"true\"\n",
        )?;
        Ok(Self { scratch: scratch.to_owned(), project, program: std::env::current_dir()?.join(PROGRAM_PATH) })
    }

    /// The addresses that a call ran.
    fn profile_call(&self, number: usize, args: &[&str], payload: &str) -> anyhow::Result<BTreeSet<u64>> {
        let out = self.scratch.join(format!("{number}.out"));
        let project = self.project.display().to_string();
        let common = format!(r#"{{"session_id":"layout","cwd":"{project}","#);
        let payload = payload.replacen('{', &common, 1).replace("PROJECT", &project);
        let mut child = Command::new("valgrind")
            .args(["--tool=callgrind", "--dump-instr=yes", "--compress-pos=no", "--quiet"])
            .arg(format!("--callgrind-out-file={}", out.display()))
            .arg(&self.program)
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.scratch.join(SANDBOX_HOME))
            .env("SNELL_HOME", self.scratch.join(SANDBOX_DATA))
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .current_dir(&self.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start valgrind: install it")?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(payload.as_bytes())?;
        }
        child.wait()?;
        let profile = fs::read_to_string(&out).context("valgrind wrote no profile")?;
        let addresses: BTreeSet<u64> = profile.lines().filter_map(parse_address).collect();
        if addresses.is_empty() {
            bail!("valgrind recorded nothing: {}", out.display());
        }
        Ok(addresses)
    }
}

/// The address that a line of a profile begins with.
fn parse_address(line: &str) -> Option<u64> {
    let digits = line.strip_prefix("0x")?;
    u64::from_str_radix(digits.split(' ').next()?, 16).ok()
}

/// The sections in the linker's map, sorted by address.
fn parse_sections(map: &str) -> Vec<CodeSection> {
    let mut pieces: Vec<CodeSection> = map.lines().filter_map(parse_section).collect();
    pieces.sort_by_key(|piece| piece.start);
    pieces
}

/// A row of the map: address, address in memory, size, alignment, and `file:(section)`.
fn parse_section(row: &str) -> Option<CodeSection> {
    let mut fields = row.split_whitespace();
    let start = u64::from_str_radix(fields.next()?, 16).ok()?;
    let size = u64::from_str_radix(fields.nth(1)?, 16).ok()?;
    let input = fields.nth(1)?;
    let (file, section) = input.strip_suffix(')')?.split_once(":(")?;
    let name = build_section_pattern(file, section)?;
    (size > 0).then_some(CodeSection { start, size, name })
}

/// The name of a section in a linker script.
fn build_section_pattern(file: &str, section: &str) -> Option<SectionPattern> {
    let name = section.strip_prefix(".text")?;
    match file.strip_suffix(')').and_then(|file| file.split_once('(')) {
        // The C library has one file per function, and some functions have several files for different processors.
        // Valgrind uses only one of them.
        Some((archive, member)) if archive.ends_with(".a") => {
            let archive = archive.rsplit('/').next()?;
            let family = member.split_once('-').filter(|_| !name.is_empty());
            let member = family.map_or_else(|| member.to_owned(), |(family, _)| format!("{family}-*.o"));
            let all = format!("*{archive}:{member}(.text .text.*)");
            Some(SectionPattern { exact: all.clone(), lasting: all })
        }
        _ if name.is_empty() => None,
        _ => {
            let (name, number) = split_copy_number(section);
            Some(SectionPattern {
                exact: format!("*({section})"),
                lasting: format!("*({}{number})", strip_hashes(name)),
            })
        }
    }
}

/// A section's name, with a pattern for the number that distinguishes copies of one function.
fn split_copy_number(section: &str) -> (&str, &str) {
    match section.rsplit_once('.') {
        Some((name, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => (name, ".*"),
        _ => (section, ""),
    }
}

/// A symbol's name without the parts that differ between compilers: `17h` and sixteen digits, or the text after `Cs`.
fn strip_hashes(symbol: &str) -> String {
    let mut name = String::new();
    let mut rest = symbol;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = skip_legacy_hash(rest) {
            name.push_str("17h*E");
            rest = after;
        } else if let Some(after) = skip_crate_hash(rest) {
            name.push_str("Cs*_");
            rest = after;
        } else {
            name.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    name
}

fn skip_legacy_hash(text: &str) -> Option<&str> {
    let (hash, after) = text.strip_prefix("17h")?.split_at_checked(16)?;
    let is_hash = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    after.strip_prefix('E').filter(|_| is_hash)
}

fn skip_crate_hash(text: &str) -> Option<&str> {
    let (hash, after) = text.strip_prefix("Cs")?.split_once('_')?;
    let is_hash = (8..=12).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_hash.then_some(after)
}

/// The indexes of the sections that contain these addresses.
fn find_touched_sections(pieces: &[CodeSection], addresses: &BTreeSet<u64>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for address in addresses {
        let after = pieces.partition_point(|piece| piece.start <= *address);
        let Some(last) = after.checked_sub(1) else { continue };
        if pieces.get(last).is_some_and(|piece| *address < piece.start + piece.size) {
            found.insert(last);
        }
    }
    found
}

/// The names of sections that ran, those of the first call first, and within them those of the second call, and so on.
/// Names without hashes follow at the end.
fn order_patterns(pieces: &[CodeSection], ran: &[BTreeSet<usize>]) -> Vec<String> {
    let mut calls = BTreeMap::<&SectionPattern, Vec<bool>>::new();
    for (call, touched) in ran.iter().enumerate() {
        for piece in touched.iter().filter_map(|number| pieces.get(*number)) {
            calls.entry(&piece.name).or_insert_with(|| vec![false; ran.len()])[call] = true;
        }
    }
    let mut ordered: Vec<_> = calls.into_iter().collect();
    ordered.sort_by(|(_, one), (_, other)| other.cmp(one));
    let exact = ordered.iter().map(|(name, _)| &name.exact);
    let lasting = ordered.iter().map(|(name, _)| &name.lasting);
    let mut seen = BTreeSet::new();
    exact.chain(lasting).filter(|name| seen.insert(*name)).cloned().collect()
}
