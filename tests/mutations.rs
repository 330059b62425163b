//! Each memory order weakened to `Relaxed` and each wake dropped, one at a time: some model must fail, or the mutation
//! stands in the list of what no model can see, with its reason.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release --test mutations --target-dir target/loom`

#![allow(missing_docs)]

#[cfg(not(loom))]
fn main() {
    println!("0 mutations: this build is not --cfg loom");
}

#[cfg(loom)]
fn main() -> std::process::ExitCode {
    use lazyonce::model::{ORDERS, UNSEEN, WAKES};
    use libtest_mimic::{Arguments, Trial};

    let arguments = Arguments::from_args();
    let trials = ORDERS
        .iter()
        .chain(WAKES)
        .map(|&name| {
            let reason = UNSEEN.iter().find(|(unseen, _)| *unseen == name).map(|(_, reason)| *reason);
            Trial::test(format!("mutation_{name}"), move || seen(name, reason))
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs the models with one mutation, in fresh processes, until one fails.
#[cfg(loom)]
fn seen(name: &str, unseen: Option<&str>) -> Result<(), libtest_mimic::Failed> {
    let models = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let program = std::fs::read_dir(&models)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none() && path.file_name().unwrap().to_str().unwrap().starts_with("loom-"))
        .max_by_key(|path| path.metadata().unwrap().modified().unwrap())
        .ok_or("the models are not built: run `--test loom` first")?;
    let output = std::process::Command::new(program)
        .args(["--test-threads", "1"])
        .env("LAZYONCE_MUTATION", name)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let failing: Vec<_> = text.lines().filter(|line| line.ends_with("FAILED") && line.starts_with("test ")).collect();
    match (output.status.success(), unseen) {
        (false, None) => Ok(eprintln!("{name}: seen by {}", failing.join("; "))),
        (true, Some(reason)) => Ok(eprintln!("{name}: seen by no model: {reason}")),
        (true, None) => Err(format!("no model fails without {name}").into()),
        (false, Some(_)) => Err(format!("{name} is seen by {}: take it off the list", failing.join("; ")).into()),
    }
}
