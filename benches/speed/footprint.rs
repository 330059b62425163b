//! What the library takes: memory, size, and time to load.

use crate::Bench;
use crate::harness::{Samples, interleaved};
use crate::table::{Group, Must, Row, Unit};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn groups(bench: &Bench) -> Result<Vec<Group>, String> {
    let empty = compile_empty(bench)?;
    let mut groups = vec![memory(bench)?, size(bench, &empty)?];
    if bench.takes_times {
        groups.push(load_time(bench, &empty)?);
    }
    Ok(groups)
}

fn memory(bench: &Bench) -> Result<Group, String> {
    let library = bench.library("footprint")?;
    // SAFETY: as in peers/footprint.cpp, all three.
    let (of_once, of_request, of_thread): (
        extern "C" fn(bool) -> f64,
        extern "C" fn(u64) -> f64,
        extern "C" fn(bool) -> f64,
    ) = unsafe {
        (
            library.function(c"bytes_of_once")?,
            library.function(c"bytes_of_request")?,
            library.function(c"bytes_of_thread")?,
        )
    };
    let exact = |bytes: f64| Ok(Samples::exact(bytes));
    let rows = vec![
        Row::new(
            "lazy_once that is ready, not configured",
            exact(of_once(false)),
        )
        .must(Must::AtMost(32.0)),
        Row::new("lazy_once that is ready, configured", exact(of_once(true))),
        Row::new(
            "lazy_once_call, queued: one of a million",
            exact(of_request(1_000_000)),
        )
        .must(Must::AtMost(48.0)),
        Row::new(
            "lazy_once_init, of a thread that has called it",
            exact(of_thread(false)),
        ),
        Row::new(
            "lazy_slot_get, of a thread that has called it as well",
            exact(of_thread(true)),
        ),
    ];
    Ok(Group {
        title: "memory",
        about: "Bytes that the allocator has given out (`mallinfo2`), and those of the `lazy_once` itself, by 1000 onces, a million \
                requests, 64 threads; of a thread, what stands in its thread-local storage is not in it. The contract: 32 bytes for a once \
                that is not configured, 48 MB for a million plain requests."
            .to_owned(),
        unit: Unit::Bytes,
        measure: None,
        rows,
        is_plotted: false,
    })
}

fn size(bench: &Bench, empty: &Path) -> Result<Group, String> {
    let size = |path: &Path| {
        let stripped = bench.compiler.directory.join("stripped.so");
        let done = Command::new("strip")
            .arg("-o")
            .arg(&stripped)
            .arg(path)
            .status();
        match done {
            Ok(status) if status.success() => fs::metadata(&stripped)
                .map(|file| Samples::exact(file.len() as f64 / 1024.0))
                .map_err(|error| error.to_string()),
            Ok(status) => Err(format!("strip: {status}")),
            Err(error) => Err(format!("strip: {error}")),
        }
    };
    Ok(Group {
        title: "size of the shared library, stripped",
        about: "KiB of the file after `strip`; and of one that needs the same libraries (libc, libgcc_s) and holds one empty function.".to_owned(),
        unit: Unit::KiB,
        measure: None,
        rows: vec![
            Row::new("liblazyonce.so", size(&bench.library_file())).must(Must::AtMost(450.0)),
            Row::new("empty.so", size(empty)),
        ],
        is_plotted: false,
    })
}

fn compile_empty(bench: &Bench) -> Result<PathBuf, String> {
    let flags = ["-shared", "-fPIC", "-Wl,--no-as-needed", "-lgcc_s"].map(str::to_owned);
    bench
        .compiler
        .compile(Path::new("benches/peers/empty.c"), "empty.so", &flags)
}

fn load_time(bench: &Bench, empty: &Path) -> Result<Group, String> {
    let loader = bench
        .compiler
        .compile(Path::new("benches/peers/loads.c"), "loads", &[])?;
    let objects = [empty.to_owned(), bench.library_file()];
    let played = interleaved(&objects, bench.rounds(201), |object| {
        let output = Command::new(&loader).arg(object).output();
        let text = output
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
            .unwrap_or_default();
        [text.trim().parse().map_or(f64::NAN, |ns: f64| ns / 1e3)]
    });
    let rows = ["empty.so", "liblazyonce.so"]
        .iter()
        .zip(played)
        .map(|(who, [samples])| Row::new(*who, Ok(samples)));
    Ok(Group {
        title: "loading the shared library",
        about: "Microseconds of `dlopen(RTLD_NOW)` in a fresh process that has only libc, libgcc_s included; and of the empty object.".to_owned(),
        unit: Unit::Microseconds,
        measure: Some("empty.so"),
        rows: rows.collect(),
        is_plotted: false,
    })
}
