//! The pages of error codes: each example gives the message that is shown behind it, and each page
//! says what to do.
//!
//! A block with a file name behind its language is a file; the lines of a block `console` that
//! begin with `$` are run in a folder with the files of the page. What stands behind such a line is
//! the first line of the output with the code of the page; BLESS=1 writes it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use lozenge::files::Scratch;
use lozenge::pages;

/// Code blocks of all pages that are files or commands; a change of the form of pages would run
/// none.
const LEAST_EXAMPLES: usize = 130;

/// What a command prints to both streams.
fn printed(folder: &Path, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_lozenge")).parent().expect("it is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", program.display()))
        .env("NO_COLOR", "1")
        .env_remove("CC")
        .env_remove("LOZENGE_CACHES")
        .env_remove("LOZENGE_REGISTERS")
        .stdin(Stdio::null())
        .output()
        .expect("a shell runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The message without the memory of this machine.
fn without_memory(message: &str) -> String {
    match message.strip_suffix(" of memory are available").and_then(|rest| rest.rsplit_once(", and ")) {
        Some((head, _)) => format!("{head}, and 23 GiB of memory are available"),
        None => message.to_owned(),
    }
}

/// The page with the messages that its commands give, and how many commands it has.
fn with_messages(code: &str, page: &str) -> Result<(String, usize), String> {
    let scratch = Scratch::new().map_err(|e| format!("{e:?}"))?;
    let mark = format!("[{code}]: ");
    let (mut text, mut ran, mut lines) = (String::new(), 0, page.lines().peekable());
    while let Some(line) = lines.next() {
        let _ = writeln!(text, "{line}");
        let Some(fence) = line.strip_prefix("```").filter(|fence| !fence.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some((_, name)) = fence.split_once(' ') {
            let content: String = block.iter().map(|line| format!("{line}\n")).collect();
            fs::write(scratch.path().join(name), content).map_err(|e| e.to_string())?;
        }
        if fence != "console" {
            block.iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
        for shown in block.iter().filter(|_| fence == "console") {
            let Some(command) = shown.strip_prefix("$ ") else { continue };
            let output = printed(scratch.path(), command);
            ran += 1;
            match output.lines().find(|line| line.contains(&mark)) {
                Some(message) => {
                    let _ = writeln!(text, "{shown}\n{}", without_memory(message.trim_start()));
                }
                None => {
                    return Err(format!(
                        "docs/errors/{code}.md: `{command}` does not give {code}:\n{output}"
                    ));
                }
            }
        }
        text.push_str("```\n");
    }
    Ok((text, ran))
}

#[test]
fn examples_give_the_messages_that_are_shown() {
    let folder = golden::root().join("docs/errors");
    let (mut ran, mut wrong) = (0, String::new());
    for (code, page) in pages::all() {
        let outcome = with_messages(code, page).and_then(|(text, count)| {
            ran += count;
            golden::compare(&folder.join(format!("{code}.md")), &text)
        });
        if let Err(why) = outcome {
            let _ = writeln!(wrong, "{why}");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}\nBLESS=1 accepts other messages of the same code.");
    assert!(ran >= LEAST_EXAMPLES, "only {ran} examples were run");
}

#[test]
fn each_page_says_what_to_do_in_short_lines() {
    for (code, page) in pages::all() {
        assert!(page.contains("\n## What to do\n\n"), "docs/errors/{code}.md does not say what to do");
        assert!(pages::title(page).len() <= 100, "docs/errors/{code}.md has a long title");
        let mut inside = false;
        for line in page.lines() {
            inside ^= line.starts_with("```");
            assert!(inside || line.chars().count() <= 100, "docs/errors/{code}.md has a long line: {line}");
        }
        assert!(!inside, "docs/errors/{code}.md has a block without an end");
    }
}
