//! What was found: groups of rows that are compared with each other, as one Markdown table.

use crate::harness::Samples;
use std::fmt::{self, Write};

/// Things that do the same.
pub struct Group {
    pub title: &'static str,
    /// What exactly is measured, for whoever wants to repeat it.
    pub about: String,
    pub unit: Unit,
    /// The row that the ratios are to.
    pub measure: Option<&'static str>,
    pub rows: Vec<Row>,
    /// Whether it is a panel of the plot.
    pub is_plotted: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    Instructions,
    Nanoseconds,
    Microseconds,
    Bytes,
    KiB,
}

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::Instructions => "instructions",
            Unit::Nanoseconds => "ns",
            Unit::Microseconds => "µs",
            Unit::Bytes => "bytes",
            Unit::KiB => "KiB",
        }
    }

    /// Times are not judged where others use the machine too.
    pub fn varies(self) -> bool {
        matches!(self, Unit::Nanoseconds | Unit::Microseconds)
    }
}

pub struct Row {
    pub who: String,
    /// Or why there is none.
    pub figure: Result<Samples, String>,
    pub must: Option<Must>,
}

/// What a row has to reach.
#[derive(Clone, Copy)]
pub enum Must {
    AtMost(f64),
    /// Of the group's measure.
    Times(f64),
}

impl Row {
    pub fn new(who: impl Into<String>, figure: Result<Samples, String>) -> Row {
        Row {
            who: who.into(),
            figure,
            must: None,
        }
    }

    pub fn must(mut self, must: Must) -> Row {
        self.must = Some(must);
        self
    }

    pub fn is_ours(&self) -> bool {
        self.who.starts_with("lazy")
            || self.who.starts_with("is_initialized")
            || self.who == "Once.call"
    }
}

impl Group {
    pub fn ratio(&self, row: &Row) -> Option<f64> {
        let measure = self
            .rows
            .iter()
            .find(|row| Some(row.who.as_str()) == self.measure)?;
        let ratio = row
            .figure
            .as_ref()
            .ok()?
            .times(measure.figure.as_ref().ok()?);
        ratio.is_finite().then_some(ratio)
    }

    /// Whether the row reaches what it must; `None` where nothing is asked, or there is nothing to judge.
    pub fn holds(&self, row: &Row) -> Option<bool> {
        // Of counts divided by their turns.
        const ROUNDING: f64 = 0.005;
        let (figure, limit) = match row.must? {
            Must::AtMost(limit) => (row.figure.as_ref().ok()?.median(), limit),
            Must::Times(limit) => (self.ratio(row)?, limit),
        };
        Some(figure <= limit + ROUNDING)
    }

    /// The rows that do not reach what they must. What is asked and could not be measured has not been reached either.
    pub fn failures(&self) -> impl Iterator<Item = String> {
        let fails = |row: &&Row| row.must.is_some() && self.holds(row) != Some(true);
        self.rows
            .iter()
            .filter(fails)
            .map(|row| format!("{}: {}", self.title, row.who))
    }
}

/// All of it, under `head`.
pub fn markdown(head: &str, groups: &[Group], is_busy: bool) -> Result<String, fmt::Error> {
    let mut text = format!(
        "{head}\n\n| | who | median | 10 % to 90 % | ratio | must reach | holds |\n|---|---|---|---|---|---|---|\n"
    );
    for (number, group) in groups.iter().enumerate() {
        writeln!(
            text,
            "| {} | **{}**, {} | | | {} | | |",
            number + 1,
            group.title,
            group.unit.name(),
            group
                .measure
                .map_or(String::new(), |measure| format!("to {}", code(measure)))
        )?;
        for row in &group.rows {
            let who = code(&row.who);
            match &row.figure {
                Err(why) => writeln!(
                    text,
                    "| | {who} | not here: {} | | | | |",
                    why.replace('|', "/")
                )?,
                Ok(samples) => {
                    let spread = samples.spread().map_or(String::new(), |(low, high)| {
                        format!("{} to {}", number_of(low), number_of(high))
                    });
                    let ratio = group
                        .ratio(row)
                        .map_or(String::new(), |ratio| format!("{ratio:.2}"));
                    let holds = match group.holds(row) {
                        None => "",
                        Some(true) => "yes",
                        Some(false) if is_busy && group.unit.varies() => {
                            "**no** (the machine was busy)"
                        }
                        Some(false) => "**NO**",
                    };
                    writeln!(
                        text,
                        "| | {who} | {} | {spread} | {ratio} | {} | {holds} |",
                        number_of(samples.median()),
                        must(row.must)
                    )?;
                }
            }
        }
    }
    writeln!(text, "\nWhat exactly is measured:\n")?;
    for (number, group) in groups.iter().enumerate() {
        writeln!(text, "{}. {}", number + 1, group.about)?;
    }
    Ok(text)
}

fn must(must: Option<Must>) -> String {
    match must {
        None => String::new(),
        Some(Must::AtMost(limit)) => format!("at most {}", number_of(limit)),
        Some(Must::Times(limit)) => format!("at most {limit} times"),
    }
}

/// Names of functions stand as such.
fn code(who: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '.';
    let end = who.find(|c| !is_name(c)).unwrap_or(who.len());
    let (name, rest) = who.split_at(end);
    if name.contains('_') || name.contains(':') || name.contains('.') {
        format!("`{name}`{rest}")
    } else {
        who.to_owned()
    }
}

/// Three digits, more where there are more before the point; none behind it where they are 0.
pub fn number_of(value: f64) -> String {
    match value.abs() {
        _ if (value - value.round()).abs() < 0.005 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
