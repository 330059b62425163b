//! `Once.call` of the Python package.

use crate::Bench;
use crate::harness::Samples;
use crate::table::{Group, Must, Row, Unit};
use std::path::Path;
use std::process::Command;

const FLOW: &str = "PyTorch's fixed _lazy_call, in Python";
const OURS: &str = "Once.call";

pub fn groups(bench: &Bench) -> Vec<Group> {
    if !bench.takes_times {
        return Vec::new();
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(bench.python())
        .arg(package.join("benches/peers/ready.py"))
        .arg(bench.rounds(301).to_string())
        .env("PYTHONPATH", package.join("python"))
        .env("LAZYONCE_LIBRARY", bench.library_file())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output();
    let (lines, why) = match output {
        Err(error) => (String::new(), format!("{}: {error}", bench.python())),
        Ok(output) => (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr)
                .trim()
                .lines()
                .last()
                .unwrap_or("not measured")
                .to_owned(),
        ),
    };
    // Lines of a name, then nanoseconds or why there are none.
    let figure = |name: &str| {
        let of_name = |line: &'_ str| {
            line.strip_prefix(name)?
                .strip_prefix('\t')
                .map(str::to_owned)
        };
        let texts: Vec<String> = lines.lines().filter_map(of_name).collect();
        let numbers: Vec<f64> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        if numbers.is_empty() {
            Err(texts.first().unwrap_or(&why).clone())
        } else {
            Ok(Samples::new(numbers))
        }
    };
    let mut rows: Vec<Row> = [
        FLOW,
        "PyTorch's own _lazy_call",
        "direct call, in Python",
        OURS,
    ]
    .map(|name| Row::new(name, figure(name)))
    .into();
    rows[3].must = Some(Must::Times(1.1));
    vec![Group {
        title: "a once that is ready, in Python",
        about: "Nanoseconds of one call with a function that does nothing (timeit, 2000 at a time, in turns). PyTorch's fixed flow is written \
                out: a function that asks `is_initialized()`, which asks a flag and the bad-fork function, and then calls. Its own: \
                `torch.cuda._lazy_call` with the flag set, where torch is installed."
            .to_owned(),
        unit: Unit::Nanoseconds,
        measure: Some(FLOW),
        rows,
        is_plotted: true,
    }]
}
