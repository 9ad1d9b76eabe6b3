//! What a command is doing and how far it is, told on the standard error where it takes longer than
//! two seconds.
//!
//! On a terminal one line is rewritten; elsewhere a line is written every ten seconds. Programs
//! that use this crate as a library are told nothing: the command calls [`start`].

use std::io::{IsTerminal, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::request::{Event, Progress};

/// Shorter commands say nothing.
const FIRST: Duration = Duration::from_secs(2);
/// Time between two lines where nobody rewrites them.
const APART: Duration = Duration::from_secs(10);
/// Time between two states of the line on a terminal.
const REWRITTEN: Duration = Duration::from_millis(250);
/// Longer lines are cut, so that a terminal does not break them.
const WIDTH: usize = 78;

/// With the value `steps`, every step is told at once, without times; with `off`, nothing is: for
/// tests.
const VARIABLE: &str = "LOZENGE_PROGRESS";

/// How progress is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    /// Not at all.
    Silent,
    /// One line that is rewritten.
    Rewritten,
    /// Lines, some time apart.
    Lines,
    /// A line for each step.
    Steps,
}

/// What is counted.
#[derive(Debug)]
struct Count {
    what: String,
    done: u64,
    all: u64,
    item: String,
}

#[derive(Debug)]
struct State {
    how: How,
    began: Option<Instant>,
    count: Option<Count>,
    step: String,
    /// Whether a line stands on the terminal.
    shown: bool,
}

static STATE: Mutex<State> =
    Mutex::new(State { how: How::Silent, began: None, count: None, step: String::new(), shown: false });
static ENDED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on progress is told, unless nobody wants that.
pub fn start(quiet: bool) {
    let asked = std::env::var(VARIABLE).unwrap_or_default();
    let how = match (asked.as_str(), std::io::stderr().is_terminal()) {
        _ if quiet => How::Silent,
        ("off", _) => How::Silent,
        ("steps", _) => How::Steps,
        (_, true) => How::Rewritten,
        _ => How::Lines,
    };
    let mut state = state();
    (state.how, state.began) = (how, Some(Instant::now()));
    let apart = match how {
        How::Silent | How::Steps => return,
        How::Rewritten => REWRITTEN,
        How::Lines => APART,
    };
    drop(state);
    // Without the thread there is no progress to be seen, and the command works all the same.
    let _ = std::thread::Builder::new().spawn(move || tell_from_time_to_time(apart));
}

fn tell_from_time_to_time(apart: Duration) {
    let mut pause = FIRST;
    let mut state = state();
    while state.how != How::Silent {
        state = ENDED.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        let early = state.began.is_none_or(|began| began.elapsed() < FIRST);
        pause = if early { FIRST } else { apart };
        if !early {
            state.tell();
        }
    }
}

/// The command has ended: nothing more is told, and no line stays on the terminal.
pub fn end() {
    let mut state = state();
    state.clear();
    state.how = How::Silent;
    ENDED.notify_all();
}

/// What is done from now on.
pub fn say(step: impl Into<String>) {
    let mut state = state();
    state.step = step.into();
    state.stepped();
}

/// Tells a result of a long command as soon as it is there. It has times, so that who wants only
/// steps is not told.
pub(crate) fn result(line: &str) {
    let mut state = state();
    if matches!(state.how, How::Rewritten | How::Lines) {
        state.clear();
        let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
    }
}

/// Takes the line from the terminal before something else is printed; it comes back.
pub fn clear() {
    state().clear();
}

impl State {
    /// What is told; none if there is nothing to tell.
    fn line(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(Count { what, done, all, item }) = &self.count {
            let far = if *all > 0 { format!(" {done}/{all}") } else { String::new() };
            let item = if item.is_empty() { String::new() } else { format!(" {item}") };
            parts.push(format!("{what}{far}{item}"));
        }
        parts.extend((!self.step.is_empty()).then(|| self.step.clone()));
        (!parts.is_empty()).then(|| parts.join(": "))
    }

    /// From now on so many of something are counted.
    fn begin(&mut self, what: &str, all: u64) {
        let (what, item) = (what.to_owned(), String::new());
        self.count = Some(Count { what, done: 0, all, item });
        self.step.clear();
        self.stepped();
    }

    fn change(&mut self, change: impl FnOnce(&mut Count)) {
        if let Some(count) = &mut self.count {
            change(count);
            self.step.clear();
            self.stepped();
        }
    }

    fn set(&mut self, done: u64, all: u64) {
        if let Some(count) = &mut self.count {
            (count.done, count.all) = (done, all);
        }
    }

    /// Nothing is counted any more.
    fn end(&mut self) {
        self.count = None;
        self.step.clear();
    }

    fn stepped(&self) {
        if self.how == How::Steps
            && let Some(line) = self.line()
        {
            let _ = std::io::stderr().write_all(format!("progress: {line}\n").as_bytes());
        }
    }

    fn tell(&mut self) {
        let Some(line) = self.line() else { return };
        let seconds = self.began.map_or(0, |began| began.elapsed().as_secs());
        let text = format!("{line} ({seconds} s)");
        match self.how {
            How::Rewritten => {
                let short: String = text.chars().take(WIDTH).collect();
                let _ = std::io::stderr().write_all(format!("\r\x1b[2K{short}").as_bytes());
                self.shown = true;
            }
            How::Lines => {
                let _ = std::io::stderr().write_all(format!("progress: {text}\n").as_bytes());
            }
            How::Silent | How::Steps => {}
        }
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = std::io::stderr().write_all(b"\r\x1b[2K");
        }
    }
}

/// What a request brings along so that the work on it is told.
pub(crate) fn of_request() -> Progress {
    Progress::new(|event| match event {
        Event::Step(step) => say(step),
        Event::Count(what, all) => state().begin(what, all),
        Event::Item(item) => state().change(|count| count.item = item.to_owned()),
        Event::Counted => state().change(|count| count.done = count.done.saturating_add(1)),
        Event::Done(done, all) => state().set(done, all),
        Event::End => state().end(),
    })
}

/// Something that is counted until this value is gone.
#[derive(Debug)]
pub(crate) struct Bar(());

impl Bar {
    /// So many of something, of which none is done; 0 if it is not known how many.
    pub fn new(all: u64, what: &str) -> Bar {
        state().begin(what, all);
        Bar(())
    }

    /// Some more are done.
    pub fn inc(&self, more: u64) {
        state().change(|count| count.done = count.done.saturating_add(more));
    }

    /// So many are done, of so many. This moves on too often to be a step.
    pub fn set(&self, done: u64, all: u64) {
        state().set(done, all);
    }

    /// What is worked on.
    pub(crate) fn set_message(&self, item: impl Into<String>) {
        state().change(|count| count.item = item.into());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        state().end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(count: Option<Count>, step: &str) -> Option<String> {
        State { how: How::Lines, began: None, count, step: step.to_owned(), shown: false }.line()
    }

    #[test]
    fn a_line_says_what_is_done_and_how_far() {
        let count =
            |all, item: &str| Some(Count { what: "testing".to_owned(), done: 3, all, item: item.to_owned() });
        assert_eq!(told(None, ""), None);
        assert_eq!(told(None, "compiling").as_deref(), Some("compiling"));
        assert_eq!(told(count(10, "a.loz"), "compiling").as_deref(), Some("testing 3/10 a.loz: compiling"));
        assert_eq!(told(count(0, ""), "").as_deref(), Some("testing"));
    }
}
