//! What the emulator reports of a run. Times are modelled, never measured.

use serde_json::Value as Json;

use crate::failure::Failure;

/// Counts and modelled times of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Cores.
    pub threads: u64,
    /// How often kernels were spawned.
    pub spawns: u64,
    /// Modelled time, with the spawns.
    pub seconds: f64,
    /// Computing, of a core on average.
    pub compute_seconds: f64,
    /// Share of the time in which a core, on average, waits for transfers or for others.
    pub stall_share: f64,
    /// Useful floating-point operations.
    pub flops: f64,
    /// Bytes from main memory to local memory.
    pub bytes_get: u64,
    /// Bytes from local memory to main memory.
    pub bytes_put: u64,
    /// Bytes between local memories.
    pub bytes_remote: u64,
    /// Bytes that are touched at all: read, and written.
    pub unique: (u64, u64),
    /// Transfers.
    pub commands: u64,
    /// Contiguous blocks of them.
    pub blocks: u64,
    /// Largest use of a core's local memory, in bytes, and how much there is.
    pub ldm: (u64, u64),
    /// Accesses to main memory without a transfer.
    pub direct: u64,
    /// The least time by roofline: operations at the peak of these cores, or touched bytes at the
    /// bandwidth, whichever takes longer.
    pub bound_seconds: f64,
    /// As it was written.
    pub json: Json,
}

impl Report {
    /// Reads what the emulator wrote.
    ///
    /// # Errors
    /// `X0304` if it is not a report.
    pub fn read(text: &str) -> Result<Report, Failure> {
        let bad = || Failure::environment("X0304", "the emulator's report can't be read");
        let json: Json = serde_json::from_str(text).map_err(|_| bad())?;
        let float = |name: &str| json.get(name).and_then(Json::as_f64).ok_or_else(bad);
        let count = |name: &str| json.get(name).and_then(Json::as_u64).ok_or_else(bad);
        Ok(Report {
            threads: count("threads")?,
            spawns: count("spawns")?,
            seconds: float("modelled_seconds")?,
            compute_seconds: float("compute_seconds")?,
            stall_share: float("stall_share")?,
            flops: float("flops")?,
            bytes_get: count("bytes_get")?,
            bytes_put: count("bytes_put")?,
            bytes_remote: count("bytes_remote")?,
            unique: (count("unique_bytes_read")?, count("unique_bytes_written")?),
            commands: count("commands")?,
            blocks: count("blocks")?,
            ldm: (count("ldm_peak")?, count("ldm_capacity")?),
            direct: count("direct_accesses")?,
            bound_seconds: float("bound_seconds")?,
            json,
        })
    }

    /// Bytes to and from main memory.
    pub fn traffic(&self) -> u64 {
        self.bytes_get + self.bytes_put
    }

    /// Bytes that any program has to move.
    pub fn touched(&self) -> u64 {
        self.unique.0 + self.unique.1
    }

    /// The bound over the modelled time: 1 is the best there is.
    pub(crate) fn bound_share(&self) -> f64 {
        if self.seconds > 0.0 { self.bound_seconds / self.seconds } else { 0.0 }
    }
}
