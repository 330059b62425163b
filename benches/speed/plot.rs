//! The groups that are to be seen at a glance, as an SVG of bars: the shorter, the better.

use crate::table::{Group, Must, Row, number_of};
use std::fmt::{self, Write};

const COLUMNS: usize = 2;
const PANEL: f64 = 535.0;
const NAMES: f64 = 280.0;
const BARS: f64 = PANEL - NAMES - 60.0;
const LINE: f64 = 19.0;
const HEAD: f64 = 34.0;
const GAP: f64 = 22.0;
const TOP: f64 = 64.0;

pub fn svg(title: &str, groups: &[Group]) -> Result<String, fmt::Error> {
    let panels: Vec<(&Group, Vec<&Row>)> = groups
        .iter()
        .filter(|group| group.is_plotted)
        .map(|group| (group, sorted(group)))
        .collect();
    let mut bottoms = [TOP; COLUMNS];
    let mut body = String::new();
    for (group, rows) in &panels {
        let column = (0..COLUMNS)
            .min_by(|&a, &b| bottoms[a].total_cmp(&bottoms[b]))
            .unwrap_or_default();
        let left = GAP + column as f64 * (PANEL + GAP);
        panel(&mut body, group, rows, left, bottoms[column])?;
        bottoms[column] += HEAD + LINE * rows.len() as f64 + GAP;
    }
    let width = COLUMNS as f64 * (PANEL + GAP) + GAP;
    let height = bottoms.into_iter().fold(0.0, f64::max);
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{GAP}\" y=\"28\" font-size=\"17\" font-weight=\"bold\">{}</text>\n\
         <text x=\"{GAP}\" y=\"47\" fill=\"#666\">Shorter is better. <tspan fill=\"#c2410c\" font-weight=\"bold\">Orange</tspan>: \
         lazyonce. Black mark: what it must not go beyond.</text>\n{body}</svg>\n",
        escaped(title)
    ))
}

fn sorted(group: &Group) -> Vec<&Row> {
    let mut rows: Vec<&Row> = group.rows.iter().filter(|row| row.figure.is_ok()).collect();
    rows.sort_by(|a, b| median(a).total_cmp(&median(b)));
    rows
}

fn median(row: &Row) -> f64 {
    row.figure
        .as_ref()
        .map_or(f64::NAN, |samples| samples.median())
}

fn panel(
    body: &mut String,
    group: &Group,
    rows: &[&Row],
    left: f64,
    top: f64,
) -> Result<(), fmt::Error> {
    let longest = rows
        .iter()
        .flat_map(|row| [median(row), limit(group, row).unwrap_or_default()])
        .fold(f64::MIN_POSITIVE, f64::max);
    let length = |value: f64| BARS * value / longest;
    writeln!(
        body,
        "<text x=\"{left}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\">{} <tspan fill=\"#666\" font-weight=\"normal\">{}</tspan></text>",
        top + 20.0,
        escaped(group.title),
        group.unit.name()
    )?;
    let x = left + NAMES;
    for (line, row) in rows.iter().enumerate() {
        let y = top + HEAD + LINE * line as f64;
        let (colour, weight) = if row.is_ours() {
            ("#ea580c", "bold")
        } else {
            ("#b4bcc6", "normal")
        };
        let value = median(row);
        let mut end = x + length(value);
        writeln!(
            body,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-weight=\"{weight}\">{}</text>\
             <rect x=\"{x}\" y=\"{y}\" width=\"{:.1}\" height=\"{}\" fill=\"{colour}\"/>",
            x - 7.0,
            y + 11.5,
            escaped(&row.who),
            length(value).max(0.5),
            LINE - 5.0
        )?;
        if let Some(limit) = limit(group, row) {
            let at = x + length(limit);
            end = end.max(at + 2.0);
            writeln!(
                body,
                "<rect x=\"{:.1}\" y=\"{}\" width=\"2\" height=\"{}\" fill=\"#000\"/>",
                at,
                y - 2.0,
                LINE - 1.0
            )?;
        }
        writeln!(
            body,
            "<text x=\"{:.1}\" y=\"{}\" font-weight=\"{weight}\">{}</text>",
            end + 5.0,
            y + 11.5,
            number_of(value)
        )?;
    }
    Ok(())
}

/// What the row must not go beyond, in the group's unit.
fn limit(group: &Group, row: &Row) -> Option<f64> {
    match row.must? {
        Must::AtMost(limit) => Some(limit),
        Must::Times(times) => Some(times * median(row) / group.ratio(row)?),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
