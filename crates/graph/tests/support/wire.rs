//! The wire format, for tests that make files which the crate only reads.

/// A message that is being written.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

impl Writer {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub fn bytes(&mut self, number: u64, value: &[u8]) {
        self.varint(number << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return value;
        }
    }
}

/// Each field: its number, where it begins with its tag, where its content begins and ends.
fn spans(bytes: &[u8]) -> Vec<(u64, usize, usize, usize, bool)> {
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        let start = at;
        let tag = varint(bytes, &mut at);
        let content = match tag & 7 {
            0 => {
                let from = at;
                varint(bytes, &mut at);
                from
            }
            1 => {
                at += 8;
                at - 8
            }
            5 => {
                at += 4;
                at - 4
            }
            _ => {
                let length = varint(bytes, &mut at) as usize;
                at += length;
                at - length
            }
        };
        found.push((tag >> 3, start, content, at, tag & 7 == 2));
    }
    found
}

/// The fields of a message that hold bytes.
pub fn fields(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let all = spans(bytes).into_iter().filter(|span| span.4);
    all.map(|(number, _, from, to, _)| (number, bytes[from..to].to_vec())).collect()
}

/// The first field with this number.
pub fn part(bytes: &[u8], number: u64) -> Option<Vec<u8>> {
    fields(bytes).into_iter().find(|(n, _)| *n == number).map(|(_, value)| value)
}

/// A message without the fields of this number.
pub fn without(bytes: &[u8], number: u64) -> Vec<u8> {
    let kept = spans(bytes).into_iter().filter(|span| span.0 != number);
    kept.flat_map(|(_, start, _, end, _)| bytes[start..end].to_vec()).collect()
}
