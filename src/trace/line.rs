//! An event as a line of JSON.

use super::report::forked_by;
use super::{ASK, Event, FACTORY, PREPARE};
use crate::abi;
use crate::error::status_text;
use crate::name::{Called, Kind};
use crate::sys::process;
use crate::sys::text::{Lossy, Text, append, text};
use crate::sys::thread;
use std::ffi::CStr;
use std::fmt::{self, Display, Formatter, Write};

/// What every whole line ends with.
pub(super) const END: &str = "}},\n";

pub(super) fn line(event: &Event) -> Text {
    let what = event.what;
    let (letter, at_ns) = match event.ended_ns {
        _ if what.kind == abi::LAZY_EVENT_FORK => ("i", event.began_ns),
        Some(ended) => ("E", ended),
        None => ("B", event.began_ns),
    };
    let mut line = text!(
        r#"{{"ph":"{letter}","pid":{},"tid":{},"ts":{}.{:03},"cat":"{}""#,
        process::id(),
        thread::id(),
        at_ns / 1000,
        at_ns % 1000,
        category(what.kind)
    );
    match letter {
        "E" => append!(
            line,
            r#","args":{{"status":{},"outcome":"{}"{END}"#,
            event.status,
            Json(Lossy::of(status_text(event.status)))
        ),
        "i" => append!(
            line,
            r#","s":"p","name":"fork","args":{{"parent":{},"thread":{}{END}"#,
            process::parent(),
            forked_by()
        ),
        _ => begin(&mut line, event),
    }
    line
}

fn category(kind: u32) -> &'static str {
    match kind {
        abi::LAZY_EVENT_ATTEMPT => "attempt",
        abi::LAZY_EVENT_REQUEST => "request",
        abi::LAZY_EVENT_WAIT => "wait",
        abi::LAZY_EVENT_HOST_WAIT => "host_wait",
        FACTORY => "factory",
        PREPARE | ASK => "prepare",
        _ => "fork",
    }
}

fn begin(line: &mut Text, event: &Event) {
    let what = event.what;
    let called = Json(Whole(what.subject, &what.name));
    let site = what.origin.spot();
    let site = Json(&site);
    match what.kind {
        abi::LAZY_EVENT_ATTEMPT => append!(*line, r#","name":"initialize {called}""#),
        abi::LAZY_EVENT_REQUEST => append!(*line, r#","name":"callback from {site}""#),
        abi::LAZY_EVENT_WAIT if what.subject == Kind::Slot => {
            append!(
                *line,
                r#","name":"wait for {called}, index {}""#,
                what.ticket
            );
        }
        abi::LAZY_EVENT_WAIT => append!(*line, r#","name":"wait for {called}""#),
        FACTORY => append!(
            *line,
            r#","name":"factory of {called}, index {}""#,
            what.ticket
        ),
        PREPARE => append!(*line, r#","name":"prepare {called}""#),
        ASK => append!(*line, r#","name":"ask can_init of {called}""#),
        _ => append!(*line, r#","name":"host lock for {called}""#),
    }
    append!(
        *line,
        r#","args":{{"once":"{}","site":"{site}","number":{},"phase":{}"#,
        Json(Lossy::of(&what.name)),
        what.ticket,
        what.phase
    );
    if what.kind == abi::LAZY_EVENT_WAIT {
        append!(*line, r#","caller":"{}""#, Json(&what.caller.spot()));
    }
    append!(*line, "{END}");
}

/// As `Called`, but with all of the name as it is.
struct Whole<'a>(Kind, &'a CStr);

impl Display for Whole<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() {
            Called(self.0, self.1).fmt(out)
        } else {
            write!(out, "{} \"{}\"", self.0.word(), Lossy::of(self.1))
        }
    }
}

/// A text inside the quotation marks of JSON.
struct Json<T>(T);

impl<T: Display> Display for Json<T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(Escaping(out), "{}", self.0)
    }
}

struct Escaping<'a, 'b>(&'a mut Formatter<'b>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for letter in part.chars() {
            match letter {
                '"' => self.0.write_str("\\\"")?,
                '\\' => self.0.write_str("\\\\")?,
                control if control < ' ' => write!(self.0, "\\u{:04x}", control as u32)?,
                letter => self.0.write_char(letter)?,
            }
        }
        Ok(())
    }
}
