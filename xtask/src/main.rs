//! The task runner. `cargo xtask check` is what CI runs; `cargo xtask tidy` checks names, module style and sizes; `cargo xtask fuzz` looks for calls that the guard judges wrongly;
//! `cargo xtask bench` prints the tables of what Snell costs; `cargo xtask layout` tells the linker what a hook runs; `cargo xtask agents` runs real agents;
//! `cargo xtask states` plays recorded sessions.

mod agent_states;
mod linker_layout;
mod real_agents;
mod test_programs;
mod tidy;

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, bail};

/// A step of `check`: its name and its command.
struct TaskStep {
    proves: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
}

const CHECK_STEPS: &[TaskStep] = &[
    TaskStep { proves: "the code is formatted", program: "cargo", args: &["fmt", "--all", "--check"], env: &[] },
    TaskStep {
        proves: "clippy reports nothing",
        program: "cargo",
        args: &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"],
        env: &[],
    },
    TaskStep {
        proves: "the engine builds without its optional parts",
        program: "cargo",
        args: &["check", "--package", "snell", "--no-default-features", "--quiet"],
        env: &[],
    },
    TaskStep {
        proves: "the tests pass",
        program: "cargo",
        args: &["test", "--workspace", "--quiet"],
        // The agents follow in a step of their own, without a network.
        env: &[("SNELL_BROWSER", "required"), ("SNELL_AGENTS", "off")],
    },
    TaskStep {
        proves: "the API documentation builds",
        program: "cargo",
        args: &["doc", "--workspace", "--exclude", "snell-cli", "--no-deps", "--quiet"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
    },
    // The binary has the library's name, and both would be written to one folder at the same time.
    TaskStep {
        proves: "the documentation of the binary builds",
        program: "cargo",
        args: &["doc", "--package", "snell-cli", "--no-deps", "--quiet"],
        env: &[("RUSTDOCFLAGS", "-D warnings")],
    },
];

/// Fuzzes the guard with unusual calls for `SNELL_FUZZ_SECONDS`.
const FUZZ_STEP: TaskStep = TaskStep {
    proves: "the guard judges unusual calls like ordinary ones",
    program: "cargo",
    args: &[
        "test",
        "--quiet",
        "--profile",
        "fuzz",
        "--package",
        "snell-guard",
        "--test",
        "it",
        "fuzz",
        "--",
        "--nocapture",
    ],
    env: &[],
};

/// The default duration.
const FUZZ_SECONDS: (&str, &str) = ("SNELL_FUZZ_SECONDS", "20");

/// Needs a tool that not every machine has. `check` runs it if it is installed, and otherwise reports that it is
/// missing.
const SUPPLY_CHAIN_STEP: TaskStep = TaskStep {
    proves: "licences and sources of dependencies follow deny.toml",
    program: "cargo",
    args: &["deny", "--log-level", "error", "check", "bans", "licenses", "sources"],
    env: &[],
};

const BENCH_STEPS: &[TaskStep] = &[
    TaskStep {
        proves: "the benches of the hooks and the receiver ran",
        program: "cargo",
        args: &["bench", "--quiet", "--package", "snell-cli", "--bench", "budgets"],
        env: &[],
    },
    TaskStep {
        proves: "the bench of the guard ran",
        program: "cargo",
        args: &["bench", "--quiet", "--package", "snell-guard", "--bench", "guard"],
        env: &[],
    },
];

const USAGE: &str = "usage: cargo xtask check | tidy | fuzz | bench | layout | agents [AGENT]... | states [DIR]... [--detail PART] | states --record AGENT";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let result = match task.as_str() {
        "check" => run_checks(),
        "tidy" => tidy::check_workspace(),
        "fuzz" => run_fuzzer(),
        "bench" => BENCH_STEPS.iter().try_for_each(run_step),
        "layout" => linker_layout::write_layout(),
        "states" => agent_states::play_recordings(&arguments.collect::<Vec<_>>()),
        "agents" => real_agents::check_all(&arguments.collect::<Vec<_>>()),
        _ => Err(anyhow::anyhow!(USAGE)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_message(&format!("xtask: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run_checks() -> anyhow::Result<()> {
    test_programs::install_missing_programs()?;
    tidy::check_workspace()?;
    for step in CHECK_STEPS {
        run_step(step)?;
    }
    real_agents::check_installed()?;
    run_fuzzer()?;
    let installed = Command::new("cargo").args(["deny", "--version"]).output();
    if installed.is_ok_and(|output| output.status.success()) {
        run_step(&SUPPLY_CHAIN_STEP)?;
    } else {
        print_message("skipped: cargo-deny is not installed (cargo install cargo-deny)");
    }
    Ok(())
}

fn run_fuzzer() -> anyhow::Result<()> {
    let (name, usual) = FUZZ_SECONDS;
    if std::env::var_os(name).is_some() {
        return run_step(&FUZZ_STEP);
    }
    let env: &'static [(&str, &str)] = &[FUZZ_SECONDS];
    print_message(&format!("fuzzing for {usual} s (set {name} for another duration)"));
    run_step(&TaskStep { env, ..FUZZ_STEP })
}

fn run_step(step: &TaskStep) -> anyhow::Result<()> {
    let started = Instant::now();
    let status = Command::new(step.program)
        .args(step.args)
        .envs(step.env.iter().copied())
        .status()
        .with_context(|| format!("cannot start {}", step.program))?;
    if !status.success() {
        bail!("`{} {}` failed: it checks that {}", step.program, step.args.join(" "), step.proves);
    }
    print_message(&format!("{}: {:.1} s", step.proves, started.elapsed().as_secs_f64()));
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a task runner prints its progress")]
fn print_message(text: &str) {
    eprintln!("{text}");
}
