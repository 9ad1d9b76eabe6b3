//! Protobuf's wire format: reading and writing the fields of a message in sequence. Nothing is
//! copied. A wrong length is an error.
//!
//! Source: <https://protobuf.dev/programming-guides/encoding>.

use bytes::Bytes;

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Payload {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// Bytes from the first offset to the second.
    Bytes(usize, usize),
    /// A group (an old form of nested message): carried as it is.
    Group,
}

/// A field: its number, what it holds, and where it stands with its tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub number: u32,
    pub payload: Payload,
    pub start: usize,
    pub end: usize,
}

/// What is wrong with a file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Malformed {
    pub what: String,
    pub at: usize,
}

pub(super) fn malformed<T>(what: impl Into<String>, at: usize) -> Result<T, Malformed> {
    Err(Malformed { what: what.into(), at })
}

/// The fields of the message between two offsets of a file.
pub(super) struct Fields<'a> {
    file: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(file: &'a [u8], start: usize, end: usize) -> Fields<'a> {
        Fields { file, at: start, end }
    }

    /// The next field, or `None` at the end of the message.
    pub(super) fn next(&mut self) -> Result<Option<Field>, Malformed> {
        if self.at == self.end {
            return Ok(None);
        }
        let start = self.at;
        let (number, payload) = self.field(0)?;
        Ok(Some(Field { number, payload, start, end: self.at }))
    }

    fn field(&mut self, depth: u32) -> Result<(u32, Payload), Malformed> {
        let start = self.at;
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).unwrap_or(0);
        if number == 0 {
            return malformed("a field has no number", start);
        }
        let payload = match tag & 7 {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed64(u64::from_le_bytes(self.fixed()?)),
            5 => Payload::Fixed32(u32::from_le_bytes(self.fixed()?)),
            2 => {
                let length = self.varint()?;
                let left = self.end - self.at;
                match usize::try_from(length).ok().filter(|l| *l <= left) {
                    Some(length) => {
                        let from = self.at;
                        self.at += length;
                        Payload::Bytes(from, self.at)
                    }
                    None => {
                        return malformed(
                            format!("a field claims {length} bytes where {left} are left"),
                            start,
                        );
                    }
                }
            }
            3 => {
                // Up to the tag that closes the group; groups inside are skipped with it.
                if depth > 32 {
                    return malformed("groups are nested too deep", start);
                }
                loop {
                    if self.at == self.end {
                        return malformed("a group has no end", start);
                    }
                    let before = self.at;
                    if self.varint()? & 7 == 4 {
                        break;
                    }
                    self.at = before;
                    self.field(depth + 1)?;
                }
                Payload::Group
            }
            kind => return malformed(format!("a field is of the unknown kind {kind}"), start),
        };
        Ok((number, payload))
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let start = self.at;
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let Some(&byte) = self.file[..self.end].get(self.at) else {
                return malformed("the file ends inside a number", start);
            };
            self.at += 1;
            if shift == 63 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        malformed("a number is longer than 64 bits", start)
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let found = self.file[..self.end].get(self.at..self.at + N).and_then(|b| b.try_into().ok());
        match found {
            Some(bytes) => {
                self.at += N;
                Ok(bytes)
            }
            None => malformed("the file ends inside a number", self.at),
        }
    }

    /// The numbers of a packed field.
    pub(super) fn varints(
        file: &[u8],
        start: usize,
        end: usize,
        each: &mut impl FnMut(u64),
    ) -> Result<(), Malformed> {
        let mut fields = Fields::new(file, start, end);
        while fields.at < fields.end {
            each(fields.varint()?);
        }
        Ok(())
    }
}

/// Pieces of a file that are kept as they are, in the order of their numbers; where that is the
/// order of the file there is no copy.
#[derive(Default)]
pub(super) struct Kept {
    pieces: Vec<(u32, usize, usize)>,
}

impl Kept {
    pub(super) fn keep(&mut self, field: Field) {
        match self.pieces.last_mut() {
            Some((number, _, end)) if *end == field.start && *number == field.number => *end = field.end,
            _ => self.pieces.push((field.number, field.start, field.end)),
        }
    }

    pub(super) fn bytes(mut self, file: &Bytes) -> Bytes {
        self.pieces.sort_by_key(|(number, ..)| *number);
        let whole = self.pieces.windows(2).all(|pair| pair[0].2 == pair[1].1);
        match (self.pieces.first(), self.pieces.last()) {
            (Some((_, start, _)), Some((_, _, end))) if whole => file.slice(*start..*end),
            (None, _) | (_, None) => Bytes::new(),
            _ => self.pieces.iter().flat_map(|(_, start, end)| file[*start..*end].iter().copied()).collect(),
        }
    }
}

/// Runs of bytes that are at least this long are shared instead of copied.
const SHARED: usize = 4096;

/// What is written: pieces one behind another.
#[derive(Default)]
pub(super) struct Pieces {
    done: Vec<Bytes>,
    /// Bytes in all of `done`.
    length: usize,
    /// The end, which still grows.
    open: Vec<u8>,
}

impl Pieces {
    /// All pieces in order.
    pub(super) fn finish(mut self) -> Vec<Bytes> {
        self.close();
        self.done
    }

    fn len(&self) -> usize {
        self.length + self.open.len()
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.length += self.open.len();
            self.done.push(std::mem::take(&mut self.open).into());
        }
    }

    /// Bytes as they are.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.open.extend_from_slice(bytes);
    }

    /// The same without a copy, if there are many.
    pub(super) fn raw_shared(&mut self, bytes: &Bytes) {
        if bytes.len() < SHARED {
            return self.raw(bytes);
        }
        self.close();
        self.length += bytes.len();
        self.done.push(bytes.clone());
    }

    fn varint(&mut self, value: u64) {
        varint(&mut self.open, value);
    }

    fn tag(&mut self, number: u32, kind: u32) {
        self.varint(u64::from(number << 3 | kind));
    }

    /// An integer field.
    pub(super) fn int(&mut self, number: u32, value: i64) {
        self.tag(number, 0);
        self.varint(value as u64);
    }

    /// A field of bytes.
    pub(super) fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, 2);
        self.varint(bytes.len() as u64);
        self.raw(bytes);
    }

    /// The same without a copy, if there are many.
    pub(super) fn shared(&mut self, number: u32, bytes: &Bytes) {
        self.tag(number, 2);
        self.varint(bytes.len() as u64);
        self.raw_shared(bytes);
    }

    /// A floating-point field.
    pub(super) fn float(&mut self, number: u32, value: f32) {
        self.tag(number, 5);
        self.raw(&value.to_le_bytes());
    }

    /// A nested message: what `fill` writes, with its length before it.
    pub(super) fn message(&mut self, number: u32, fill: impl FnOnce(&mut Pieces)) {
        self.tag(number, 2);
        // Room for the usual length; what is still open moves if it needs more.
        let (piece, at, before) = (self.done.len(), self.open.len(), self.len());
        self.open.push(0);
        fill(self);
        let mut head = Vec::with_capacity(10);
        varint(&mut head, (self.len() - before - 1) as u64);
        if self.done.len() == piece {
            match head.as_slice() {
                [one] => self.open[at] = *one,
                _ => drop(self.open.splice(at..=at, head)),
            }
            return;
        }
        // The place of the length is in a piece that is done.
        let first = self.done[piece].clone();
        self.length += head.len() - 1;
        let parts = [first.slice(..at), head.into(), first.slice(at + 1..)];
        self.done.splice(piece..=piece, parts.into_iter().filter(|p| !p.is_empty()));
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
