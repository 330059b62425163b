//! A slot's value that is there.

use crate::Bench;
use crate::counts::Counted;
use crate::harness::{Samples, interleaved, time};
use crate::library::Library;
use crate::table::{Group, Must, Row, Unit};

const MEASURE: &str = "pthread_getspecific";
/// In times of the measure.
const TIME: Must = Must::Times(2.5);
/// So that it does not grow.
const COUNT: Must = Must::AtMost(70.0);
const TURNS: u64 = 1000;

pub fn groups(bench: &Bench) -> Result<Vec<Group>, String> {
    let library = bench.library("slots")?;
    let counted: Vec<Counted> = (0..library.loops.len())
        .map(|place| Counted {
            library: "slots",
            place,
            turns: TURNS,
        })
        .collect();
    let counts = bench.count(&counted);
    let counts =
        (0..counted.len()).map(|place| counts.clone().map(|counts| Samples::exact(counts[place])));
    let mut groups = vec![group(
        "a slot's value, counted",
        "Instructions of a look-up that finds its value, the loop and the call included: callgrind, 2000 turns less 1000. \
         `pthread_getspecific` is called through its PLT, as `lazy_slot_get` is. With so many slots, each has a value of this \
         thread. What is asked is time; here it is that this does not grow. Where it goes: 15 into the checks of the arguments, \
         of the owner and of a retired slot, 28 into the look-up by slot and index, 5 into finding this thread's storage; that is \
         the way where glibc has room for the storage of libraries that are loaded late (`glibc.rtld.optional_static_tls`), and \
         15 more where it has not.",
        Unit::Instructions,
        &library,
        counts.collect(),
    )];
    if bench.takes_times {
        for each in &library.loops {
            each.prepare(TURNS);
        }
        let played = interleaved(&library.loops, bench.rounds(2001), |each| {
            [time(
                &crate::library::Loop {
                    before: None,
                    ..*each
                },
                TURNS,
            )]
        });
        groups.push(group(
            "a slot's value",
            "Nanoseconds of the same, in rounds of 1000 look-ups; ten thousand slots have values while all of them are measured.",
            Unit::Nanoseconds,
            &library,
            played.into_iter().map(|[samples]| Ok(samples)).collect(),
        ));
    }
    Ok(groups)
}

fn group(
    title: &'static str,
    about: &str,
    unit: Unit,
    library: &Library,
    figures: Vec<Result<Samples, String>>,
) -> Group {
    let row = |(name, figure): (&'static str, _)| {
        let row = Row::new(name, figure);
        if row.is_ours() {
            row.must(if unit.varies() { TIME } else { COUNT })
        } else {
            row
        }
    };
    let names = library.loops.iter().map(|each| each.name);
    Group {
        title,
        about: about.to_owned(),
        unit,
        measure: Some(MEASURE),
        rows: names.zip(figures).map(row).collect(),
        is_plotted: unit.varies(),
    }
}
