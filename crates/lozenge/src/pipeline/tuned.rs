//! Schedules that measurement has chosen: the text of a `.tune` file.
//!
//! It is a file of schedules as `--schedule` reads them. Under the line `schedule NAME` of each
//! function a comment names the text that was measured, by the digest of its loop program: for
//! another text the schedule does not hold. A function without an entry is scheduled as usual.

use std::borrow::Cow;

use loops::Function;

use super::Front;
use crate::digest;
use crate::failure::{Failure, Source};
use crate::request::{Request, Schedule};

/// How a file of tuned schedules begins.
pub const FIRST_LINE: &str = "// Schedules chosen by measurement (lozenge tune).";

/// The comment that names the text that was measured.
const TEXT: &str = "// text ";

/// Digits of a digest that are kept.
const DIGITS: usize = 16;

/// A function in a file of tuned schedules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The digest of the loop program that was measured.
    pub digest: String,
    /// Comments for people, and the schedule.
    pub text: String,
}

/// The digest of a loop program before any schedule, and of what is allowed to a schedule.
pub fn digest(function: &Function, request: &Request) -> String {
    let order = if request.reassociate { "updates in any order" } else { "" };
    let mut digits = digest::of_bytes(format!("{function}{order}").as_bytes());
    digits.truncate(DIGITS);
    digits
}

/// The entries of a file, in their order.
pub fn entries(text: &str) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("schedule ") {
            let name = name.trim().to_owned();
            all.push(Entry { name, digest: String::new(), text: String::new() });
        } else if let Some(entry) = all.last_mut() {
            if let Some(rest) = line.strip_prefix(TEXT) {
                entry.digest = rest.split_whitespace().next().unwrap_or_default().to_owned();
            } else {
                entry.text.push_str(line);
                entry.text.push('\n');
            }
        }
    }
    all
}

/// The text of a file of these entries.
pub fn file(entries: &[Entry]) -> String {
    let mut text = format!("{FIRST_LINE}\n");
    for Entry { name, digest, text: own } in entries {
        text.push_str(&format!("{}{TEXT}{digest}\n{own}", super::schedule_header(name)));
    }
    text
}

/// The request for a function: where nothing is said of its schedule and it was tuned, with that.
pub fn request<'r>(request: &'r Request, function: &Function) -> Cow<'r, Request> {
    match &request.tuned {
        Some(source) if request.schedule == Schedule::Usual && holds(&source.text, function, request) => {
            Cow::Owned(Request { schedule: Schedule::Given(source.clone()), ..request.clone() })
        }
        _ => Cow::Borrowed(request),
    }
}

fn holds(text: &str, function: &Function, request: &Request) -> bool {
    let own =
        |entry: &Entry| entry.name == function.name.as_str() && entry.digest == digest(function, request);
    entries(text).iter().any(own)
}

impl Front {
    /// What is told of a file of tuned schedules: which functions it is for, and which have changed
    /// since.
    ///
    /// # Errors
    /// What the stages refuse.
    pub(crate) fn told_of_tuned(&self, request: &Request) -> Result<Vec<String>, Failure> {
        let Some(Source { path, text }) = &request.tuned else { return Ok(Vec::new()) };
        if request.schedule != Schedule::Usual {
            return Ok(Vec::new());
        }
        let mut told = Vec::new();
        for name in self.wanted(request)? {
            let Some(entry) = entries(text).into_iter().find(|entry| entry.name == name) else { continue };
            told.push(if entry.digest == digest(&self.original(&name, request)?, request) {
                format!("note: the schedule of `{name}` is from {path}")
            } else {
                format!(
                    "warning: `{name}` is not what was measured for {path}, so its schedule there is not used: run `lozenge tune` again"
                )
            });
        }
        Ok(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Kind;

    #[test]
    fn a_schedule_holds_for_its_text() {
        let text =
            "fn f[n](a: inout f64[n][n]) { for i in 1..n { for j in 0..n { a[i][j] += a[i - 1][j] } } }";
        let loops = |text: &str, tuned: Option<Source>| {
            let request = Request { tuned, ..Request::default() };
            let source = Source { path: "f.loops".to_owned(), text: text.to_owned() };
            let front = Front::open(&source, Kind::Loops, &request).unwrap();
            let told = front.told_of_tuned(&request).unwrap();
            (front.lower(&request).unwrap().function, told)
        };
        let (plain, _) = loops(text, None);
        let auto = Request { schedule: Schedule::Auto, ..Request::default() };
        let source = Source { path: "f.loops".to_owned(), text: text.to_owned() };
        let front = Front::open(&source, Kind::Loops, &auto).unwrap();
        let schedule = front.optimized(&plain, &auto).unwrap().schedule.to_string();
        let ours = front.lower(&auto).unwrap().function;
        assert_ne!(ours.body, plain.body);
        let digest = digest(&plain, &auto);
        let entries = [Entry { name: "f".to_owned(), digest, text: format!("// n=3\n{schedule}\n") }];
        let tuned = Some(Source { path: "f.tune".to_owned(), text: file(&entries) });
        let (function, told) = loops(text, tuned.clone());
        assert_eq!(function.body, ours.body);
        assert_eq!(told, ["note: the schedule of `f` is from f.tune"]);
        let (function, told) = loops(&text.replace("1..n", "2..n"), tuned);
        assert_eq!(function.body, loops(&text.replace("1..n", "2..n"), None).0.body);
        assert!(told[0].starts_with("warning: `f` is not what was measured"), "{told:?}");
    }

    #[test]
    fn a_file_reads_back() {
        let entry = |name: &str, digest: &str, text: &str| Entry {
            name: name.to_owned(),
            digest: digest.to_owned(),
            text: text.to_owned(),
        };
        let all =
            [entry("f", "0123456789abcdef", "// n=3\npasses x\ndomain\n"), entry("g", "ff", "domain\n")];
        assert_eq!(entries(&file(&all)), all);
    }
}
