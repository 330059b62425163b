//! The speed of everything, beside those that do the same: `cargo bench`. Prints one table, and writes it to
//! `target/bench/lazyonce.md` and as a plot to `target/bench/lazyonce.svg`.
//!
//! `cargo bench -- queue slots` takes those families of rows only. `cargo bench -- --check` measures what does not vary, instructions
//! and sizes, and fails where one does not reach what it must. Without `--bench`, which is how `cargo test --benches` runs it,
//! it plays one round and judges nothing. A Python that is called otherwise than python3, or that has pybind11, is named by `PYTHON`.

#[path = "../examples/demo/compiler.rs"]
mod compiler;
#[path = "speed/counts.rs"]
mod counts;
#[path = "speed/crowd.rs"]
mod crowd;
#[path = "speed/footprint.rs"]
mod footprint;
#[path = "speed/harness.rs"]
mod harness;
#[path = "speed/library.rs"]
mod library;
#[path = "speed/machine.rs"]
mod machine;
#[path = "speed/peers.rs"]
mod peers;
#[path = "speed/plot.rs"]
mod plot;
#[path = "speed/python.rs"]
mod python;
#[path = "speed/queue.rs"]
mod queue;
#[path = "speed/ready.rs"]
mod ready;
#[path = "speed/rust.rs"]
mod rust;
#[path = "speed/slots.rs"]
mod slots;
#[path = "speed/table.rs"]
mod table;

use machine::Machine;
use peers::Bench;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use table::Group;

/// A family of rows.
type Family = fn(&Bench) -> Result<Vec<Group>, String>;
const FAMILIES: [(&str, Family); 6] = [
    ("ready", |bench| Ok(ready::groups(bench))),
    ("crowd", crowd::groups),
    ("queue", queue::groups),
    ("slots", slots::groups),
    ("footprint", footprint::groups),
    ("python", |bench| Ok(python::groups(bench))),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let done = if arguments.next_if_eq("--count").is_some() {
        counts::run(arguments)
    } else {
        bench(&arguments.collect::<Vec<_>>())
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("speed: {why}");
            ExitCode::FAILURE
        }
    }
}

fn bench(arguments: &[String]) -> Result<(), String> {
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    let named = |name: &&str| has(name);
    let is_bench = has("--bench");
    let only_checks = has("--check");
    let takes_all = !FAMILIES
        .iter()
        .map(|family| family.0)
        .any(|name| named(&name));
    // The C library spares itself the atomic instructions of a mutex in a process that never had a second thread.
    let _ = thread::spawn(|| {}).join();
    let bench = Bench::new(is_bench, !only_checks)?;
    let before = Machine::now();
    let mut groups = Vec::new();
    for (name, family) in FAMILIES {
        if takes_all || has(name) {
            groups.extend(family(&bench)?);
        }
    }
    if !is_bench {
        println!(
            "speed: one round as a smoke test, nothing judged (cargo bench does)\n1 passed, 0 failed, 0 skipped"
        );
        return Ok(());
    }
    let during = before.until_now();
    let title = format!(
        "lazyonce {} | {} | {}",
        env!("CARGO_PKG_VERSION"),
        bench.compiler.version(),
        machine::described()
    );
    let head = format!(
        "{title}\n\nMedians of rounds in turns, ratios too, in an order drawn anew each time, in a process that has a second thread. {during}."
    );
    let text =
        table::markdown(&head, &groups, during.is_busy()).map_err(|error| error.to_string())?;
    print!("{text}");
    if only_checks {
        return check(&groups);
    }
    let target = bench.compiler.directory.ancestors().nth(3);
    let directory = target.unwrap_or(Path::new(".")).join("bench");
    let svg = plot::svg(&title, &groups).map_err(|error| error.to_string())?;
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(directory.join("lazyonce.md"), text))
        .and_then(|()| fs::write(directory.join("lazyonce.svg"), svg))
        .map_err(|error| format!("{}: {error}", directory.display()))
}

fn check(groups: &[Group]) -> Result<(), String> {
    let asked = groups
        .iter()
        .flat_map(|group| &group.rows)
        .filter(|row| row.must.is_some())
        .count();
    let failures: Vec<String> = groups.iter().flat_map(Group::failures).collect();
    println!(
        "{} passed, {} failed, 0 skipped",
        asked - failures.len(),
        failures.len()
    );
    if failures.is_empty() {
        Ok(())
    } else {
        Err(format!("too much: {}", failures.join("; ")))
    }
}
