//! How long an initializing thread pays for its waiters, and how long the last of them waits, beside other onces:
//! `cargo bench --bench wake`. Prints a table and writes it to `target/bench/wake.md`.
//!
//! Without `--bench`, which is how `cargo test` runs it, it plays one round and judges nothing.

#[path = "../examples/demo/compiler.rs"]
mod compiler;
#[path = "wake/machine.rs"]
mod machine;

use compiler::Compiler;
use machine::Machine;
use std::fmt::{self, Write};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// As wake.cpp takes them: 64 waiters, or 64 that each run on for 20 µs before they sleep.
const CROWDS: [&str; 5] = ["2", "8", "64", "64+20", "256"];
const PEERS: [&str; 4] = ["lazyonce", "std::call_once", "pthread_once", "Rust Once"];
const OURS: usize = 0;
const MEASURE: usize = 1;
const ROUNDS: usize = 301;

/// What lazyonce must reach, in times of `std::call_once`, and with which waiters.
const OWNER_AT_MOST: f64 = 1.0 / 20.0;
const LAST_AT_MOST: f64 = 1.25;
const JUDGED: [&str; 2] = ["64", "64+20"];

fn main() -> ExitCode {
    let done = if std::env::args().any(|argument| argument == "--bench") {
        bench()
    } else {
        smoke_test()
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("wake: {why}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> Result<(), String> {
    let compiler = Compiler::new("wake")?;
    let before = Machine::now();
    let results = play(&compiler, ROUNDS, &CROWDS)?;
    let report = report(&results, &before.until_now(), &compiler.version())
        .map_err(|error| error.to_string())?;
    print!("{report}");
    let target = compiler.directory.ancestors().nth(3);
    let directory = target.unwrap_or(Path::new(".")).join("bench");
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(directory.join("wake.md"), report))
        .map_err(|error| format!("{}: {error}", directory.display()))
}

fn smoke_test() -> Result<(), String> {
    play(&Compiler::new("wake")?, 1, &["2", "8"])?;
    println!("wake: one round as a smoke test, nothing measured (cargo bench --bench wake does)");
    println!("1 passed, 0 failed, 0 skipped");
    Ok(())
}

/// The times of one peer with one crowd, in µs and sorted.
struct Figures {
    owner_back: Vec<f64>,
    last_ran: Vec<f64>,
}

impl Figures {
    /// From lines of crowd, peer and both times in ns.
    fn of(lines: &str, crowd: &str, peer: &str) -> Figures {
        let times = |column: usize| {
            let rows = lines
                .lines()
                .map(|line| line.split('\t').collect::<Vec<_>>());
            let mut times: Vec<f64> = rows
                .filter(|row| row[0] == crowd && row[1] == peer)
                .filter_map(|row| Some(row[column].parse::<f64>().ok()? / 1e3))
                .collect();
            times.sort_by(f64::total_cmp);
            times
        };
        Figures {
            owner_back: times(2),
            last_ran: times(3),
        }
    }
}

/// By crowd, then by peer.
type Results = Vec<[Figures; PEERS.len()]>;

fn play(compiler: &Compiler, rounds: usize, crowds: &[&str]) -> Result<Results, String> {
    compile_rust_once(&compiler.directory)?;
    let libraries = compiler.linked(&["lazyonce", "rust_once"]);
    let program = compiler.compile(Path::new("benches/wake.cpp"), "wake", &libraries)?;
    let output = Command::new(program)
        .arg(rounds.to_string())
        .args(crowds)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    let lines = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !lines.ends_with("done\n") {
        return Err(format!("the program did not end well: {}", output.status));
    }
    let of = |crowd| PEERS.map(|peer| Figures::of(&lines, crowd, peer));
    let results: Results = crowds.iter().map(|crowd| of(crowd)).collect();
    let played = |figures: &Figures| [figures.owner_back.len(), figures.last_ran.len()];
    if results
        .iter()
        .flatten()
        .any(|peer| played(peer) != [rounds; 2])
    {
        return Err("rounds are missing in what the program printed".to_owned());
    }
    Ok(results)
}

fn compile_rust_once(directory: &Path) -> Result<(), String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/wake/rust_once.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=cdylib", "-O", "-o"])
        .arg(directory.join("librust_once.so"))
        .arg(source)
        .status()
        .map_err(|error| format!("cannot start rustc: {error}"))?;
    status
        .success()
        .then_some(())
        .ok_or("rust_once.rs does not compile".to_owned())
}

fn report(results: &Results, during: &Machine, compiler: &str) -> Result<String, fmt::Error> {
    let mut text = format!(
        "lazyonce {} | {compiler} | {}\n\n\
         Microseconds from the end of the initializer: median (10th to 90th percentile) of {ROUNDS} rounds of each, \
         interleaved in a random order. At that moment the kernel showed every waiter asleep in three looks in a row; \
         once back, the initializing thread sleeps. \"+20\": each waiter runs on for 20 µs; the others sleep again at \
         once. {during}.\n\n\
         | waiters | once | initializing thread is back | ratio | last waiter runs | ratio |\n\
         |---|---|---|---|---|---|\n",
        env!("CARGO_PKG_VERSION"),
        machine::described()
    );
    for (crowd, peers) in CROWDS.iter().zip(results) {
        for (name, peer) in PEERS.iter().zip(peers) {
            let [owner, last] = ratios(peer, &peers[MEASURE]);
            writeln!(
                text,
                "| {crowd} | {name} | {} | {owner:.3} | {} | {last:.2} |",
                spread(&peer.owner_back),
                spread(&peer.last_ran)
            )?;
        }
    }
    writeln!(text)?;
    if during.is_busy() {
        writeln!(text, "- not judged: the machine was busy")?;
        return Ok(text);
    }
    for (crowd, peers) in CROWDS.iter().zip(results) {
        if JUDGED.contains(crowd) {
            let [owner, last] = ratios(&peers[OURS], &peers[MEASURE]);
            writeln!(
                text,
                "- {crowd} waiters: initializing thread {owner:.3} of std::call_once, {}; last waiter {last:.2}, {}",
                judged(owner, OWNER_AT_MOST),
                judged(last, LAST_AT_MOST)
            )?;
        }
    }
    Ok(text)
}

fn ratios(peer: &Figures, measure: &Figures) -> [f64; 2] {
    [
        at(&peer.owner_back, 0.5) / at(&measure.owner_back, 0.5),
        at(&peer.last_ran, 0.5) / at(&measure.last_ran, 0.5),
    ]
}

fn judged(ratio: f64, at_most: f64) -> String {
    let holds = if ratio <= at_most {
        "holds"
    } else {
        "does NOT hold"
    };
    format!("at most {at_most} {holds}")
}

fn spread(sorted: &[f64]) -> String {
    format!(
        "{:.1} ({:.1} to {:.1})",
        at(sorted, 0.5),
        at(sorted, 0.1),
        at(sorted, 0.9)
    )
}

fn at(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}
