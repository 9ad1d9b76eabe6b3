//! What must not stay behind if a signal ends the command: processes that it started, scratch
//! folders, files that are half written.
//!
//! Each is entered here while it exists. INT, TERM and HUP kill and delete what is entered, and
//! then end the command as they would have. Nothing can be done about KILL.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

struct Entered {
    groups: BTreeSet<i32>,
    paths: BTreeSet<PathBuf>,
}

static ENTERED: Mutex<Entered> = Mutex::new(Entered { groups: BTreeSet::new(), paths: BTreeSet::new() });

fn entered() -> MutexGuard<'static, Entered> {
    ENTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, signals that end the command clear what is entered. A signal that is ignored stays
/// so.
pub(crate) fn clear_on_signals() {
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| ignored >> (s - 1) & 1 == 0);
    let Ok(mut signals) = signal_hook::iterator::Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Nothing new is entered from here on: the lock is kept.
            let mut entered = entered();
            clear(&mut entered);
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// The mask of the signals that this process ignores; none where the system does not tell.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends this process at once, and leaves nothing behind.
pub fn exit(code: i32) -> ! {
    let mut entered = entered();
    clear(&mut entered);
    std::process::exit(code)
}

fn clear(entered: &mut Entered) {
    for group in &entered.groups {
        kill(*group);
    }
    for path in &entered.paths {
        // A process that is being killed may still make a file while its folder is deleted.
        for _ in 0..10 {
            let gone = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            if gone.is_ok() || fs::symlink_metadata(path).is_err() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

fn kill(group: i32) {
    if let Some(group) = Pid::from_raw(group) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// A file or folder that is deleted if a signal ends the command.
#[derive(Debug)]
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// Makes it, and enters its path.
    pub fn make<T>(
        make: impl FnOnce() -> std::io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> std::io::Result<(T, Temporary)> {
        // No signal is looked at between the two.
        let mut entered = entered();
        let made = make()?;
        let path = path(&made).to_path_buf();
        entered.paths.insert(path.clone());
        Ok((made, Temporary(path)))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        entered().paths.remove(&self.0);
    }
}

/// A process with all that it starts: it leads a group of its own, which ends with this value.
#[derive(Debug)]
pub struct Group {
    child: Child,
    id: i32,
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts a process that leads a group of its own.
    ///
    /// # Errors
    /// Those of the system.
    pub fn start(command: &mut Command) -> std::io::Result<Group> {
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut entered = entered();
        let child = command.spawn()?;
        let id = i32::try_from(child.id()).unwrap_or(0);
        entered.groups.insert(id);
        Ok(Group { child, id, status: None })
    }

    /// The process, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Whether the process that leads the group has ended. Its number stays taken, so that the
    /// group can be killed.
    pub(crate) fn has_ended(&self) -> bool {
        let Some(id) = Pid::from_raw(self.id) else { return true };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(id), look), Ok(None))
    }

    /// Kills what is left of the group and tells how the process ended.
    pub fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            kill(self.id);
            self.status = self.child.wait().ok();
            entered().groups.remove(&self.id);
        }
        self.status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}
