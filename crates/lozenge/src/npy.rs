//! NumPy's array files (`.npy`, versions 1 to 3): little-endian `f4 f8 i4 i8 b1` in C order, and pairs as records of two fields.
//!
//! Not here: big-endian and Fortran-ordered files, records of other numbers of fields, archives (`.npz`). They are refused with the reason.

use loops::{Data, Elem, Scalar, Tensor};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Nested records deeper than this are refused.
const MAX_DEPTH: u32 = 16;

/// Reads an array.
///
/// # Errors
/// What is wrong with the file or not supported, as the end of a sentence that begins with its name.
pub fn read(bytes: &[u8]) -> Result<Tensor, String> {
    let header = header(bytes)?;
    let count = header.shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
    let size = count.and_then(|n| n.checked_mul(header.record.bytes));
    let (Some(count), Some(size)) = (count, size) else {
        return Err(format!("has a shape {:?} beyond any memory", header.shape));
    };
    let body = &bytes[header.start..];
    if body.len() != size {
        return Err(format!("holds {} bytes of data where its header needs {size}", body.len()));
    }
    let data = decode(body, &header.record.layout, header.record.bytes, 0, count);
    Ok(Tensor { shape: header.shape, data })
}

/// Writes an array (version 1 of the format, or 2 where the header is long).
pub fn write(tensor: &Tensor) -> Vec<u8> {
    let mut shape: String = tensor.shape.iter().map(|d| format!("{d}, ")).collect();
    if tensor.shape.len() > 1 {
        shape.truncate(shape.len() - 2);
    } else {
        shape = shape.trim_end().to_owned();
    }
    let elem = tensor.data.elem();
    let mut text = format!("{{'descr': {}, 'fortran_order': False, 'shape': ({shape}), }}", descr(&elem));
    let long = text.len() + 1 + 10 > usize::from(u16::MAX);
    let prefix = if long { 12 } else { 10 };
    while (prefix + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    if long {
        bytes.extend([2, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
    } else {
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
    }
    bytes.extend(text.as_bytes());
    bytes.reserve(tensor.data.len() * width(&elem));
    for k in 0..tensor.data.len() {
        encode(&tensor.data, k, &mut bytes);
    }
    bytes
}

struct Header {
    record: Record,
    shape: Vec<usize>,
    start: usize,
}

struct Record {
    layout: Layout,
    bytes: usize,
}

/// Where the parts of a record are.
enum Layout {
    Scalar(Scalar),
    /// Two records and the offset of each.
    Pair(Box<(Layout, usize, Layout, usize)>),
}

fn header(bytes: &[u8]) -> Result<Header, String> {
    if !bytes.starts_with(MAGIC) || bytes.len() < 10 {
        return Err("is not an npy file: it does not begin with \\x93NUMPY".into());
    }
    let long = match bytes[6] {
        1 => false,
        2 | 3 => true,
        v => return Err(format!("has version {v} of the format; 1, 2 and 3 are read")),
    };
    let prefix = if long { 12 } else { 10 };
    let length = match (long, bytes.get(8..prefix)) {
        (false, Some(l)) => usize::from(u16::from_le_bytes([l[0], l[1]])),
        (true, Some(l)) => u32::from_le_bytes([l[0], l[1], l[2], l[3]]) as usize,
        (_, None) => return Err("ends inside its header".into()),
    };
    let text = bytes.get(prefix..prefix.saturating_add(length)).ok_or("ends inside its header")?;
    let text = std::str::from_utf8(text).map_err(|_| "has a header that is not text".to_owned())?;
    let mut reader = Reader { rest: text.trim() };
    let (mut record, mut fortran, mut shape) = (None, None, None);
    reader.expect("{")?;
    while !reader.eat("}") {
        let key = reader.string()?;
        reader.expect(":")?;
        match key {
            "descr" => record = Some(reader.record(0)?),
            "fortran_order" => fortran = Some(reader.truth()?),
            "shape" => shape = Some(reader.shape()?),
            other => return Err(format!("has an unknown entry '{other}' in its header")),
        }
        reader.eat(",");
    }
    let record = record.ok_or("has no 'descr' in its header")?;
    let shape = shape.ok_or("has no 'shape' in its header")?;
    if fortran.ok_or("has no 'fortran_order' in its header")? && shape.len() > 1 {
        return Err("is in Fortran order; save it with numpy.ascontiguousarray(a)".into());
    }
    Ok(Header { record, shape, start: prefix + length })
}

/// Reads the header, which is a Python literal.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("has a header without '{token}' where one is due")) }
    }

    fn string(&mut self) -> Result<&'a str, String> {
        self.rest = self.rest.trim_start();
        for quote in ['\'', '"'] {
            if let Some((text, rest)) = self.rest.strip_prefix(quote).and_then(|rest| rest.split_once(quote))
            {
                self.rest = rest;
                return Ok(text);
            }
        }
        Err("has a header without a string where one is due".into())
    }

    fn truth(&mut self) -> Result<bool, String> {
        if self.eat("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    fn number(&mut self) -> Result<usize, String> {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        digits.parse().map_err(|_| "has a header without a number where one is due".to_owned())
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.eat(")") {
            shape.push(self.number()?);
            if !self.eat(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }

    fn record(&mut self, depth: u32) -> Result<Record, String> {
        if depth > MAX_DEPTH {
            return Err("has records nested too deep".into());
        }
        if !self.eat("[") {
            let name = self.string()?;
            let scalar = Scalar::ALL.into_iter().find(|s| code(*s) == name);
            let scalar = scalar.ok_or_else(|| {
                let hint = if name.starts_with('>') { " (big-endian)" } else { "" };
                format!("has elements of type '{name}'{hint}; '<f4' '<f8' '<i4' '<i8' '|b1' '|i1' '|u1' '<i2' '<u2' '<u4' '<u8' and pairs of them are read")
            })?;
            return Ok(Record { layout: Layout::Scalar(scalar), bytes: scalar.bytes() });
        }
        let mut parts = Vec::new();
        let mut offset = 0usize;
        while !self.eat("]") {
            self.expect("(")?;
            self.string()?;
            self.expect(",")?;
            let padding = self.padding();
            if let Some(bytes) = padding {
                offset = offset.saturating_add(bytes);
            } else {
                let record = self.record(depth + 1)?;
                parts.push((record.layout, offset));
                offset = offset.saturating_add(record.bytes);
            }
            if self.eat(",") && !self.rest.trim_start().starts_with(')') {
                return Err("has a record with an array inside; only pairs of scalars are read".into());
            }
            self.expect(")")?;
            self.eat(",");
        }
        let fields = parts.len();
        let mut parts = parts.into_iter();
        match (parts.next(), parts.next(), parts.next()) {
            (Some((a, at)), Some((b, bt)), None) => {
                Ok(Record { layout: Layout::Pair(Box::new((a, at, b, bt))), bytes: offset })
            }
            _ => Err(format!("has records of {fields} fields; a pair has 2")),
        }
    }

    /// The length of a padding field (`'|V4'`), if that is next.
    fn padding(&mut self) -> Option<usize> {
        let mut ahead = Reader { rest: self.rest };
        let bytes = ahead.string().ok()?.strip_prefix("|V")?.parse().ok()?;
        self.rest = ahead.rest;
        Some(bytes)
    }
}

fn code(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F32 => "<f4",
        Scalar::F64 => "<f8",
        Scalar::I32 => "<i4",
        Scalar::I64 => "<i8",
        Scalar::Bool => "|b1",
        Scalar::I8 => "|i1",
        Scalar::U8 => "|u1",
        Scalar::I16 => "<i2",
        Scalar::U16 => "<u2",
        Scalar::U32 => "<u4",
        Scalar::U64 => "<u8",
    }
}

fn descr(elem: &Elem) -> String {
    match elem {
        Elem::Scalar(scalar) => format!("'{}'", code(*scalar)),
        Elem::Pair(a, b) => format!("[('x1', {}), ('x2', {})]", descr(a), descr(b)),
    }
}

fn width(elem: &Elem) -> usize {
    match elem {
        Elem::Scalar(scalar) => scalar.bytes(),
        Elem::Pair(a, b) => width(a) + width(b),
    }
}

/// The column of `layout` at `offset` in records of `stride` bytes.
fn decode(body: &[u8], layout: &Layout, stride: usize, offset: usize, count: usize) -> Data {
    macro_rules! column {
        ($ty:ty, $bytes:literal) => {
            (0..count)
                .map(|k| {
                    let at = k * stride + offset;
                    let mut raw = [0u8; $bytes];
                    raw.copy_from_slice(&body[at..at + $bytes]);
                    <$ty>::from_le_bytes(raw)
                })
                .collect()
        };
    }
    match layout {
        Layout::Scalar(Scalar::F32) => Data::F32(column!(f32, 4)),
        Layout::Scalar(Scalar::F64) => Data::F64(column!(f64, 8)),
        Layout::Scalar(Scalar::I32) => Data::I32(column!(i32, 4)),
        Layout::Scalar(Scalar::I64) => Data::I64(column!(i64, 8)),
        Layout::Scalar(Scalar::I8) => Data::I8(column!(i8, 1)),
        Layout::Scalar(Scalar::U8) => Data::U8(column!(u8, 1)),
        Layout::Scalar(Scalar::I16) => Data::I16(column!(i16, 2)),
        Layout::Scalar(Scalar::U16) => Data::U16(column!(u16, 2)),
        Layout::Scalar(Scalar::U32) => Data::U32(column!(u32, 4)),
        Layout::Scalar(Scalar::U64) => Data::U64(column!(u64, 8)),
        Layout::Scalar(Scalar::Bool) => {
            let column: Vec<u8> = column!(u8, 1);
            Data::Bool(column.into_iter().map(|b| b != 0).collect())
        }
        Layout::Pair(parts) => Data::Pair(
            Box::new(decode(body, &parts.0, stride, offset + parts.1, count)),
            Box::new(decode(body, &parts.2, stride, offset + parts.3, count)),
        ),
    }
}

fn encode(data: &Data, k: usize, bytes: &mut Vec<u8>) {
    match data {
        Data::F32(v) => bytes.extend(v[k].to_le_bytes()),
        Data::F64(v) => bytes.extend(v[k].to_le_bytes()),
        Data::I32(v) => bytes.extend(v[k].to_le_bytes()),
        Data::I64(v) => bytes.extend(v[k].to_le_bytes()),
        Data::Bool(v) => bytes.push(u8::from(v[k])),
        Data::I8(v) => bytes.extend(v[k].to_le_bytes()),
        Data::U8(v) => bytes.extend(v[k].to_le_bytes()),
        Data::I16(v) => bytes.extend(v[k].to_le_bytes()),
        Data::U16(v) => bytes.extend(v[k].to_le_bytes()),
        Data::U32(v) => bytes.extend(v[k].to_le_bytes()),
        Data::U64(v) => bytes.extend(v[k].to_le_bytes()),
        Data::Pair(a, b) => {
            encode(a, k, bytes);
            encode(b, k, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with this header and body, as NumPy lays it out.
    fn file(header: &str, body: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(body);
        bytes
    }

    #[test]
    fn what_is_written_reads_back() {
        let pairs = Data::Pair(Box::new(Data::I32(vec![1, -2])), Box::new(Data::F64(vec![0.5, f64::MAX])));
        for tensor in [
            Tensor { shape: vec![], data: Data::F32(vec![1.5]) },
            Tensor { shape: vec![0], data: Data::I64(vec![]) },
            Tensor { shape: vec![2, 1], data: Data::Bool(vec![true, false]) },
            Tensor { shape: vec![2], data: pairs },
            Tensor { shape: vec![3], data: Data::U8(vec![0, 7, 255]) },
            Tensor { shape: vec![2], data: Data::I16(vec![-32768, 5]) },
            Tensor { shape: vec![1], data: Data::U64(vec![u64::MAX]) },
        ] {
            let bytes = write(&tensor);
            assert_eq!(bytes.len() % 64, tensor.data.len() * width(&tensor.data.elem()) % 64);
            assert_eq!(read(&bytes), Ok(tensor));
        }
    }

    #[test]
    fn a_header_of_numpy_is_read() {
        let header = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }      \n";
        let tensor = read(&file(header, &[1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255])).unwrap();
        assert_eq!(tensor, Tensor { shape: vec![3], data: Data::I32(vec![1, 2, -1]) });
        let aligned =
            "{'descr': [('a', '|b1'), ('', '|V3'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,)}\n";
        let tensor = read(&file(aligned, &[1, 9, 9, 9, 7, 0, 0, 0])).unwrap();
        assert_eq!(tensor.data, Data::Pair(Box::new(Data::Bool(vec![true])), Box::new(Data::I32(vec![7]))));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let cases = [
            (file("{'descr': '>f4', 'fortran_order': False, 'shape': ()}", &[]), "big-endian"),
            (file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", &[0; 16]), "Fortran order"),
            (
                file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", &[0; 7]),
                "7 bytes of data where its header asks for 8",
            ),
            (
                file(
                    "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904)}",
                    &[],
                ),
                "beyond any memory",
            ),
            (
                file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", &[0; 4]),
                "records of 1 fields",
            ),
            (b"PK\x03\x04 archive".to_vec(), "does not begin with"),
            (b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "ends inside its header"),
        ];
        for (bytes, expected) in cases {
            let error = read(&bytes).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    proptest::proptest! {
        #[test]
        fn bad_bytes_never_panic(header in ".{0,80}", body in proptest::collection::vec(0u8.., 0..40)) {
            let _ = read(&file(&header, &body));
            let _ = read(&body);
        }
    }
}
