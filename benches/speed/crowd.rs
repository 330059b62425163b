//! The crowd of the first call: when is the initializing thread back, and when does the last waiter run?

use crate::Bench;
use crate::harness::{Samples, interleaved};
use crate::library::Gate;
use crate::table::{Group, Must, Row, Unit};

/// How many wait, for how long each runs on before it sleeps again, and whether they live under a host's lock.
struct Crowd {
    waiters: u32,
    runs_on_ns: i64,
    hosted: bool,
    title: [&'static str; 2],
}

const fn crowd(waiters: u32, runs_on_ns: i64, hosted: bool, title: [&'static str; 2]) -> Crowd {
    Crowd {
        waiters,
        runs_on_ns,
        hosted,
        title,
    }
}

const CROWDS: [Crowd; 6] = [
    crowd(
        2,
        0,
        false,
        [
            "2 waiters: initializing thread is back",
            "2 waiters: last one runs",
        ],
    ),
    crowd(
        8,
        0,
        false,
        [
            "8 waiters: initializing thread is back",
            "8 waiters: last one runs",
        ],
    ),
    crowd(
        64,
        0,
        false,
        [
            "64 waiters: initializing thread is back",
            "64 waiters: last one runs",
        ],
    ),
    crowd(
        64,
        20_000,
        false,
        [
            "64 waiters that work on: initializing thread is back",
            "64 waiters that work on: last one runs",
        ],
    ),
    crowd(
        256,
        0,
        false,
        [
            "256 waiters: initializing thread is back",
            "256 waiters: last one runs",
        ],
    ),
    crowd(
        64,
        0,
        true,
        [
            "64 waiters under a host's lock: initializing thread is back",
            "64 waiters under a host's lock: last one has it again",
        ],
    ),
];
const MEASURE: &str = "std::call_once";

pub fn groups(bench: &Bench) -> Result<Vec<Group>, String> {
    if !bench.takes_times {
        return Ok(Vec::new());
    }
    let library = bench.library("crowd")?;
    // SAFETY: as in peers/crowd.cpp, all three.
    let (begin, play, end): (
        extern "C" fn(u32, i64),
        extern "C" fn(&Gate, &mut [i64; 2]),
        extern "C" fn(),
    ) = unsafe {
        (
            library.function(c"crowd_begin")?,
            library.function(c"crowd_play")?,
            library.function(c"crowd_end")?,
        )
    };
    let everybody = bench.gates();
    let mut groups = Vec::new();
    for crowd in &CROWDS {
        let (gates, missing) = if crowd.hosted {
            (library.gates.clone(), &[][..])
        } else {
            (everybody.0.clone(), &everybody.1[..])
        };
        begin(crowd.waiters, crowd.runs_on_ns);
        let played = interleaved(&gates, bench.rounds(301), |gate| {
            let mut ns = [0; 2];
            play(gate, &mut ns);
            ns.map(|ns| ns as f64 / 1e3)
        });
        end();
        for (part, limit) in [(0, 1.0 / 20.0), (1, 1.25)] {
            let rows = gates
                .iter()
                .zip(&played)
                .map(|(gate, figures)| row(crowd, gate.name(), figures[part].clone(), limit));
            let missing = missing
                .iter()
                .map(|(name, why)| Row::new(name.clone(), Err(why.clone())));
            groups.push(Group {
                title: crowd.title[part],
                about: about(crowd, part),
                unit: Unit::Microseconds,
                measure: Some(MEASURE),
                rows: rows.chain(missing).collect(),
                is_plotted: crowd.waiters == 64 && !crowd.hosted && crowd.runs_on_ns == 0,
            });
        }
    }
    Ok(groups)
}

fn row(crowd: &Crowd, name: &str, samples: Samples, limit: f64) -> Row {
    let row = Row::new(name, Ok(samples));
    if row.is_ours() && crowd.waiters == 64 && !crowd.hosted {
        row.must(Must::Times(limit))
    } else {
        row
    }
}

fn about(crowd: &Crowd, part: usize) -> String {
    let what = [
        "the initializing thread is back from its call",
        "the last waiter is back from its own",
    ][part];
    let begin = format!("Microseconds from the end of the initializer until {what}");
    if crowd.hosted {
        format!(
            "{begin}, with a mutex in place of an interpreter's lock that everybody holds when calling and when back: `lazy_once_init` with \
             a `lazy_host`; and `std::call_once` as pybind11 uses it, the lock given up around it and taken inside. The initializer \
             lets the lock go until all wait."
        )
    } else if crowd.runs_on_ns > 0 {
        format!(
            "{begin}; each waiter then runs on for {} µs before it sleeps.",
            crowd.runs_on_ns / 1000
        )
    } else {
        let tried = if crowd.waiters == 64 && part == 1 {
            " Where the initializing thread wakes all by itself it is back after 160 µs, and the last one runs 1.13 times as late as that of \
             `std::call_once`. Other numbers of relays, 1 to 15 that wake 2 to 32 each, change its own time by less than 5 %; sleeps \
             without a timer make it some 4 % shorter."
        } else {
            ""
        };
        format!(
            "{begin}; {} threads wait in the once, which the kernel showed as asleep in three looks in a row; whoever is back sleeps. A \
             fresh once in each round. {}{tried}",
            crowd.waiters,
            [
                "What the initializing thread of lazyonce pays is one wake-up of another CPU, which no once can go below as long as \
                 anybody waits.",
                "Of lazyonce's last one, the wake-ups that hand the matter on, one after the other, are what it is later by.",
            ][part]
        )
    }
}
