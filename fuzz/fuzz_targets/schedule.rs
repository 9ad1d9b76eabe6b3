//! Schedules: trees and times of statements.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(schedule) = text.parse::<polyhedral::representation::Representation>() {
        let _ = schedule.to_string();
    }
});
