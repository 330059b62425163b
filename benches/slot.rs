//! What `lazy_slot_get` costs where there is a value, beside `pthread_getspecific` and a C++ `thread_local`: `cargo bench --bench slot`.
//! Prints a table and writes it to `target/bench/slot.md`.
//!
//! Without `--bench`, which is how `cargo test` runs it, it plays one round and judges nothing.

#[path = "../examples/demo/compiler.rs"]
mod compiler;
#[path = "wake/machine.rs"]
mod machine;

use compiler::Compiler;
use machine::Machine;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

const ROUNDS: usize = 2001;
/// The measure of the others.
const MEASURE: usize = 0;
/// What `lazy_slot_get` must reach, in times of `pthread_getspecific`, whatever the number of slots.
const AT_MOST: f64 = 2.5;

fn main() -> ExitCode {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let done = Compiler::new("slot").and_then(|compiler| {
        let program = compiler.compile(
            Path::new("benches/slot.cpp"),
            "slot",
            &compiler.linked(&["lazyonce"]),
        )?;
        if is_bench {
            bench(&compiler, &program)
        } else {
            play(&program, 1)?;
            println!(
                "slot: one round as a smoke test, nothing measured (cargo bench --bench slot does)"
            );
            println!("1 passed, 0 failed, 0 skipped");
            Ok(())
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("slot: {why}");
            ExitCode::FAILURE
        }
    }
}

/// One way to look up: its name and the nanoseconds of each look-up, sorted.
struct Peer {
    name: String,
    times: Vec<f64>,
}

fn play(program: &Path, rounds: usize) -> Result<Vec<Peer>, String> {
    let output = Command::new(program)
        .arg(rounds.to_string())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    let lines = String::from_utf8_lossy(&output.stdout);
    let Some(lines) = lines
        .strip_suffix("done\n")
        .filter(|_| output.status.success())
    else {
        return Err(format!("the program did not end well: {}", output.status));
    };
    let mut peers: Vec<Peer> = Vec::new();
    for (name, time) in lines.lines().filter_map(|line| line.split_once('\t')) {
        let time = time.parse::<f64>().map_err(|error| error.to_string())? / 1000.0;
        match peers.iter_mut().find(|peer| peer.name == name) {
            Some(peer) => peer.times.push(time),
            None => peers.push(Peer {
                name: name.to_owned(),
                times: vec![time],
            }),
        }
    }
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/slot.cpp"))
        .map_err(|error| error.to_string())?;
    // In the order of the program's table, whose numbers it takes.
    peers.sort_by_key(|peer| source.find(&format!("{{\"{}\"", peer.name)));
    for peer in &mut peers {
        peer.times.sort_by(f64::total_cmp);
        if peer.times.len() != rounds {
            return Err(format!("rounds of {} are missing", peer.name));
        }
    }
    Ok(peers)
}

/// Instructions of a look-up by callgrind, which do not vary: those of a thousand in `look_up`, and all that it calls.
fn instructions(program: &Path, peer: usize, directory: &Path) -> Result<f64, String> {
    let report = directory.join("callgrind.out");
    let status = Command::new("valgrind")
        .args(["-q", "--tool=callgrind", "--toggle-collect=look_up"])
        .arg(format!("--callgrind-out-file={}", report.display()))
        .arg(program)
        .args(["0", &peer.to_string()])
        .status()
        .map_err(|error| format!("valgrind: {error}"))?;
    let text = fs::read_to_string(&report).map_err(|error| error.to_string())?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
    match total.and_then(|total| total.trim().parse::<f64>().ok()) {
        Some(total) if status.success() && total > 0.0 => Ok(total / 1000.0),
        _ => Err("callgrind counted nothing".to_owned()),
    }
}

fn bench(compiler: &Compiler, program: &Path) -> Result<(), String> {
    let before = Machine::now();
    let peers = play(program, ROUNDS)?;
    let during = before.until_now();
    let counts = (0..peers.len())
        .map(|peer| instructions(program, peer, &compiler.directory))
        .collect::<Result<Vec<_>, _>>()?;
    let mut text = format!(
        "lazyonce {} | {} | {}\n\n\
         A look-up that finds its value: nanoseconds, median (10th to 90th percentile) of {ROUNDS} rounds of a thousand, interleaved \
         in a random order; and instructions by callgrind, loop and call included. {during}.\n\n\
         | look-up | ns | ratio | instructions | ratio |\n|---|---|---|---|---|\n",
        env!("CARGO_PKG_VERSION"),
        compiler.version(),
        machine::described()
    );
    let mut too_slow = Vec::new();
    for (peer, count) in peers.iter().zip(&counts) {
        let ratio = count / counts[MEASURE];
        let at = |part: f64| peer.times[((peer.times.len() - 1) as f64 * part).round() as usize];
        let median = peers[MEASURE].times[ROUNDS / 2];
        let _ = writeln!(
            text,
            "| {} | {:.2} ({:.2} to {:.2}) | {:.2} | {count:.1} | {ratio:.2} |",
            peer.name,
            at(0.5),
            at(0.1),
            at(0.9),
            at(0.5) / median
        );
        if at(0.5) / median > AT_MOST {
            too_slow.push(peer.name.as_str());
        }
    }
    let holds = if too_slow.is_empty() {
        "holds"
    } else {
        "does NOT hold"
    };
    let _ = writeln!(
        text,
        "\n- at most {AT_MOST} times the nanoseconds of pthread_getspecific {holds}"
    );
    if during.is_busy() {
        let _ = writeln!(text, "- the machine was busy: the nanoseconds say little");
    }
    print!("{text}");
    let target = compiler.directory.ancestors().nth(3);
    let directory = target.unwrap_or(Path::new(".")).join("bench");
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(directory.join("slot.md"), text))
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    if too_slow.is_empty() {
        Ok(())
    } else {
        Err(format!("too slow: {}", too_slow.join(", ")))
    }
}
