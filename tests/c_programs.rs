//! Every C or C++ file of `c-tests/` and `c-tests/gpu/` that has a `main` is one test, named by its file.
//!
//! A program is compiled when its test runs, linked against the library that cargo just built, and started as a fresh
//! process in its own process group. It passes if it exits 0 and its last line says `done`; it is skipped, and counted
//! as ignored, if it exits 77. One that says that it means nothing under the sanitizer or the runner in use is left out.
//!
//! | environment | meaning |
//! |---|---|
//! | `CC`, `CXX` | the compilers, as for the `cc` crate |
//! | `LAZYONCE_TEST_CFLAGS` | further compiler flags, for example `-fsanitize=thread` |
//! | `LAZYONCE_TEST_RUNNER` | a command put before the program, for example `valgrind --error-exitcode=99 -q` |
//! | `LAZYONCE_TEST_LIMIT` | seconds before a program counts as hung; 60 |
//! | `CARD_ROUNDS` | the most rounds that a program with many rounds makes; 2000 with flags or a runner |
//! | `LAZYONCE_REQUIRE_GPU=1`, or any value but 0 | the programs of `c-tests/gpu/` fail where there is no GPU, instead of being skipped |
//! | `CI_SKIP_FAILS=1` | a program that skips itself fails, unless its reason contains `no GPU here` |

#[path = "c_programs/build.rs"]
mod build;
#[path = "c_programs/program.rs"]
mod program;
#[path = "c_programs/run.rs"]
mod run;
#[path = "c_programs/threads.rs"]
mod threads;

use build::Builder;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use program::{Expect, Program};
use run::Ending;
use std::sync::Arc;

fn main() {
    let arguments = Arguments::from_args();
    let builder = Arc::new(Builder::from_environment());
    let tools = builder.tools();
    let trials = program::all(&builder.sources())
        .into_iter()
        .filter(|program| is_meant_for(program, &tools))
        .map(|program| {
            let builder = Arc::clone(&builder);
            Trial::ignorable_test(program.name.clone(), move || test(&builder, &program))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit();
}

fn test(builder: &Builder, program: &Program) -> Result<Completion, Failed> {
    let executable = builder.compile(program)?;
    let ending = run::run(builder, program, &executable)?;
    let said = |what: String| Failed::from(format!("{what}\n{}", run::output(&executable)));
    match (program.expect, ending) {
        (Expect::Done, Ending::Exited(0)) if run::says_done(&executable) => {
            Ok(Completion::Completed)
        }
        (Expect::Done, Ending::Exited(0)) => {
            Err(said("exited 0, but its last line is not `done`".into()))
        }
        (Expect::Done, Ending::Exited(77)) => {
            let reason = run::last_error_line(&executable);
            if std::env::var("CI_SKIP_FAILS").is_ok_and(|value| value == "1")
                && !reason.contains("no GPU here")
            {
                return Err(said(format!(
                    "skipped itself where nothing may be skipped: {reason}"
                )));
            }
            skipped(program, &reason)
        }
        (Expect::Done, Ending::TooLate(threads)) => {
            Err(said(format!("hung: still running at the limit\n{threads}")))
        }
        (Expect::Hang, Ending::Asleep) => Ok(Completion::Completed),
        (Expect::Hang, Ending::TooLate(threads)) => Err(said(format!(
            "still running, but not all of its threads are asleep in a futex\n{threads}"
        ))),
        (Expect::Hang, Ending::Exited(code)) => {
            Err(said(format!("was to hang, but exited early with {code}")))
        }
        (Expect::Hang, Ending::Killed(signal)) => {
            Err(said(format!("was to hang, but died of signal {signal}")))
        }
        (Expect::Done, Ending::Exited(code)) => Err(said(format!("exited with {code}"))),
        (Expect::Done, Ending::Killed(signal)) => Err(said(format!("died of signal {signal}"))),
        (Expect::Done, Ending::Asleep) => Err(said("slept where it was to run".into())),
    }
}

/// A program that means nothing under the tool in use is no part of the run, which says so. It runs without the tool.
fn is_meant_for(program: &Program, tools: &[&str]) -> bool {
    match program.left_out_under(tools) {
        Some(reason) => {
            println!("left out: {}: {reason}", program.name);
            false
        }
        None => true,
    }
}

fn skipped(program: &Program, reason: &str) -> Result<Completion, Failed> {
    eprintln!("skipped: {}: {reason}", program.name);
    Ok(Completion::ignored_with(reason))
}
