//! Arrays in NumPy's format `npy`: numbers and truth values, and pairs as records of two fields;
//! rows or columns first, bytes in either order.
//!
//! The header is read by the crate `npyz`. Nothing that it says is trusted: memory is taken for
//! what is there. Not here: files, and archives of arrays (`npz`).

use loops::{Data, Elem, Scalar, Tensor};
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, TypeStr};
use py_literal::Value;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Nested records deeper than this are refused.
const MAX_DEPTH: u32 = 16;
/// More brackets than these are not open at once in a header that is read.
const MAX_OPEN: u32 = 64;
/// Longer headers are refused; NumPy itself reads 10,000 bytes.
const MAX_HEADER: usize = 1 << 16;

/// Reads an array.
///
/// # Errors
/// What is wrong with the file or not supported, as the end of a sentence that begins with its
/// name.
pub fn read(bytes: &[u8]) -> Result<Tensor, String> {
    check_shape(header_text(bytes)?)?;
    let mut body = bytes;
    let header = NpyHeader::from_reader(&mut body)
        .map_err(|error| format!("has a header that is not understood: {error}"))?;
    let record = record(&header.dtype(), 0)?;
    let shape: Option<Vec<usize>> = header.shape().iter().map(|d| usize::try_from(*d).ok()).collect();
    let count = shape.as_ref().and_then(|shape| shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)));
    let size = count.and_then(|n| n.checked_mul(record.bytes));
    let (Some(shape), Some(count), Some(size)) = (shape, count, size) else {
        return Err(format!("has a shape {:?} beyond any memory", header.shape()));
    };
    if body.len() != size {
        return Err(format!("holds {} bytes of data where its header needs {size}", body.len()));
    }
    let places = Places::of(&shape, header.order());
    let data = decode(body, &record.layout, (record.bytes, 0), count, &places);
    Ok(Tensor { shape, data })
}

/// The text of the header, which has to lie in the file.
fn header_text(bytes: &[u8]) -> Result<&[u8], String> {
    if !bytes.starts_with(MAGIC) || bytes.len() < 10 {
        return Err("is not an npy file: it does not begin with \\x93NUMPY".into());
    }
    let (prefix, length) = match (bytes[6], &bytes[8..]) {
        (1, [a, b, ..]) => (10, usize::from(u16::from_le_bytes([*a, *b]))),
        (2 | 3, [a, b, c, d, ..]) => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        (1..=3, _) => return Err("ends inside its header".into()),
        (version, _) => return Err(format!("has version {version} of the format; 1, 2 and 3 are read")),
    };
    let text = bytes.get(prefix..length.saturating_add(prefix)).ok_or("ends inside its header")?;
    if length > MAX_HEADER {
        return Err(format!("has a header of {length} bytes; at most {MAX_HEADER} are read"));
    }
    // Its reader recurses; brackets in names count as well.
    let mut open = 0u32;
    for byte in text {
        match byte {
            b'[' | b'(' | b'{' => open += 1,
            b']' | b')' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_OPEN {
            return Err("has a header that is nested too deep".into());
        }
    }
    Ok(text)
}

/// Whether the extents of a header can be multiplied, which its reader does. What is no header is
/// told by that.
fn check_shape(text: &[u8]) -> Result<(), String> {
    let value: Option<Value> = std::str::from_utf8(text).ok().and_then(|text| text.trim_end().parse().ok());
    let Some(Value::Dict(entries)) = value else { return Ok(()) };
    let shapes = entries.iter().filter(|(key, _)| key.as_string().is_some_and(|key| key == "shape"));
    for (_, shape) in shapes {
        let (Value::Tuple(extents) | Value::List(extents)) = shape else { continue };
        let extents = extents.iter().filter_map(Value::as_integer).map(ToString::to_string);
        let extents: Vec<String> = extents.collect();
        let product = extents.iter().try_fold(1u64, |n, d| n.checked_mul(d.parse::<u64>().ok()?.max(1)));
        let negative = extents.iter().any(|d| d.starts_with('-'));
        if product.is_none() && !negative {
            return Err(format!("has a shape ({}) beyond any memory", extents.join(", ")));
        }
    }
    Ok(())
}

/// Where the elements of an array lie in a file, in the order of rows first.
struct Places {
    /// Extent and distance of each axis, innermost first; none if they lie in this order.
    axes: Option<Vec<(usize, usize)>>,
}

impl Places {
    fn of(shape: &[usize], order: Order) -> Places {
        let columns_first = order == Order::Fortran && shape.len() > 1;
        let axes = columns_first.then(|| {
            let mut distance = 1usize;
            let axis = |extent: &usize| {
                let own = distance;
                distance = distance.saturating_mul(*extent);
                (*extent, own)
            };
            let mut axes: Vec<(usize, usize)> = shape.iter().map(axis).collect();
            axes.reverse();
            axes
        });
        Places { axes }
    }

    fn of_element(&self, number: usize) -> usize {
        let Some(axes) = &self.axes else { return number };
        let mut rest = number;
        axes.iter().fold(0, |place, (extent, distance)| {
            let index = rest % extent;
            rest /= extent;
            place + index * distance
        })
    }
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

struct Record {
    layout: Layout,
    bytes: usize,
}

/// Where the parts of a record are.
enum Layout {
    /// A number, and whether its first byte is the highest.
    Scalar(Scalar, bool),
    /// Two records and the offset of each.
    Pair(Box<(Layout, usize, Layout, usize)>),
}

fn record(dtype: &DType, depth: u32) -> Result<Record, String> {
    if depth > MAX_DEPTH {
        return Err("has records nested too deep".into());
    }
    let fields = match dtype {
        DType::Plain(ty) => {
            let scalar = scalar(ty)?;
            let layout = Layout::Scalar(scalar, ty.endianness() == Endianness::Big);
            return Ok(Record { layout, bytes: scalar.bytes() });
        }
        DType::Array(..) => {
            return Err("has a record with an array inside; only pairs of scalars are read".into());
        }
        DType::Record(fields) => fields,
    };
    let mut parts = Vec::new();
    let mut offset = 0usize;
    for field in fields {
        let bytes = match &field.dtype {
            DType::Plain(padding) if padding.type_char() == TypeChar::RawData => {
                padding.num_bytes().unwrap_or(usize::MAX)
            }
            dtype => {
                let record = record(dtype, depth + 1)?;
                parts.push((record.layout, offset));
                record.bytes
            }
        };
        offset = offset.saturating_add(bytes);
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

fn scalar(ty: &TypeStr) -> Result<Scalar, String> {
    Ok(match (ty.type_char(), ty.size_field()) {
        (TypeChar::Float, 2) => Scalar::F16,
        (TypeChar::Float, 4) => Scalar::F32,
        (TypeChar::Float, 8) => Scalar::F64,
        (TypeChar::Bool, 1) => Scalar::Bool,
        (TypeChar::Int, 1) => Scalar::I8,
        (TypeChar::Int, 2) => Scalar::I16,
        (TypeChar::Int, 4) => Scalar::I32,
        (TypeChar::Int, 8) => Scalar::I64,
        (TypeChar::Uint, 1) => Scalar::U8,
        (TypeChar::Uint, 2) => Scalar::U16,
        (TypeChar::Uint, 4) => Scalar::U32,
        (TypeChar::Uint, 8) => Scalar::U64,
        _ => {
            return Err(format!(
                "has elements of type '{ty}'; floating-point numbers of 2, 4 and 8 bytes, integers of 1 to 8 bytes, truth values and pairs of them are read"
            ));
        }
    })
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
        Scalar::F16 => "<f2",
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

/// The column of `layout` in records of `stride` bytes, from the byte `offset` of each.
fn decode(
    body: &[u8],
    layout: &Layout,
    (stride, offset): (usize, usize),
    count: usize,
    places: &Places,
) -> Data {
    macro_rules! column {
        ($ty:ty, $bytes:literal, $big:expr) => {
            (0..count)
                .map(|k| {
                    let at = places.of_element(k) * stride + offset;
                    let mut raw = [0u8; $bytes];
                    raw.copy_from_slice(&body[at..at + $bytes]);
                    if $big { <$ty>::from_be_bytes(raw) } else { <$ty>::from_le_bytes(raw) }
                })
                .collect()
        };
    }
    match layout {
        Layout::Scalar(Scalar::F32, big) => Data::F32(column!(f32, 4, *big)),
        Layout::Scalar(Scalar::F64, big) => Data::F64(column!(f64, 8, *big)),
        Layout::Scalar(Scalar::I32, big) => Data::I32(column!(i32, 4, *big)),
        Layout::Scalar(Scalar::I64, big) => Data::I64(column!(i64, 8, *big)),
        Layout::Scalar(Scalar::I8, big) => Data::I8(column!(i8, 1, *big)),
        Layout::Scalar(Scalar::U8, big) => Data::U8(column!(u8, 1, *big)),
        Layout::Scalar(Scalar::I16, big) => Data::I16(column!(i16, 2, *big)),
        Layout::Scalar(Scalar::U16, big) => Data::U16(column!(u16, 2, *big)),
        Layout::Scalar(Scalar::F16, big) => {
            let column: Vec<u16> = column!(u16, 2, *big);
            Data::F16(column.into_iter().map(loops::f16::from_bits).collect())
        }
        Layout::Scalar(Scalar::U32, big) => Data::U32(column!(u32, 4, *big)),
        Layout::Scalar(Scalar::U64, big) => Data::U64(column!(u64, 8, *big)),
        Layout::Scalar(Scalar::Bool, big) => {
            let column: Vec<u8> = column!(u8, 1, *big);
            Data::Bool(column.into_iter().map(|b| b != 0).collect())
        }
        Layout::Pair(parts) => {
            let part = |layout, at| Box::new(decode(body, layout, (stride, offset + at), count, places));
            Data::Pair(part(&parts.0, parts.1), part(&parts.2, parts.3))
        }
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
        Data::F16(v) => bytes.extend(v[k].to_le_bytes()),
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
    fn bytes_in_either_order_are_read() {
        let header = "{'descr': [('a', '>i2'), ('b', '<i4')], 'fortran_order': False, 'shape': (1,), }\n";
        let tensor = read(&file(header, &[1, 2, 3, 0, 0, 0])).unwrap();
        assert_eq!(tensor.data, Data::Pair(Box::new(Data::I16(vec![258])), Box::new(Data::I32(vec![3]))));
    }

    #[test]
    fn columns_first_are_read() {
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }\n";
        let body: Vec<u8> = (0..12).collect();
        let tensor = read(&file(header, &body)).unwrap();
        // The element at i, j, k is i + 2 j + 6 k.
        assert_eq!(tensor.data, Data::U8(vec![0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11]));
        let empty = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 0), }\n";
        assert_eq!(read(&file(empty, &[])).unwrap().shape, [2, 0]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let cases = [
            (
                file("{'descr': '<c8', 'fortran_order': False, 'shape': ()}", &[0; 8]),
                "elements of type '<c8'",
            ),
            (file("{'descr': '|O', 'fortran_order': False, 'shape': ()}", &[0; 8]), "elements of type '|O'"),
            (file("{'descr': '<f4', 'shape': ()}", &[0; 4]), "header that is not understood"),
            (
                file(
                    "{'descr': [('a', '<f4'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': ()}",
                    &[0; 12],
                ),
                "a record with an array inside",
            ),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{}".to_vec(), "ends inside its header"),
            (file(&" ".repeat(65_000), &[]), "header that is not understood"),
            (file(&"[".repeat(60_000), &[]), "nested too deep"),
            (b"\x93NUMPY\x09\x00\xff\xff{".to_vec(), "version 9"),
            (
                file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", &[0; 7]),
                "7 bytes of data where its header needs 8",
            ),
            (
                file(
                    "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904)}",
                    &[],
                ),
                "beyond any memory",
            ),
            (
                file("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807, 3)}", &[]),
                "beyond any memory",
            ),
            (file("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", &[]), "not understood"),
            (
                file("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}", &[]),
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
