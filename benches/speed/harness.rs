//! Times: everything that is compared is played in turns, in an order drawn anew in each round, by one process.

use crate::library::Loop;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// What was measured of one thing.
#[derive(Clone)]
pub struct Samples {
    by_round: Vec<f64>,
    sorted: Vec<f64>,
}

impl Samples {
    pub fn new(by_round: Vec<f64>) -> Samples {
        let mut sorted = by_round.clone();
        sorted.sort_by(f64::total_cmp);
        Samples { by_round, sorted }
    }

    /// What does not vary.
    pub fn exact(value: f64) -> Samples {
        Samples::new(vec![value])
    }

    pub fn at(&self, part: f64) -> f64 {
        self.sorted[((self.sorted.len() - 1) as f64 * part).round() as usize]
    }

    /// How many times the other: the median of what the rounds say, in each of which both met the same machine.
    pub fn times(&self, other: &Samples) -> f64 {
        if self.by_round.len() != other.by_round.len() {
            return self.median() / other.median();
        }
        let pairs = self.by_round.iter().zip(&other.by_round);
        Samples::new(pairs.map(|(ours, theirs)| ours / theirs).collect()).median()
    }

    pub fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// The 10th and the 90th percentile, where there is more than one value.
    pub fn spread(&self) -> Option<(f64, f64)> {
        (self.sorted.len() > 1).then(|| (self.at(0.1), self.at(0.9)))
    }
}

/// Numbers that nobody predicts, the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Plays each of `items` once in every round; a play gives `N` figures. The first rounds, in which caches and pools fill, count for
/// nothing.
pub fn interleaved<T, const N: usize>(
    items: &[T],
    rounds: usize,
    mut play: impl FnMut(&T) -> [f64; N],
) -> Vec<[Samples; N]> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut order: Vec<usize> = (0..items.len()).collect();
    let mut seen: Vec<[Vec<f64>; N]> = items.iter().map(|_| [const { Vec::new() }; N]).collect();
    let unmeasured = rounds.min(3);
    for round in 0..unmeasured + rounds {
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        for &item in &order {
            let figures = play(&items[item]);
            if round >= unmeasured {
                for (all, figure) in seen[item].iter_mut().zip(figures) {
                    all.push(figure);
                }
            }
        }
    }
    seen.into_iter()
        .map(|figures| figures.map(Samples::new))
        .collect()
}

/// How several threads run one loop.
#[derive(Clone, Copy, PartialEq)]
pub enum Sharing {
    /// The same object.
    Shared,
    /// An object of its own.
    Apart,
}

/// Nanoseconds of one turn.
pub fn time(each: &Loop, times: u64) -> f64 {
    each.prepare(times);
    let began = Instant::now();
    (each.run)(black_box(times), 0);
    let took = began.elapsed();
    each.clear();
    took.as_nanos() as f64 / times as f64
}

/// The same with `threads` at once, each of which makes so many turns: from the first that begins to the last that ends.
pub fn time_on(each: &Loop, times: u64, threads: usize, sharing: Sharing) -> f64 {
    each.prepare(times);
    let start = Barrier::new(threads);
    let spans: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|number| {
                let start = &start;
                scope.spawn(move || {
                    let which = if sharing == Sharing::Apart { number } else { 0 };
                    start.wait();
                    let began = Instant::now();
                    (each.run)(black_box(times), which as u32);
                    (began, Instant::now())
                })
            })
            .collect();
        let ended = |worker: thread::ScopedJoinHandle<'_, _>| worker.join().ok();
        workers.into_iter().filter_map(ended).collect()
    });
    each.clear();
    let began = spans.iter().map(|span| span.0).min();
    let ended = spans.iter().map(|span| span.1).max();
    match (began, ended) {
        (Some(began), Some(ended)) => (ended - began).as_nanos() as f64 / times as f64,
        _ => f64::NAN,
    }
}
