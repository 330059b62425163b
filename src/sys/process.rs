//! This process, and others.

#[cfg(not(loom))]
use super::memory::try_c_string;
#[cfg(not(loom))]
use super::text::text;

/// Its id.
#[cfg(not(loom))]
pub(crate) fn id() -> u32 {
    // SAFETY: no preconditions; cannot fail.
    unsafe { libc::getpid() as u32 }
}

/// The one that forked it.
#[cfg(not(loom))]
pub(crate) fn parent() -> u32 {
    // SAFETY: no preconditions; cannot fail.
    unsafe { libc::getppid() as u32 }
}

/// When that process was started, in ticks since the machine was: no other process has had the same number since then. `None` if there is no
/// such process, or this is not to be known.
#[cfg(not(loom))]
pub(crate) fn started(process: u64) -> Option<u64> {
    let path = try_c_string(text!("/proc/{process}/stat").as_bytes()).ok()?;
    let mut room = [0; 1024];
    let status = super::file::beginning(&path, &mut room);
    // Its name stands in parentheses, and may have some in it; the state is the first field behind.
    let name = status.iter().rposition(|&byte| byte == b')')?;
    let mut fields = status.get(name + 2..)?.split(|&byte| byte == b' ');
    number_at(fields.nth(STARTED)?)
}

/// Of the fields behind the name.
#[cfg(not(loom))]
const STARTED: usize = 19;

/// The number that a text begins with.
#[cfg(not(loom))]
pub(crate) fn number_at(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |sum, digit| {
        let sum = sum.unwrap_or(0u64).wrapping_mul(10);
        Some(sum.wrapping_add(u64::from(digit - b'0')))
    })
}

/// Lets another thread run.
#[cfg(not(loom))]
pub(crate) fn yield_now() {
    // SAFETY: no preconditions.
    unsafe { libc::sched_yield() };
}

/// In a model there is one.
#[cfg(loom)]
pub(crate) fn id() -> u32 {
    1
}

/// The same, and it forks nobody.
#[cfg(loom)]
pub(crate) fn noticed() -> u32 {
    1
}

/// Its id, which a child has as soon as its fork has been noticed.
#[cfg(not(loom))]
pub(crate) fn noticed() -> u32 {
    super::birthmark::process()
}

/// Registers the three halves of a fork handler.
#[cfg(not(loom))]
pub(crate) fn at_fork(prepare: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: functions of this library, which is never unloaded. Failure means no memory for the list; then a child
    // finds whatever the fork left, as with any library that has no handler.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}
