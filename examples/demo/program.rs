//! Compiles one program against one gate, runs it under the limit and says what was seen of its end.

use crate::asleep;
use crate::compiler::Compiler;
use crate::host::Host;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub const LIMIT: Duration = Duration::from_secs(5);

/// A compiled program.
pub struct Program {
    executable: PathBuf,
    host: Host,
}

/// How a program ended.
pub enum Ending {
    /// It printed `done` and exited with 0.
    Done,
    /// The limit passed, and all its threads slept in a lock and did not wake between two looks. `child`: it is a forked
    /// child that slept so, and the program waited for it.
    AsleepInALock { child: bool },
    /// The limit passed, and something else was seen: neither a hang nor a success.
    Unended(String),
    /// It ended by itself with a failure.
    Failed { how: String },
}

impl Ending {
    /// For a way that is measured beside the claim.
    pub fn in_one_word(&self) -> String {
        match self {
            Ending::Done => "recovers".to_owned(),
            Ending::AsleepInALock { .. } => "HANG".to_owned(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Done => write!(f, "done"),
            Ending::AsleepInALock { child } => {
                write!(
                    f,
                    "HANG ({}seen asleep in a lock after {} s)",
                    if *child { "child " } else { "" },
                    LIMIT.as_secs()
                )
            }
            Ending::Unended(seen) => write!(f, "no end after {} s: {seen}", LIMIT.as_secs()),
            Ending::Failed { how } => write!(f, "{how}"),
        }
    }
}

/// What was seen of one run.
pub struct Run {
    pub ending: Ending,
    pub time: Duration,
    pub last_step: String,
    /// What the program measured, if it could.
    pub figure: Option<f64>,
    pub shown: Vec<String>,
}

impl Program {
    /// A program of this folder against the library, or against a gate of this folder with the same names.
    pub fn compile(
        compiler: &Compiler,
        host: &Host,
        source: &str,
        gate: &str,
    ) -> Result<Program, String> {
        let mut flags = vec![format!("-DGATE=\"{gate}\"")];
        flags.extend(host.flags().iter().map(|flag| (*flag).to_owned()));
        if gate == "lazyonce.h" {
            flags.extend(compiler.linked(&["lazyonce"]));
        }
        let path = Path::new("examples/demo").join(source);
        let executable = compiler.compile(&path, &format!("{source}-{gate}.program"), &flags)?;
        Ok(Program {
            executable,
            host: host.clone(),
        })
    }

    pub fn run(&self) -> Run {
        self.try_run().unwrap_or_else(|error| Run {
            ending: Ending::Failed {
                how: format!("did not start: {error}"),
            },
            time: Duration::ZERO,
            last_step: String::new(),
            figure: None,
            shown: Vec::new(),
        })
    }

    fn try_run(&self) -> io::Result<Run> {
        // Files, because the pipe of a hung child would never end.
        let (out, err) = (
            self.executable.with_extension("out"),
            self.executable.with_extension("err"),
        );
        let mut command = self.host.command(&self.executable);
        command
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?);
        let start = Instant::now();
        let mut child = command.spawn()?;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break Some(status);
            }
            if start.elapsed() > LIMIT {
                break None;
            }
            thread::sleep(Duration::from_micros(200));
        };
        let time = start.elapsed();
        let looked = if status.is_none() {
            asleep::in_a_lock(child.id())
        } else {
            Ok(false)
        };
        if status.is_none() {
            end(&mut child)?;
        }

        let output = String::from_utf8_lossy(&fs::read(&out)?).into_owned();
        let errors = String::from_utf8_lossy(&fs::read(&err)?).into_owned();
        let after = |word| {
            output
                .lines()
                .filter_map(move |line| line.strip_prefix(word))
                .map(str::to_owned)
        };
        let why = errors.lines().last().unwrap_or("no message").to_owned();
        let failed = |how| Ending::Failed { how };
        let ending = match status {
            None if output.is_empty() => Ending::Unended("slow start, nothing printed".to_owned()),
            None => looked.map_or_else(Ending::Unended, |child| Ending::AsleepInALock { child }),
            Some(status) => match (status.code(), status.signal()) {
                (Some(0), _) if output.ends_with("done\n") => Ending::Done,
                (Some(0), _) => failed("exit 0 without `done`".to_owned()),
                (Some(code), _) => failed(format!("exit {code}: {why}")),
                (None, signal) => failed(format!("CRASH: signal {}: {why}", signal.unwrap_or(0))),
            },
        };
        Ok(Run {
            ending,
            time,
            last_step: after("step ").next_back().unwrap_or_default(),
            figure: after("figure ").find_map(|value| value.parse().ok()),
            shown: after("show ").collect(),
        })
    }
}

/// Ends the program; its forked children end with it, as they asked the kernel to.
fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(|_| ())
}
