//! A signal of the process that something of ours is done at.

use super::UnsafeCell;
use super::errno::preserved;
use super::output::SystemError;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

/// What is done, and who handled the signal before.
struct Handler {
    act: fn(),
    before: libc::sigaction,
}

struct Installed(UnsafeCell<MaybeUninit<Handler>>);

// SAFETY: written once, before the handler is in place that reads it.
unsafe impl Sync for Installed {}

static INSTALLED: Installed = Installed(UnsafeCell::new(MaybeUninit::uninit()));

/// Their numbers are not the same everywhere.
const NAMES: [(&[u8], c_int); 24] = [
    (b"HUP", libc::SIGHUP),
    (b"INT", libc::SIGINT),
    (b"QUIT", libc::SIGQUIT),
    (b"USR1", libc::SIGUSR1),
    (b"USR2", libc::SIGUSR2),
    (b"PIPE", libc::SIGPIPE),
    (b"ALRM", libc::SIGALRM),
    (b"TERM", libc::SIGTERM),
    (b"CHLD", libc::SIGCHLD),
    (b"CONT", libc::SIGCONT),
    (b"TSTP", libc::SIGTSTP),
    (b"TTIN", libc::SIGTTIN),
    (b"TTOU", libc::SIGTTOU),
    (b"URG", libc::SIGURG),
    (b"XCPU", libc::SIGXCPU),
    (b"XFSZ", libc::SIGXFSZ),
    (b"VTALRM", libc::SIGVTALRM),
    (b"PROF", libc::SIGPROF),
    (b"WINCH", libc::SIGWINCH),
    (b"IO", libc::SIGIO),
    (b"POLL", libc::SIGPOLL),
    (b"CLD", libc::SIGCHLD),
    (b"STKFLT", libc::SIGSTKFLT),
    (b"PWR", libc::SIGPWR),
];

/// These come from a fault, which a handler that returns brings back at once, or cannot be handled.
const REFUSED: [c_int; 9] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGKILL,
    libc::SIGSEGV,
    libc::SIGSTOP,
    libc::SIGSYS,
];

/// `QUIT`, `SIGQUIT`, `RTMIN+2`, `RTMAX-2` or `3`; `None` for what is none, or is not to be handled.
pub(crate) fn number(text: &[u8]) -> Option<c_int> {
    let short = text.strip_prefix(b"SIG").unwrap_or(text);
    // Digits alone: what is parsed may have a sign before them.
    let from = |text: &[u8]| -> Option<c_int> {
        let digits = text.iter().all(u8::is_ascii_digit).then_some(text)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    let number = match NAMES.iter().find(|(name, _)| *name == short) {
        Some((_, number)) => *number,
        None => match (short.strip_prefix(b"RTMIN"), short.strip_prefix(b"RTMAX")) {
            (Some(b""), _) => libc::SIGRTMIN(),
            (_, Some(b"")) => libc::SIGRTMAX(),
            (Some(above), _) => libc::SIGRTMIN().checked_add(from(above.strip_prefix(b"+")?)?)?,
            (_, Some(below)) => libc::SIGRTMAX().checked_sub(from(below.strip_prefix(b"-")?)?)?,
            (None, None) => from(text)?,
        },
    };
    (1..=libc::SIGRTMAX())
        .contains(&number)
        .then_some(number)
        .filter(|number| !REFUSED.contains(number))
}

/// Has `act` done at that signal, on whatever thread gets it, and then whatever was done before, as it would be: a call that the earlier
/// handler ended early is ended, and what it kept out is kept out. Once in a process, before it has a second thread that could take the signal.
pub(crate) fn handle(number: c_int, act: fn()) -> Result<(), SystemError> {
    let place = INSTALLED.0.get();
    // SAFETY: a handler with what it needs, all of it set; `place` is this function's until it has returned.
    unsafe {
        let mut before = MaybeUninit::zeroed();
        if libc::sigaction(number, std::ptr::null(), before.as_mut_ptr()) != 0 {
            return Err(SystemError::latest());
        }
        let before = before.assume_init();
        place.write(MaybeUninit::new(Handler { act, before }));
        let mut ours: libc::sigaction = MaybeUninit::zeroed().assume_init();
        ours.sa_sigaction = handler as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if is_function(&before) {
            ours.sa_flags |= before.sa_flags & libc::SA_RESTART;
            ours.sa_mask = before.sa_mask;
        } else {
            ours.sa_flags |= libc::SA_RESTART;
        }
        if libc::sigaction(number, &ours, std::ptr::null_mut()) != 0 {
            return Err(SystemError::latest());
        }
    }
    Ok(())
}

fn is_function(before: &libc::sigaction) -> bool {
    ![libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction)
}

/// Where the earlier handler may be interrupted by its own signal, which ours is not: one dump is all that a small stack has room for.
fn allow_again(number: c_int, before: &libc::sigaction) {
    let mut alone = MaybeUninit::zeroed();
    // SAFETY: sets that are there to be written and read.
    unsafe {
        let is_kept_out = libc::sigismember(&before.sa_mask, number) == 1;
        if before.sa_flags & libc::SA_NODEFER != 0 && !is_kept_out {
            libc::sigemptyset(alone.as_mut_ptr());
            libc::sigaddset(alone.as_mut_ptr(), number);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, alone.as_ptr(), std::ptr::null_mut());
        }
    }
}

extern "C-unwind" fn handler(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: written before this could be called.
    let Handler { act, before } = unsafe { (*INSTALLED.0.get()).assume_init_ref() };
    preserved(act);
    if !is_function(before) {
        return;
    }
    allow_again(number, before);
    if before.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: a handler of that kind, as whoever installed it said.
        let function = unsafe {
            std::mem::transmute::<
                usize,
                extern "C-unwind" fn(c_int, *mut libc::siginfo_t, *mut c_void),
            >(before.sa_sigaction)
        };
        function(number, info, context);
    } else {
        // SAFETY: as above.
        let function = unsafe {
            std::mem::transmute::<usize, extern "C-unwind" fn(c_int)>(before.sa_sigaction)
        };
        function(number);
    }
}
