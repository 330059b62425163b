//! Old ways beside lazyonce: each scenario is one small program, compiled against a hand-written gate and against the
//! library, run as a fresh process under a limit, and judged by what was seen.
//!
//! `cargo run --release --example demo`

mod asleep;
mod compiler;
mod host;
mod program;
mod rows;
mod table;

use compiler::Compiler;
use host::Host;
use program::{Ending, LIMIT, Program, Run};
use rows::{CARD, Claim, HOSTED, MEASURED, MORE, Row};
use std::process::{Command, ExitCode};
use std::thread::{self, Scope, ScopedJoinHandle};
use table::{Cell, Paint, Table};

const OURS: &str = "lazyonce.h";

/// The compiled programs of a row.
struct Built<'a> {
    row: &'a Row,
    old: Program,
    ours: Program,
    also: Option<Program>,
}

/// Ours has ended, the old ways may still run into their limit.
struct Started<'scope, 'a> {
    row: &'a Row,
    old: ScopedJoinHandle<'scope, Run>,
    ours: Run,
    also: Option<ScopedJoinHandle<'scope, Run>>,
}

fn main() -> ExitCode {
    match demo() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("demo: {why}");
            ExitCode::FAILURE
        }
    }
}

fn demo() -> Result<bool, String> {
    let compiler = Compiler::new("demo")?;
    let paint = Paint::for_stdout();
    print_head(&compiler);
    let table = Table::new(paint, ["scenario", "old way", "lazyonce"]);
    table.head();
    thread::scope(|scope| {
        // The old ways of the first rows sleep through their limit while the others are compiled.
        let card = start(scope, build(&compiler, &Host::None, &CARD)?);
        let more = build(&compiler, &Host::None, &MORE).map(|built| start(scope, built));
        let host = Host::find(&compiler);
        let hosted = build(&compiler, &host, &HOSTED).map(|built| start(scope, built));
        let measured = build(&compiler, &Host::None, &MEASURED);

        let mut as_claimed = report(&table, card);
        table.section("more");
        as_claimed &= report(&table, more?);
        as_claimed &= report(&table, hosted?);
        as_claimed &= report(&table, start(scope, measured?));
        println!(
            "{}",
            if as_claimed {
                "all that was judged is as claimed"
            } else {
                "NOT as claimed: see above"
            }
        );
        Ok(as_claimed)
    })
}

fn print_head(compiler: &Compiler) {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let libc = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let libc = libc
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default();
    println!(
        "lazyonce {} | {} | {libc}",
        env!("CARGO_PKG_VERSION"),
        compiler.version()
    );
    println!(
        "Linux {} {} | {} CPUs",
        kernel.trim().split('-').next().unwrap_or_default(),
        std::env::consts::ARCH,
        thread::available_parallelism().map_or(0, |n| n.get())
    );
    println!("seeds and RNG state: Philox 4x32-10 in host memory (no CUDA driver used)");
    println!(
        "each cell: the same program, a fresh process, at most {} s; all old ways wait at once",
        LIMIT.as_secs()
    );
    println!();
}

fn build<'a>(compiler: &Compiler, host: &Host, rows: &'a [Row]) -> Result<Vec<Built<'a>>, String> {
    thread::scope(|scope| {
        let compile =
            |source, gate| scope.spawn(move || Program::compile(compiler, host, source, gate));
        let started: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row,
                    compile(row.source, row.old),
                    compile(row.source, OURS),
                    row.also.map(|(_, gate)| compile(row.source, gate)),
                )
            })
            .collect();
        started
            .into_iter()
            .map(|(row, old, ours, also)| {
                Ok(Built {
                    row,
                    old: join(old)?,
                    ours: join(ours)?,
                    also: also.map(join).transpose()?,
                })
            })
            .collect()
    })
}

fn start<'scope, 'a>(
    scope: &'scope Scope<'scope, '_>,
    rows: Vec<Built<'a>>,
) -> Vec<Started<'scope, 'a>> {
    rows.into_iter()
        .map(
            |Built {
                 row,
                 old,
                 ours,
                 also,
             }| {
                let start = |program: Program| scope.spawn(move || program.run());
                // What measures runs before the old way starts; what hangs gives ours the time.
                let undisturbed = (row.claim == Claim::Slower).then(|| ours.run());
                Started {
                    row,
                    old: start(old),
                    also: also.map(start),
                    ours: undisturbed.unwrap_or_else(|| ours.run()),
                }
            },
        )
        .collect()
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Prints the rows; false if one of them is not what it is said to be.
fn report(table: &Table, rows: Vec<Started<'_, '_>>) -> bool {
    let mut all_as_claimed = true;
    for Started {
        row,
        old,
        ours,
        also,
    } in rows
    {
        let (mut old, old_as_claimed) = old_cell(row.claim, &join(old), &ours);
        if let (Some((name, _)), Some(also)) = (row.also, also) {
            old.lines
                .push(format!("({name}: {})", join(also).ending.in_one_word()));
        }
        let ours = ours_cell(&ours);
        all_as_claimed &= old_as_claimed && ours.good;
        table.row(row.title, &old, &ours);
    }
    all_as_claimed
}

fn old_cell(claim: Claim, run: &Run, ours: &Run) -> (Cell, bool) {
    let (lines, as_claimed) = match (claim, &run.ending) {
        (Claim::Hangs, Ending::AsleepInALock { child }) => {
            let who = if *child { "child seen" } else { "seen" };
            let seen = [
                format!("HANG ({who} asleep"),
                format!("  in a lock after {} s)", LIMIT.as_secs()),
            ];
            (
                seen.into_iter()
                    .chain([format!("  last step: {}", run.last_step)])
                    .collect(),
                true,
            )
        }
        (Claim::LosesCalls, Ending::Failed { .. })
            if run.shown.iter().any(|line| line.starts_with("LOST")) =>
        {
            (run.shown.clone(), true)
        }
        (Claim::Slower, Ending::Done) if is_slower(run.figure, ours.figure) => {
            (run.shown.clone(), true)
        }
        (Claim::Slower, _) => {
            let claimed = "NOT as slow as it is said to be:".to_owned();
            let seen = [claimed, run.ending.to_string()];
            (seen.into_iter().chain(run.shown.clone()).collect(), false)
        }
        (Claim::Hangs, other) => (
            vec![
                "NOT the hang it is said to be:".to_owned(),
                other.to_string(),
            ],
            false,
        ),
        (Claim::LosesCalls, other) => (
            vec![
                "NOT the loss it is said to be:".to_owned(),
                other.to_string(),
            ],
            false,
        ),
    };
    (Cell { lines, good: false }, as_claimed)
}

/// Also where there is nothing to judge by: the programs then show why.
fn is_slower(old: Option<f64>, ours: Option<f64>) -> bool {
    old.zip(ours).is_none_or(|(old, ours)| old > 5.0 * ours)
}

fn ours_cell(run: &Run) -> Cell {
    let good = matches!(run.ending, Ending::Done);
    let first = if good {
        format!("done, {:.1} ms", run.time.as_secs_f64() * 1e3)
    } else {
        run.ending.to_string()
    };
    let mut lines = vec![first];
    lines.extend(run.shown.iter().cloned());
    Cell { lines, good }
}
