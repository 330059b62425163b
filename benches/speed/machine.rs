//! The machine that a bench ran on, and how busy others kept it meanwhile.

use std::fmt;
use std::fs;
use std::thread;

/// Ticks of CPU time since the machine started, or between two moments.
pub struct Machine {
    all: u64,
    idle: u64,
    /// Taken by the machine's own host.
    stolen: u64,
    /// Of this process and the children that it has waited for.
    ours: u64,
}

impl Machine {
    pub fn now() -> Machine {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let cpus = numbers(stat.lines().next().unwrap_or_default());
        let of = |place: usize| cpus.get(place).copied().unwrap_or_default();
        let own = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // After the name, which may hold anything: state and 10 more, one of which may be negative, then user and system time, and the children's.
        let own = own.rsplit(')').next().unwrap_or_default();
        let own = own.split_whitespace().skip(11).take(4);
        Machine {
            all: cpus.iter().take(8).sum(),
            idle: of(3) + of(4),
            stolen: of(7),
            ours: own.filter_map(|word| word.parse::<u64>().ok()).sum(),
        }
    }

    pub fn until_now(&self) -> Machine {
        let now = Machine::now();
        Machine {
            all: now.all - self.all,
            idle: now.idle - self.idle,
            stolen: now.stolen - self.stolen,
            ours: now.ours - self.ours,
        }
    }

    /// Too busy to judge times by.
    pub fn is_busy(&self) -> bool {
        self.percent(self.others() + self.stolen) > 5.0
    }

    fn others(&self) -> u64 {
        self.all.saturating_sub(self.idle + self.stolen + self.ours)
    }

    fn percent(&self, ticks: u64) -> f64 {
        100.0 * ticks as f64 / self.all.max(1) as f64
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Meanwhile other programs used {:.1} % of the CPUs and the host took {:.1} %",
            self.percent(self.others()),
            self.percent(self.stolen)
        )
    }
}

pub fn described() -> String {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "Linux {} {} | {} CPUs",
        kernel.trim().split('-').next().unwrap_or_default(),
        std::env::consts::ARCH,
        thread::available_parallelism().map_or(0, |n| n.get())
    )
}

/// The words that are numbers.
fn numbers(line: &str) -> Vec<u64> {
    line.split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}
