//! Every memory order of the library, each with its reason: the one table. The code names an order, never spells one.
//!
//! Beside them the wakes, and the steps of a protocol that could be forgotten. In a model build (`--cfg loom`) the environment
//! variable `LAZYONCE_MUTATION` weakens one order to `Relaxed`, drops one wake or leaves one step out; `tests/mutations.rs` checks that each of them makes a model fail, or stands in `UNSEEN` with the
//! reason why no model can see it.

use std::sync::atomic::Ordering;

#[cfg(not(loom))]
macro_rules! orders {
    ($($(#[doc = $why:literal])+ $name:ident = $order:ident;)+) => {
        $($(#[doc = $why])+ #[inline(always)] pub(crate) const fn $name() -> Ordering { Ordering::$order })+
    };
}

#[cfg(loom)]
macro_rules! orders {
    ($($(#[doc = $why:literal])+ $name:ident = $order:ident;)+) => {
        $($(#[doc = $why])+ pub(crate) fn $name() -> Ordering {
            if mutated(stringify!($name)) { Ordering::Relaxed } else { Ordering::$order }
        })+
        /// The orders that a mutation run weakens.
        pub const ORDERS: &[&str] = &[$(stringify!($name)),+];
    };
}

#[cfg(not(loom))]
macro_rules! done {
    ($list:ident: $($(#[doc = $why:literal])+ $name:ident;)+) => {
        $($(#[doc = $why])+ #[inline(always)] pub(crate) const fn $name() -> bool { true })+
    };
}

#[cfg(loom)]
macro_rules! done {
    ($list:ident: $($(#[doc = $why:literal])+ $name:ident;)+) => {
        $($(#[doc = $why])+ pub(crate) fn $name() -> bool { !mutated(stringify!($name)) })+
        /// What a mutation run leaves out.
        pub const $list: &[&str] = &[$(stringify!($name)),+];
    };
}

orders! {
    /// The first look at the state. Pairs with `publish_ready`: whoever reads READY sees everything that the
    /// initializer and the drained requests wrote. Weaker: uninitialised reads after a true `is_initialized()`.
    look_ready = Acquire;
    /// Taking a lock. Pairs with `unlock`: the queue, the attempt and what a failed attempt wrote belong to the new
    /// holder. The hand-over between two attempts on two threads happens here and nowhere else.
    lock = Acquire;
    /// Releasing a lock. Pairs with `lock`.
    unlock = Release;
    /// DRAINING to READY, by the same exchange that releases the lock. Pairs with `look_ready`.
    publish_ready = Release;
    /// Writing the outcome of an attempt. Pairs with `read_outcome`: waiters read the error record, and after a READY
    /// outcome they return without looking at the state again.
    write_outcome = Release;
    /// Reading the outcome of an attempt. Pairs with `write_outcome`.
    read_outcome = Acquire;
    /// Telling a sleeper that somebody wants it to look again. Pairs with `see_disturbed`: what it is to look at was written
    /// before.
    disturb = Release;
    /// The look at the word after which a thread sleeps only if the word has not changed. Pairs with `disturb`.
    see_disturbed = Acquire;
    /// Setting the process's host. Pairs with `read_host`: what the caller wrote into its table before.
    set_host = Release;
    /// Reading the process's host. Pairs with `set_host`.
    read_host = Acquire;
    /// A slot has its body. Pairs with `see_slot`: what the body is made of.
    publish_slot = Release;
    /// The first look at a slot. Pairs with `publish_slot`.
    see_slot = Acquire;
    /// There is a trace file. Pairs with `see_trace`: which one.
    publish_trace = Release;
    /// The look for the trace file. Pairs with `publish_trace`.
    see_trace = Acquire;
    /// A stay is told, or nobody looks at it any more. Pairs with `see_stay` and `leave_stay`: what the stay is; that it has been read.
    publish_stay = Release;
    /// The look at a stay, and taking its place. Pairs with `publish_stay` and `leave_stay`.
    see_stay = Acquire;
    /// A stay ends. Pairs with `publish_stay`: whoever looked has read it before it changes; and with `see_stay` of the next one there.
    leave_stay = AcqRel;
    /// A value has been made, or replaced; a slot is retired. Pairs with `see_value`: what the factory wrote.
    publish_value = Release;
    /// The look at a value without a lock. Pairs with `publish_value`.
    see_value = Acquire;
    /// Giving up a reference. Pairs with `last_reference`: everything done through it happens before the free.
    drop_reference = Release;
    /// The thread that found itself last, before it frees. Pairs with `drop_reference`.
    last_reference = Acquire;
}

done! {
    WAKES:
    /// A lock was contended: its next waiter.
    wake_lock;
    /// The lock cannot be taken any more, as in READY: no waiter takes it, so nobody would unlock it for the next one.
    wake_lock_settled;
    /// A waiter of the lock word that leaves because of that wakes the others in relay.
    relay_lock_settled;
    /// An attempt ended: one waiter. The owner pays for this one only.
    wake_waiter;
    /// A woken waiter passes the wake on.
    relay_waiter;
}

done! {
    STEPS:
    /// `close` ends the attempt for its waiters, since its owner no longer will.
    tell_waiters;
    /// `cancel` finds a running request until its context has been released, and waits.
    find_running;
}

/// What no model can see, and why it is kept.
#[cfg(loom)]
pub const UNSEEN: &[(&str, &str)] = &[
    (
        "drop_reference",
        "the count orders nothing but the free, which loom does not see; the order is that of std's Arc",
    ),
    ("last_reference", "as drop_reference"),
    (
        "set_host",
        "models have no host; the table behind the pointer is the caller's, and a plain publication",
    ),
    ("read_host", "as set_host"),
    (
        "publish_slot",
        "models have no slots; a plain publication of what is complete and never freed",
    ),
    ("see_slot", "as publish_slot"),
    (
        "publish_trace",
        "models write no file; a plain publication of what is complete and never freed",
    ),
    ("see_trace", "as publish_trace"),
    (
        "publish_stay",
        "models have no stays, which tell people how things stand; a plain publication of numbers",
    ),
    ("see_stay", "as publish_stay"),
    ("leave_stay", "as publish_stay"),
];

#[cfg(loom)]
fn mutated(name: &str) -> bool {
    use std::sync::OnceLock;
    static MUTATION: OnceLock<Option<String>> = OnceLock::new();
    MUTATION
        .get_or_init(|| std::env::var("LAZYONCE_MUTATION").ok())
        .as_deref()
        == Some(name)
}
