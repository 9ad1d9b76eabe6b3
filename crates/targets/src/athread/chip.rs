//! Differences between the chips: sizes, names, the order of arguments. No other module of this
//! target depends on the chip.

use loops::{Name, Registers};

/// A chip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Chip {
    /// Its name.
    pub name: &'static str,
    /// Bytes of local memory of a core.
    pub ldm: i64,
    /// Bytes of it that are left for the stack, arguments and replies.
    pub stack: i64,
    /// Rows and columns of cores.
    pub grid: (i64, i64),
    /// Whether it has the interface `CRTS_*` rather than `athread_get` and `athread_put`.
    pub crts: bool,
    /// Whether shares with short rows come in two boxes at a time.
    pub pairs: bool,
}

/// The registers for tiles of sums on a core. Both chips are programmed with vectors of four
/// doubles.
pub const REGISTERS: Registers = Registers { count: 32, bytes: 32 };

/// The chip of Sunway TaihuLight.
pub const SW26010: Chip =
    Chip { name: "SW26010", ldm: 64 << 10, stack: 4 << 10, grid: (8, 8), crts: false, pairs: false };

/// Its successor.
pub const SW26010_PRO: Chip =
    Chip { name: "SW26010Pro", ldm: 256 << 10, stack: 16 << 10, grid: (8, 8), crts: true, pairs: false };

impl Chip {
    /// Bytes that arrays may take.
    pub fn buffers(&self) -> i64 {
        self.ldm - self.stack
    }

    /// Headers of slave files.
    pub(super) fn slave_headers(&self) -> &'static [&'static str] {
        if self.crts { &["slave.h", "crts.h", "simd.h"] } else { &["slave.h", "dma.h", "simd.h"] }
    }

    /// Declarations of reply words: in local memory, and changed from outside.
    pub(super) fn replies(&self, names: &[String]) -> String {
        let ty = if self.crts { "crts_rply_t" } else { "volatile int" };
        names.iter().map(|name| format!("__thread_local {ty} {name};\n")).collect::<String>()
            + &format!("__thread_local {ty} lozenge_reply;\n")
    }

    /// Brings the arguments into local memory.
    pub(super) fn arguments(&self) -> String {
        "lozenge_reply = 0;\n  get_box(&lozenge_arguments, lozenge_given, 1, sizeof lozenge_arguments, sizeof lozenge_arguments, 1, &lozenge_reply);\n  WAIT(lozenge_reply, 1);".to_owned()
    }

    /// Waits for all transfers of a tag.
    pub(super) fn wait(&self, tag: &Name) -> String {
        format!("WAIT({tag}, {tag}_sent);")
    }

    /// Helpers of cores that share a box: for the shares that they bring in, and for the exchange,
    /// with its cycles.
    pub(super) fn sharing(&self, rows: i64, columns: i64) -> String {
        let shares = include_str!("shares.c");
        let (exchange, pieces) = match self.crts {
            true => (include_str!("share_crts.c"), ""),
            false => (include_str!("share_registers.c"), include_str!("share_pieces.c")),
        };
        let lines = include_str!("share_lines.c");
        let reply = if self.crts { "crts_rply_t" } else { "volatile int" };
        let counts = format!(
            "\n/* Rows and columns of cores. */\n#define CORE_ROWS {rows}\n#define CORE_COLUMNS {columns}\n"
        );
        format!("{counts}{}{exchange}{lines}{pieces}", shares.replace("REPLY", reply))
    }

    /// Helpers of cores that receive a broadcast box, while rows of another box take turns; and the
    /// maximal number of rows.
    pub(super) fn broadcasts(&self, rows: i64) -> String {
        include_str!("cast.c").replace("TURN_ROWS", &rows.to_string())
    }

    /// What cores do who exchange panels.
    pub(super) fn panels(&self) -> &'static str {
        include_str!("panel_registers.c")
    }

    /// What cores do who sum up columns of which each has rows.
    pub(super) fn panels_of_columns(&self, slots: i64) -> String {
        include_str!("column_registers.c").replace("SLOTS", &slots.to_string())
    }

    /// Waits for all cores.
    pub(super) fn barrier(&self) -> String {
        "BARRIER();".to_owned()
    }

    /// Transfers of boxes in terms of the vendor's interface. `pitch` counts elements between rows
    /// in main memory; rows lie close together in local memory. The gap between rows is given in
    /// bytes. The result is the number of transfers: none for an empty box.
    pub(super) fn transfers(&self) -> String {
        let (reply, get, put, rest) = if self.crts {
            (
                "crts_rply_t",
                "CRTS_dma_iget_stride(local, (void *)memory, (int)(rows * block), (int)block, (int)gap, reply);",
                "CRTS_dma_iput_stride(memory, (void *)local, (int)(rows * block), (int)block, (int)gap, reply);",
                "#define WAIT(reply, n) CRTS_dma_wait_value(&reply, n)\n#define BARRIER() CRTS_ssync_array()\n#define CORE_NUMBER CRTS_tid\n",
            )
        } else {
            (
                "volatile int",
                "athread_get(PE_MODE, (void *)memory, local, (int)(rows * block), (void *)reply, 0, (int)gap, gap ? (int)block : 0);",
                "athread_put(PE_MODE, (void *)local, memory, (int)(rows * block), (void *)reply, (int)gap, gap ? (int)block : 0);",
                "#define WAIT(reply, n) dma_wait(&reply, n)\n#define BARRIER() athread_syn(ARRAY_SCOPE, 0xffff)\n#define CORE_NUMBER athread_get_id(-1)\n",
            )
        };
        let function = |verb: &str, local: &str, memory: &str, call: &str| {
            format!(
                "
static inline int {verb}_box({local}local, {memory}memory, long rows, long columns, long pitch, long bytes, {reply} *reply)
{{
  const long block = columns * bytes, gap = rows > 1 ? (pitch - columns) * bytes : 0;
  if (rows <= 0 || columns <= 0)
    return 0;
  {call}
  return 1;
}}
"
            )
        };
        format!(
            "
{rest}{}{}",
            function("get", "void *", "const void *", get),
            function("put", "const void *", "void *", put)
        )
    }
}
