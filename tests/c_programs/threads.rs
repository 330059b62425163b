//! Where the threads of a process are, as the kernel tells it.

use std::fs;
use std::path::PathBuf;

/// Whether every thread sleeps, and in a futex: a hang that is seen, not inferred from silence.
pub fn all_in_futex(process: u32) -> bool {
    let tasks = tasks(process);
    !tasks.is_empty() && tasks.iter().all(Task::in_futex)
}

/// One line for each thread.
pub fn describe(process: u32) -> String {
    let line = |task: &Task| {
        format!(
            "thread {}: state {}, wchan {}, syscall {}",
            task.id, task.state, task.wchan, task.syscall
        )
    };
    tasks(process)
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

struct Task {
    id: String,
    state: char,
    wchan: String,
    syscall: String,
}

impl Task {
    fn in_futex(&self) -> bool {
        let call = self
            .syscall
            .split(' ')
            .next()
            .and_then(|number| number.parse().ok());
        self.state == 'S' && (self.wchan.contains("futex") || call == Some(libc::SYS_futex))
    }
}

fn tasks(process: u32) -> Vec<Task> {
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/task")) else {
        return Vec::new();
    };
    let read = |path: PathBuf| {
        fs::read_to_string(path)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    entries
        .flatten()
        .map(|entry| {
            // The state follows the name, which stands in parentheses and may hold anything.
            let stat = read(entry.path().join("stat"));
            let state = stat
                .rsplit(')')
                .next()
                .and_then(|rest| rest.trim_start().chars().next())
                .unwrap_or('?');
            Task {
                id: entry.file_name().to_string_lossy().into_owned(),
                state,
                wchan: read(entry.path().join("wchan")),
                syscall: read(entry.path().join("syscall")),
            }
        })
        .collect()
}
