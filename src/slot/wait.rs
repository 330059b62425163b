//! Waiting for a value that another thread makes or ends.

use super::value::{Stage, Value};
use crate::abi::LAZY_OK;
use crate::error::{Failure, since};
use crate::host::{known_inside, wait_on, wait_stubbornly};
use crate::name::Subject;
use crate::once::graph::Waiting;
use crate::stay::{self, Doing};
use crate::sys::clock::Limit;
use crate::sys::memory::Shared;
use crate::sys::site::{At, Cut, Origin, OwnSite};
use crate::sys::text::{Text, append, text};
use crate::sys::thread;
use crate::trace::{Span, Wait, What};

/// Sleeps until somebody else has made a value, or has ended it, without any host that this thread is inside of. The failure of
/// the factory is also that of whoever waited for it.
pub(super) fn wait_for(value: &Shared<Value>, origin: Origin) -> Result<(), Failure> {
    let span = span(value, origin);
    let result = wait_unseen(value, origin);
    span.end(result.as_ref().map_or_else(Failure::status, |()| LAZY_OK));
    result
}

fn wait_unseen(value: &Shared<Value>, origin: Origin) -> Result<(), Failure> {
    let _edge = edge(value)?;
    known_inside(value.body, origin, || {
        let limit = Limit::new(u64::MAX);
        let (whom, lose) = (|| whom(value), || value.lose_alone());
        let wait = wait(value, origin, &whom, &lose);
        if value.stage() == Stage::Leaving {
            wait_on(&wait, &value.gone, &limit)?;
            return Ok(());
        }
        match wait_on(&wait, &value.made, &limit)? {
            Some(Some(failure)) => Err(failure.clone()),
            _ => Ok(()),
        }
    })
}

/// The same, whatever comes of it, and never given up.
pub(super) fn wait_for_end(value: &Shared<Value>, origin: Origin) -> Result<(), Failure> {
    let span = span(value, origin);
    let edge = edge(value)?;
    let (whom, lose) = (|| whom(value), || value.lose_alone());
    let wait = wait(value, origin, &whom, &lose);
    known_inside(value.body, origin, || match value.stage() {
        Stage::Making => wait_stubbornly(&wait, &value.made),
        Stage::Leaving => wait_stubbornly(&wait, &value.gone),
        Stage::Live | Stage::Gone => {}
    });
    drop(edge);
    span.end(LAZY_OK);
    Ok(())
}

#[inline(always)]
fn wait<'a>(
    value: &'a Value,
    origin: Origin,
    whom: &'a dyn Fn() -> Text,
    lose: &'a dyn Fn(),
) -> Wait<'a> {
    let doing = Doing::AwaitingValue(value.index.into());
    Wait::new(doing, value.body, origin, whom, lose)
}

/// Since when its thread does that, and for a call from where.
#[cold]
fn begun(value: &Value, doing: Doing) -> Option<(u64, OwnSite)> {
    let mut begun = None;
    stay::look_for(doing, value.body.mark(), |stay| {
        if stay.thread == value.worker() {
            begun = Some((stay.since_ns, Cut::of(stay.origin)));
        }
    });
    let (since_ns, site) = begun?;
    Some((since_ns, site.own().ok()?))
}

/// The beginning of a wait, as an event: it is for what was asked for there.
fn span(value: &Value, origin: Origin) -> Span {
    Span::begin(|| {
        let begun = value.doing().and_then(|doing| begun(value, doing));
        What::wait_for_value(value.body, value.index, begun.map(|(_, site)| site), origin)
    })
}

/// The thread that makes or ends a value, and since when, for the warning of a wait.
#[cold]
fn whom(value: &Value) -> Text {
    let index = value.index;
    let doing = value.doing();
    let does = match doing {
        Some(Doing::Sharing(_)) => "is inside the share",
        Some(Doing::Ending(_)) => "runs the destructor",
        Some(_) => "runs the factory",
        None => "is done by now",
    };
    let begun = doing.and_then(|doing| begun(value, doing));
    let mut text = text!("thread {} {does}, index {index}", value.worker());
    if let Some((since_ns, site)) = begun {
        let at = At(site.origin());
        append!(text, " (started {} ago{at})", since(since_ns));
    }
    text
}

fn edge(value: &Shared<Value>) -> Result<Option<Waiting>, Failure> {
    if !thread::owns_any() {
        return Ok(None);
    }
    Waiting::begin_for_value(value, value.body.name()).map(Some)
}
