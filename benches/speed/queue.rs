//! The queue, beside a vector under a mutex.

use crate::Bench;
use crate::counts::Counted;
use crate::harness::{Samples, Sharing, interleaved, time, time_on};
use crate::table::{Group, Must, Row, Unit};

const PUSH: &str = "std::mutex and std::vector::push_back";
const QUEUE: &str = "lazy_once_call";
const CALLS: &str = "calls from a std::vector";
const DRAIN: &str = "lazy_once_init";
const MILLION: u64 = 1_000_000;

pub fn groups(bench: &Bench) -> Result<Vec<Group>, String> {
    let mut groups = counts(bench)?;
    if bench.takes_times {
        groups.extend(times(bench)?);
    }
    Ok(groups)
}

fn pair(
    title: &'static str,
    about: &str,
    unit: Unit,
    names: [&'static str; 2],
    figures: [Result<Samples, String>; 2],
    must: Option<Must>,
) -> Group {
    let [theirs, ours] = figures;
    let mut ours = Row::new(names[1], ours);
    ours.must = must;
    Group {
        title,
        about: about.to_owned(),
        unit,
        measure: Some(names[0]),
        rows: vec![Row::new(names[0], theirs), ours],
        is_plotted: unit.varies() && must.is_some(),
    }
}

fn counts(bench: &Bench) -> Result<Vec<Group>, String> {
    let library = bench.library("queue")?;
    let counted: Vec<Counted> = (0..library.loops.len())
        .map(|place| Counted {
            library: "queue",
            place,
            turns: 10_000,
        })
        .collect();
    let counts = bench.count(&counted);
    let of = |name: &str| {
        let place = library.loops.iter().position(|each| each.name == name);
        let counts = counts.clone()?;
        Ok(Samples::exact(counts[place.ok_or("no such loop")?]))
    };
    let queueing = pair(
        "queueing a plain request, counted",
        "Instructions of handing in one callback with nothing ready, and of the same 32 bytes under a mutex: callgrind, \
         20,000 requests less 10,000, growth included. What is asked is time; here it is that this does not grow. Where it \
         goes: 124 into the function that refuses signal handlers, looks for a fork, a longjmp and an observer, takes the lock, \
         appends and leaves the lock, 22 into finding this thread's storage twice, 17 into what tries READY first.",
        Unit::Instructions,
        [PUSH, QUEUE],
        [of(PUSH), of(QUEUE)],
        Some(Must::AtMost(195.0)),
    );
    let draining = pair(
        "draining, counted",
        "Instructions of running one of 10,000 queued callbacks in `lazy_once_init`, the callback included, and of calling \
         it from the vector. What is asked is time; here it is that this does not grow. Where it goes: 24 into the loop, which \
         looks at four things for each request (is it the last or must another one come first, has a fork or a close ended this, \
         did it fail, did it leave a text), the rest into taking, giving back and freeing blocks of 512.",
        Unit::Instructions,
        [CALLS, DRAIN],
        [of(CALLS), of(DRAIN)],
        Some(Must::AtMost(34.0)),
    );
    Ok(vec![queueing, draining])
}

fn times(bench: &Bench) -> Result<Vec<Group>, String> {
    let library = bench.library("queue")?;
    let find = |name: &str| library.find(name).ok_or(format!("{name} is missing"));
    let (pushes, calls) = ([find(PUSH)?, find(QUEUE)?], [find(CALLS)?, find(DRAIN)?]);
    let mut groups = Vec::new();
    let titles = [
        (
            1,
            "queueing a plain request",
            "Nanoseconds of each of 100,000 requests, from an empty queue, growth included, in memory that the process has.",
        ),
        (
            2,
            "queueing, 2 producers",
            "The same on two threads at once: from the first that begins to the last that ends, by the requests of both.",
        ),
        (4, "queueing, 4 producers", "The same on four."),
    ];
    for (threads, title, about) in titles {
        let played = interleaved(&pushes, bench.rounds(101), |each| match threads {
            1 => [time(each, 100_000)],
            threads => [time_on(each, 100_000, threads, Sharing::Shared) / threads as f64],
        });
        groups.push(pair(
            title,
            about,
            Unit::Nanoseconds,
            [PUSH, QUEUE],
            both(played)?,
            (threads == 1).then_some(Must::Times(1.25)),
        ));
    }
    let played = interleaved(&calls, bench.rounds(21), |each| [time(each, MILLION)]);
    groups.push(pair(
        "draining a million plain requests",
        "Nanoseconds of each of a million queued callbacks that count: `lazy_once_init` until the once is ready and nothing is allocated; \
         and calling as many from a vector, which stays.",
        Unit::Nanoseconds,
        [CALLS, DRAIN],
        both(played)?,
        Some(Must::Times(2.0)),
    ));
    Ok(groups)
}

fn both(played: Vec<[Samples; 1]>) -> Result<[Result<Samples, String>; 2], String> {
    let samples: Vec<_> = played.into_iter().map(|[samples]| Ok(samples)).collect();
    samples.try_into().map_err(|_| "not two".to_owned())
}
