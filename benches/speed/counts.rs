//! Instructions, which do not vary: by callgrind, in a second process that runs each loop for a number of turns and for twice as many.

use crate::library::{Library, Loop, RawLoop};
use crate::rust;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// One loop to be counted: the library that shows it, its place there, and how many turns.
pub struct Counted {
    pub library: &'static str,
    pub place: usize,
    pub turns: u64,
}

/// The instructions of one turn of each, everything that it calls included.
pub fn count(directory: &Path, loops: &[Counted]) -> Result<Vec<f64>, String> {
    let out = directory.join("callgrind");
    let status = Command::new("valgrind")
        .args(["-q", "--tool=callgrind"])
        .args(["--toggle-collect=measured", "--dump-after=measured"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe().map_err(|error| error.to_string())?)
        .arg("--count")
        .arg(directory)
        .args(
            loops
                .iter()
                .map(|each| format!("{} {} {}", each.library, each.place, each.turns)),
        )
        .stdout(Stdio::null())
        .status()
        .map_err(|error| format!("valgrind: {error}"))?;
    if !status.success() {
        return Err(format!("valgrind: {status}"));
    }
    let total = |part: usize| -> Result<f64, String> {
        let path = format!("{}.{part}", out.display());
        let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        total
            .and_then(|total| total.trim().parse().ok())
            .ok_or("callgrind counted nothing".to_owned())
    };
    let per_turn = |(place, each): (usize, &Counted)| {
        Ok((total(2 * place + 2)? - total(2 * place + 1)?) / each.turns as f64)
    };
    loops.iter().enumerate().map(per_turn).collect()
}

/// What the second process does: `directory`, then a [`Counted`] in each argument.
pub fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let directory = arguments.next().ok_or("no directory")?;
    let directory = Path::new(&directory);
    let _ = thread::spawn(|| {}).join();
    // SAFETY: as in peers/ready.cpp.
    let measured: extern "C" fn(&RawLoop, u64) =
        unsafe { Library::open(directory, "ready")?.function(c"measured")? };
    for argument in arguments {
        let words: Vec<&str> = argument.split(' ').collect();
        let [name, place, turns] = words[..] else {
            return Err(format!("not a loop: {argument}"));
        };
        let library = match name {
            "rust" => rust::library(),
            name => Library::open(directory, name)?,
        };
        let turns: u64 = turns.parse().map_err(|_| "not a number of turns")?;
        let place: usize = place.parse().map_err(|_| "not a place")?;
        let each: &Loop = library.loops.get(place).ok_or("no such loop")?;
        // Once without a look, for what the first time brings.
        each.prepare(1);
        (each.run)(1, 0);
        each.clear();
        for turns in [turns, 2 * turns] {
            each.prepare(turns);
            measured(&RawLoop::of(each), turns);
            each.clear();
        }
    }
    Ok(())
}
