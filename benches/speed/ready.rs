//! A once that is ready: what it costs where it is called a million times.

use crate::Bench;
use crate::counts::Counted;
use crate::harness::{Samples, Sharing, interleaved, time, time_on};
use crate::library::Loop;
use crate::table::{Group, Must, Row, Unit};

const TURNS: u64 = 10_000;
const EMPTY: &str = "empty loop";
const DIRECT: &str = "direct call";

/// What is asked of each of ours: instructions over the empty loop, or over the direct call of the same callback.
const ASKED: [(&str, &str, f64); 5] = [
    ("lazy_once_is_initialized", EMPTY, 3.0),
    ("lazy_once_init", EMPTY, 3.0),
    ("lazy_once_call", DIRECT, 3.0),
    ("is_initialized", EMPTY, 9.0),
    ("lazy_call", DIRECT, 14.0),
];

/// What the rows are called in the table.
fn shown(name: &str) -> String {
    match name {
        "lazy_once_is_initialized" | "lazy_once_init" | "lazy_once_run" | "lazyonce::call_once" => {
            format!("{name}, inline")
        }
        "lazy_once_call" => "lazy_once_call, inline, with its callback".to_owned(),
        "is_initialized" => "is_initialized, exported".to_owned(),
        "lazy_call" => "lazy_call, exported, with its callback".to_owned(),
        DIRECT => "direct call of that callback".to_owned(),
        name => name.to_owned(),
    }
}

pub fn groups(bench: &Bench) -> Vec<Group> {
    let loops = bench.ready_loops();
    let mut groups = vec![instructions(bench, &loops)];
    if bench.takes_times {
        groups.push(times(bench, &loops));
        groups.push(two_threads(bench, &loops));
    }
    groups
}

/// A loop with where it stands, or why there is none.
pub type Found = (String, Result<(&'static str, usize, Loop), String>);

fn here(loops: &[Found]) -> Vec<&(&'static str, usize, Loop)> {
    loops
        .iter()
        .filter_map(|(_, found)| found.as_ref().ok())
        .collect()
}

/// The figures of those that are here, among those that are not.
fn rows(loops: &[Found], figures: Result<Vec<Samples>, String>) -> Vec<Row> {
    let mut figures = figures.map(Vec::into_iter);
    let row = |(name, found): &Found| {
        let figure = match (found, &mut figures) {
            (Err(why), _) => Err(why.clone()),
            (Ok(_), Err(why)) => Err(why.clone()),
            (Ok(_), Ok(figures)) => figures.next().ok_or("not measured".to_owned()),
        };
        Row::new(shown(name), figure)
    };
    loops.iter().map(row).collect()
}

fn instructions(bench: &Bench, loops: &[Found]) -> Group {
    let here = here(loops);
    let counted: Vec<Counted> = here
        .iter()
        .map(|&&(library, place, _)| Counted {
            library,
            place,
            turns: 1000,
        })
        .collect();
    let counts = bench.count(&counted);
    let of = |name: &str| {
        let place = here.iter().position(|found| found.2.name == name)?;
        Some(counts.as_ref().ok()?[place])
    };
    let empty = of(EMPTY).unwrap_or_default();
    let limits: Vec<(String, Must)> = ASKED
        .iter()
        .map(|(name, over, limit)| {
            (
                shown(name),
                Must::AtMost(of(over).unwrap_or_default() - empty + limit),
            )
        })
        .collect();
    let over_empty = counts.clone().map(|counts| {
        counts
            .iter()
            .map(|count| Samples::exact(count - empty))
            .collect()
    });
    let mut rows = rows(loops, over_empty);
    for row in &mut rows {
        row.must = limits
            .iter()
            .find(|(name, _)| *name == row.who)
            .map(|(_, must)| *must);
    }
    rows.retain(|row| row.who != EMPTY);
    Group {
        title: "a once that is ready",
        about: "Instructions of one use of a once that is ready, over the empty loop: callgrind counts a loop of 1000 turns and one of \
                2000, everything that they call included; the difference, by 1000, less the same for a loop that does nothing. gcc or \
                clang -O2 in a shared object (-fPIC, initial-exec thread-local storage, as in a program), Rust as the bench profile has \
                it. Each use tests the result. \"With its callback\": what it runs, a function that returns 0, is in it; the direct call \
                of the same function through a pointer is what such a row is measured by. pybind11: with the interpreter's lock held, as \
                it asks for, which is not counted."
            .to_owned(),
        unit: Unit::Instructions,
        measure: None,
        rows,
        is_plotted: true,
    }
}

fn times(bench: &Bench, loops: &[Found]) -> Group {
    let here = here(loops);
    let played = interleaved(&here, bench.rounds(1001), |found| [time(&found.2, TURNS)]);
    Group {
        title: "the same in time",
        about: format!(
            "Nanoseconds of one turn of the same loops, the loop itself included, in rounds of {TURNS} turns of each, in turns."
        ),
        unit: Unit::Nanoseconds,
        measure: Some("std::call_once"),
        rows: rows(
            loops,
            Ok(played.into_iter().map(|[samples]| samples).collect()),
        ),
        is_plotted: false,
    }
}

fn two_threads(bench: &Bench, loops: &[Found]) -> Group {
    let names = [
        "lazy_once_init",
        "std::call_once",
        "pthread_once",
        "absl::call_once",
        "Rust Once",
    ];
    let mut items = Vec::new();
    let mut rows = Vec::new();
    for (name, found) in loops
        .iter()
        .filter(|(name, _)| names.contains(&name.as_str()))
    {
        match found {
            Err(why) => rows.push(Row::new(name.clone(), Err(why.clone()))),
            Ok((.., each)) => items.extend([(each, Sharing::Shared), (each, Sharing::Apart)]),
        }
    }
    let played = interleaved(&items, bench.rounds(201), |(each, sharing)| {
        [time_on(each, 10 * TURNS, 2, *sharing)]
    });
    rows.extend(
        items
            .iter()
            .zip(played)
            .map(|((each, sharing), [samples])| {
                let onces = if *sharing == Sharing::Shared {
                    "on one"
                } else {
                    "on two"
                };
                Row::new(format!("{}, {onces}", each.name), Ok(samples))
            }),
    );
    Group {
        title: "two threads on a once that is ready",
        about: "Nanoseconds of one turn of each of two threads that run at once, both on one once, or each on its own, on cache lines \
                of their own: from the first that begins to the last that ends, 100,000 turns each."
            .to_owned(),
        unit: Unit::Nanoseconds,
        measure: Some("std::call_once, on one"),
        rows,
        is_plotted: false,
    }
}
