//! Each memory order weakened to `Relaxed`, each wake dropped and each step left out, one at a time: some model must fail, or the mutation
//! stands in the list of what no model can see, with its reason.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release --test mutations --target-dir target/loom`

#![allow(missing_docs)]

#[cfg(loom)]
use std::process::Command;

#[cfg(not(loom))]
fn main() {
    println!("0 mutations: this build is not --cfg loom");
}

#[cfg(loom)]
fn main() -> std::process::ExitCode {
    use lazyonce::model::{ORDERS, STEPS, UNSEEN, WAKES};
    use libtest_mimic::{Arguments, Trial};

    let arguments = Arguments::from_args();
    let trials = ORDERS
        .iter()
        .chain(WAKES)
        .chain(STEPS)
        .map(|&name| {
            let reason = UNSEEN
                .iter()
                .find(|(unseen, _)| *unseen == name)
                .map(|(_, reason)| *reason);
            Trial::test(format!("mutation_{name}"), move || seen(name, reason))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs one model after another with the mutation, each in a fresh process, until one fails.
#[cfg(loom)]
fn seen(name: &str, unseen: Option<&str>) -> Result<(), libtest_mimic::Failed> {
    let program = models()?;
    let list = Command::new(&program)
        .args(["--list", "--format", "terse"])
        .output()?;
    let list = String::from_utf8(list.stdout)?;
    let failing = list
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .find(|model| {
            let output = Command::new(&program)
                .args(["--exact", model])
                .env("LAZYONCE_MUTATION", name)
                .output();
            !output.expect("the models can be run").status.success()
        });
    match (failing, unseen) {
        (Some(model), None) => Ok(eprintln!("{name}: seen by {model}")),
        (None, Some(reason)) => Ok(eprintln!("{name}: seen by no model: {reason}")),
        (None, None) => Err(format!("no model fails without {name}").into()),
        (Some(model), Some(_)) => {
            Err(format!("{name} is seen by {model}: take it off the list").into())
        }
    }
}

/// The newest build of `tests/loom.rs`.
#[cfg(loom)]
fn models() -> Result<std::path::PathBuf, Box<dyn std::error::Error>> {
    let folder = std::env::current_exe()?
        .parent()
        .ok_or("no folder")?
        .to_owned();
    std::fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_none())
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("loom-"))
        })
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok())
        .ok_or_else(|| "the models are not built: run `--test loom` first".into())
}
