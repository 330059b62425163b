//! Three columns of plain text, 100 wide at most.

use std::io::{IsTerminal, Write};

const WIDTHS: [usize; 3] = [36, 26, 32];

#[derive(Clone, Copy)]
pub struct Paint(bool);

impl Paint {
    pub fn for_stdout() -> Paint {
        Paint(std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none())
    }

    fn line(self, text: &str, good: bool) -> String {
        if self.0 {
            format!("\x1b[{}m{text}\x1b[0m", if good { 32 } else { 31 })
        } else {
            text.to_owned()
        }
    }
}

pub struct Cell {
    pub lines: Vec<String>,
    pub good: bool,
}

pub struct Table {
    paint: Paint,
    heads: [&'static str; 3],
}

impl Table {
    pub fn new(paint: Paint, heads: [&'static str; 3]) -> Table {
        Table { paint, heads }
    }

    pub fn head(&self) {
        let [first, second, third] = self.heads;
        println!("{first:0$} | {second:1$} | {third}", WIDTHS[0], WIDTHS[1]);
        self.rule();
    }

    pub fn section(&self, name: &str) {
        println!("{name}");
        self.rule();
    }

    pub fn row(&self, title: &[&str], old: &Cell, ours: &Cell) {
        let old_lines = wrapped(&old.lines, WIDTHS[1]);
        let our_lines = wrapped(&ours.lines, WIDTHS[2]);
        for i in 0..title.len().max(old_lines.len()).max(our_lines.len()) {
            let first = format!("{:1$}", title.get(i).copied().unwrap_or(""), WIDTHS[0]);
            let second = format!(
                "{:1$}",
                old_lines.get(i).map_or("", String::as_str),
                WIDTHS[1]
            );
            let third = our_lines.get(i).map_or("", String::as_str);
            // Colour marks the verdict, which is a cell's first line.
            let (second, third) = if i == 0 {
                (
                    self.paint.line(&second, old.good),
                    self.paint.line(third, ours.good),
                )
            } else {
                (second, third.to_owned())
            };
            println!("{}", format!("{first} | {second} | {third}").trim_end());
        }
        self.rule();
    }

    fn rule(&self) {
        println!("{}", WIDTHS.map(|width| "-".repeat(width)).join("-+-"));
        let _ = std::io::stdout().flush();
    }
}

/// Long lines (only failures have them) go on below, broken at spaces where there are any.
fn wrapped(lines: &[String], width: usize) -> Vec<String> {
    let mut result = Vec::new();
    for line in lines {
        let mut rest: Vec<char> = line.chars().collect();
        while rest.len() > width {
            let cut = rest[..width]
                .iter()
                .rposition(|c| *c == ' ')
                .filter(|at| *at > 2)
                .unwrap_or(width);
            let tail = rest.split_off(cut);
            result.push(rest.into_iter().collect());
            rest = "  "
                .chars()
                .chain(tail.into_iter().skip_while(|c| *c == ' '))
                .collect();
        }
        result.push(rest.into_iter().collect());
    }
    result
}
