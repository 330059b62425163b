//! Whether a process that does not end is asleep in a lock, as the kernel shows it.

use std::fs;
use std::thread;
use std::time::Duration;

/// Ok if every thread of the process and of its children sleeps in a lock, or waits for a child that does; true if there
/// is such a child. Otherwise what else was seen.
pub fn in_a_lock(process: u32) -> Result<bool, String> {
    let first = Look::at(process)?;
    thread::sleep(Duration::from_millis(100));
    if first == Look::at(process)? {
        Ok(first.child)
    } else {
        Err("threads still wake up".to_owned())
    }
}

/// Two equal looks mean that nobody woke between them.
#[derive(PartialEq)]
struct Look {
    child: bool,
    switches: Vec<(u32, String)>,
}

impl Look {
    fn at(process: u32) -> Result<Look, String> {
        let children = children(process);
        let mut switches = Vec::new();
        for id in children.iter().copied().chain([process]) {
            for thread in numbers_in(&format!("/proc/{id}/task")) {
                let path = format!("/proc/{id}/task/{thread}");
                let state = stat_field(&path, 0).unwrap_or_else(|| "?".to_owned());
                let in_call = in_call(&path);
                let may_sleep = in_call == Some(InCall::Lock)
                    || (in_call == Some(InCall::Child) && !children.is_empty());
                if state != "S" || !may_sleep {
                    return Err(format!(
                        "thread {thread} in state {state}, not seen in a lock"
                    ));
                }
                switches.push((thread, context_switches(&path)));
            }
        }
        Ok(Look {
            child: !children.is_empty(),
            switches,
        })
    }
}

#[derive(PartialEq)]
enum InCall {
    Lock,
    Child,
}

/// Which wait a sleeping thread is in: by its system call, or where that is hidden by the kernel function it sleeps in.
fn in_call(path: &str) -> Option<InCall> {
    const LOCKS: [libc::c_long; 1] = [libc::SYS_futex];
    const CHILDREN: [libc::c_long; 2] = [libc::SYS_wait4, libc::SYS_waitid];
    if let Ok(call) = fs::read_to_string(format!("{path}/syscall")) {
        let number = call.split_whitespace().next()?.parse().ok()?;
        return if LOCKS.contains(&number) {
            Some(InCall::Lock)
        } else {
            CHILDREN.contains(&number).then_some(InCall::Child)
        };
    }
    let function = fs::read_to_string(format!("{path}/wchan")).ok()?;
    if function.contains("futex") {
        Some(InCall::Lock)
    } else {
        function.contains("do_wait").then_some(InCall::Child)
    }
}

fn context_switches(path: &str) -> String {
    let status = fs::read_to_string(format!("{path}/status")).unwrap_or_default();
    status
        .lines()
        .filter(|line| line.contains("ctxt_switches"))
        .collect()
}

/// The field of a stat file by its place after the name, which may itself hold spaces and parentheses.
fn stat_field(path: &str, place: usize) -> Option<String> {
    let stat = fs::read_to_string(format!("{path}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(place).map(str::to_owned)
}

fn children(process: u32) -> Vec<u32> {
    let parent = process.to_string();
    numbers_in("/proc")
        .into_iter()
        .filter(|id| stat_field(&format!("/proc/{id}"), 1).as_ref() == Some(&parent))
        .collect()
}

fn numbers_in(directory: &str) -> Vec<u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}
