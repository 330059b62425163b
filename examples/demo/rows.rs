//! The scenarios: a program, an old way, and what that is said to do.

/// What the old way of a row is said to do. Anything else makes the demo fail.
#[derive(Clone, Copy, PartialEq)]
pub enum Claim {
    Hangs,
    LosesCalls,
    /// What it measures is more than five times ours, if the machine had time to measure.
    Slower,
}

pub struct Row {
    pub title: &'static [&'static str],
    pub source: &'static str,
    pub old: &'static str,
    pub claim: Claim,
    /// A second old way that is only measured: its name and its gate.
    pub also: Option<(&'static str, &'static str)>,
}

pub const CARD: [Row; 2] = [
    Row {
        title: &[
            "1 initialized; then a callback",
            "  calls set_rng_state",
            "  old: lock held over the callback",
        ],
        source: "reenter_ready.c",
        old: "old_lock_held.h",
        claim: Claim::Hangs,
        also: None,
    },
    Row {
        title: &[
            "2 callback queued before init calls",
            "  manual_seed during the drain",
            "  old: lock held over the callback",
        ],
        source: "reenter_drain.c",
        old: "old_lock_held.h",
        claim: Claim::Hangs,
        also: None,
    },
];

pub const MORE: [Row; 4] = [
    Row {
        title: &[
            "3 a call between drain and flag",
            "  old: flag checked without the lock",
        ],
        source: "lost_call.c",
        old: "old_unlocked_check.h",
        claim: Claim::LosesCalls,
        also: None,
    },
    Row {
        title: &[
            "4 initializer throws, one waits",
            "  old: state set without a guard",
        ],
        source: "throwing.cpp",
        old: "old_no_guard.h",
        claim: Claim::Hangs,
        also: Some(("std::call_once", "old_call_once.h")),
    },
    Row {
        title: &[
            "5 fork while a thread initializes",
            "  old: C++ function-local static",
        ],
        source: "fork.cpp",
        old: "old_static.h",
        claim: Claim::Hangs,
        also: Some(("std::call_once", "old_call_once.h")),
    },
    Row {
        title: &[
            "6 cycle of three onces",
            "  gpu needs mem needs log needs gpu",
            "  old: std::call_once",
        ],
        source: "cycle.cpp",
        old: "old_call_once.h",
        claim: Claim::Hangs,
        also: None,
    },
];

/// Rows of an interpreter's lock: their programs are loaded into a real one where there is one.
pub const HOSTED: [Row; 1] = [Row {
    title: &[
        "7 interpreter lock and guard",
        "  A imports, which lets the lock go",
        "  B comes holding it",
        "  old: lock outside std::call_once",
    ],
    source: "host_lock.cpp",
    old: "old_lock_outside.h",
    claim: Claim::Hangs,
    also: None,
}];

/// Rows that measure: their programs run when nothing else of the demo does, one after the other.
pub const MEASURED: [Row; 1] = [Row {
    title: &[
        "8 64 waiters, then 20 us work each",
        "  when is the initializing thread",
        "  back? median of 21 rounds",
        "  old: std::call_once",
    ],
    source: "waiters.cpp",
    old: "old_call_once.h",
    claim: Claim::Slower,
    also: None,
}];
