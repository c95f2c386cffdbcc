//! The task runner. `cargo xtask check` is what CI runs; `cargo xtask bench` prints the table of what Snell costs.

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, bail};

/// A step of `check`: what it proves, and how.
struct Step {
    proves: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
}

const CHECK: &[Step] = &[
    Step {
        proves: "the code is formatted",
        program: "cargo",
        args: &["fmt", "--all", "--check"],
        env: &[],
    },
    Step {
        proves: "clippy has nothing to say",
        program: "cargo",
        args: &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--quiet",
            "--",
            "-D",
            "warnings",
        ],
        env: &[],
    },
    Step {
        proves: "the engine builds without its optional parts",
        program: "cargo",
        args: &["check", "--package", "snell", "--no-default-features", "--quiet"],
        env: &[],
    },
    Step {
        proves: "the tests pass",
        program: "cargo",
        args: &["test", "--workspace", "--quiet"],
        env: &[],
    },
    Step {
        proves: "the API documentation builds",
        program: "cargo",
        args: &["doc", "--workspace", "--no-deps", "--quiet"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

/// Needs a tool that not every machine has; `check` runs it where it is installed and says so where it is not.
const SUPPLY_CHAIN: Step = Step {
    proves: "licences and sources of dependencies are as deny.toml wants them",
    program: "cargo",
    args: &["deny", "--log-level", "error", "check", "bans", "licenses", "sources"],
    env: &[],
};

const BENCH: Step = Step {
    proves: "the benches ran",
    program: "cargo",
    args: &["bench", "--quiet", "--package", "snell-cli", "--bench", "budgets"],
    env: &[],
};

const USAGE: &str = "usage: cargo xtask check | bench";

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let result = match task.as_str() {
        "check" => check(),
        "bench" => run(&BENCH),
        _ => Err(anyhow::anyhow!(USAGE)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn check() -> anyhow::Result<()> {
    for step in CHECK {
        run(step)?;
    }
    let installed = Command::new("cargo").args(["deny", "--version"]).output();
    if installed.is_ok_and(|output| output.status.success()) {
        run(&SUPPLY_CHAIN)?;
    } else {
        say("skipped: cargo-deny is not installed (cargo install cargo-deny)");
    }
    Ok(())
}

fn run(step: &Step) -> anyhow::Result<()> {
    let started = Instant::now();
    let status = Command::new(step.program)
        .args(step.args)
        .envs(step.env.iter().copied())
        .status()
        .with_context(|| format!("cannot start {}", step.program))?;
    if !status.success() {
        bail!(
            "`{} {}` failed; it shows whether {}",
            step.program,
            step.args.join(" "),
            step.proves
        );
    }
    say(&format!("{}: {:.1} s", step.proves, started.elapsed().as_secs_f64()));
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a task runner talks to whoever started it")]
fn say(text: &str) {
    eprintln!("{text}");
}
