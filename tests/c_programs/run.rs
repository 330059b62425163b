//! Runs one program under a limit and says how it ended.

use crate::build::Builder;
use crate::program::{Expect, Program};
use crate::threads;
use std::env;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a program that must hang is watched before it counts as hung.
const HANG: Duration = Duration::from_secs(5);

/// How a run ended.
pub enum Ending {
    Exited(i32),
    Killed(i32),
    /// Every thread of a program that must hang sleeps in a futex.
    Asleep,
    /// The limit passed; where each thread was.
    TooLate(String),
}

/// Starts the program in a process group of its own, waits for it, and leaves nothing of the group behind.
pub fn run(builder: &Builder, program: &Program, executable: &Path) -> Result<Ending, String> {
    let mut words = builder
        .runner
        .iter()
        .map(String::as_str)
        .map(std::ffi::OsStr::new);
    let mut command = match words.next() {
        Some(first) => Command::new(first),
        None => Command::new(executable),
    };
    command.args(words);
    // Cargo points it at its own library, which would go before the one that the program was linked against.
    command.env_remove("LD_LIBRARY_PATH");
    if !builder.runner.is_empty() {
        command.arg(executable);
    }
    if builder.is_slow() && env::var_os("CARD_ROUNDS").is_none() {
        command.env("CARD_ROUNDS", "2000");
    }
    if let Some(object) = builder.compile_preload(program)? {
        // The address sanitizer wants to be the first library of a process; here the stranger is.
        let options = env::var("ASAN_OPTIONS").unwrap_or_default();
        command.env("LD_PRELOAD", object).env(
            "ASAN_OPTIONS",
            format!("{options}:verify_asan_link_order=0"),
        );
    }
    if let Some(object) = builder.compile_shared(program)? {
        command.env("LAZYONCE_TEST_SHARED", object);
    }
    if let Some(folder) = builder.libraries(program) {
        command.env("LAZYONCE_TEST_LIBRARIES", folder);
    }
    let create =
        |path: PathBuf| File::create(&path).map_err(|error| format!("{}: {error}", path.display()));
    command
        .process_group(0)
        .stdout(create(out(executable))?)
        .stderr(create(err(executable))?);
    let mut child = command
        .spawn()
        .map_err(|error| format!("{command:?}: {error}"))?;

    let limit = match program.expect {
        Expect::Done => Duration::from_secs(
            env::var("LAZYONCE_TEST_LIMIT")
                .ok()
                .and_then(|seconds| seconds.parse().ok())
                .unwrap_or(60),
        ),
        Expect::Hang => HANG,
    };
    let late = if ends_within(&child, limit) {
        None
    } else if program.expect == Expect::Hang && threads::all_in_futex(child.id()) {
        Some(Ending::Asleep)
    } else {
        Some(Ending::TooLate(threads::describe(child.id())))
    };
    kill_group(&child);
    let status = child.wait().map_err(|error| error.to_string())?;
    Ok(late.unwrap_or_else(|| match status.code() {
        Some(code) => Ending::Exited(code),
        None => Ending::Killed(status.signal().unwrap_or(0)),
    }))
}

/// Whether the last line of stdout is `done`.
pub fn says_done(executable: &Path) -> bool {
    fs::read_to_string(out(executable)).is_ok_and(|text| text.lines().last() == Some("done"))
}

/// The last line of stderr: why a program skipped itself.
pub fn last_error_line(executable: &Path) -> String {
    let text = fs::read_to_string(err(executable)).unwrap_or_default();
    text.lines()
        .last()
        .unwrap_or("it gave no reason")
        .to_owned()
}

/// What the program wrote.
pub fn output(executable: &Path) -> String {
    let read =
        |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    format!(
        "--- stdout\n{}--- stderr\n{}",
        read(out(executable)),
        read(err(executable))
    )
}

fn out(executable: &Path) -> PathBuf {
    executable.with_extension("out")
}

fn err(executable: &Path) -> PathBuf {
    executable.with_extension("err")
}

/// Leaves the ended child unreaped, so that its process group cannot become somebody else's before it is killed.
fn ends_within(child: &Child, limit: Duration) -> bool {
    let end = Instant::now() + limit;
    loop {
        // SAFETY: an all-zero siginfo_t is a valid value, and waitid writes only into it.
        let ended = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(
                libc::P_PID,
                child.id(),
                &mut info,
                libc::WEXITED | libc::WNOHANG | libc::WNOWAIT,
            ) == 0
                && info.si_pid() != 0
        };
        if ended || Instant::now() >= end {
            return ended;
        }
        sleep(Duration::from_millis(2));
    }
}

fn kill_group(child: &Child) {
    // SAFETY: kill takes no pointers; the child is not reaped yet, so the group is ours.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
}
