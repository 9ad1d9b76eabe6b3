//! Reading types, and the elements of tensors.

use bytes::Bytes;

use super::{Reader, Result_, Span, element, too_deep};
use crate::onnx::wire::{Fields, Kept, Payload};
use crate::onnx::{MAX_DEPTH, bad};
use crate::tensor::{External, MOST_DIMENSIONS, Storage, Tensor, elements};
use crate::types::{Dim, ElementType, Shape, TensorType, ValueType};

impl Reader<'_> {
    pub(super) fn ty(&mut self, span: Span, depth: u32) -> Result_<ValueType> {
        if depth > MAX_DEPTH {
            return Err(too_deep("types").into());
        }
        let mut found = ValueType::Unknown;
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            found = match field.number {
                1 => ValueType::Tensor(self.tensor_type(self.span(field)?)?),
                8 => ValueType::Sparse(self.tensor_type(self.span(field)?)?),
                4 | 9 => {
                    let mut inner = ValueType::Unknown;
                    let mut fields = self.fields(self.span(field)?);
                    while let Some(field) = fields.next()? {
                        if field.number == 1 {
                            inner = self.ty(self.span(field)?, depth + 1)?;
                        }
                    }
                    if field.number == 4 {
                        ValueType::Sequence(Box::new(inner))
                    } else {
                        ValueType::Optional(Box::new(inner))
                    }
                }
                5 => {
                    let (mut key, mut inner) = (ElementType::Other(0), ValueType::Unknown);
                    let mut fields = self.fields(self.span(field)?);
                    while let Some(field) = fields.next()? {
                        match field.number {
                            1 => key = element(self.int(field)?),
                            2 => inner = self.ty(self.span(field)?, depth + 1)?,
                            _ => {}
                        }
                    }
                    ValueType::Map(key, Box::new(inner))
                }
                _ => continue,
            };
        }
        Ok(found)
    }

    pub(super) fn tensor_type(&mut self, span: Span) -> Result_<TensorType> {
        let mut ty = TensorType { elem: ElementType::Other(0), shape: None };
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => ty.elem = element(self.int(field)?),
                2 => ty.shape = Some(self.shape(self.span(field)?)?),
                _ => {}
            }
        }
        Ok(ty)
    }

    pub(super) fn shape(&mut self, span: Span) -> Result_<Shape> {
        let mut shape = Shape::new();
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            if field.number != 1 {
                continue;
            }
            if shape.len() == MOST_DIMENSIONS {
                return Err(too_many_dimensions(None).into());
            }
            let mut dim = Dim::Unknown;
            let mut parts = self.fields(self.span(field)?);
            while let Some(part) = parts.next()? {
                match part.number {
                    1 => dim = Dim::Known(self.int(part)?),
                    2 if !self.slice(part)?.is_empty() => dim = Dim::symbol(self.interned(part)?),
                    2 => dim = Dim::Unknown,
                    _ => {}
                }
            }
            shape.push(dim);
        }
        Ok(shape)
    }

    pub(super) fn tensor(&mut self, span: Span) -> Result_<Tensor> {
        let mut dims: Vec<u64> = Vec::new();
        let mut elem = ElementType::Other(0);
        let mut data = TensorData::default();
        let (mut name, mut kept) = (None, Kept::default());
        let (mut external, mut is_external) = (External::default(), false);
        let mut fields = self.fields(span);
        while let Some(field) = fields.next()? {
            match (field.number, field.payload) {
                (1, Payload::Varint(dim)) => dims.push(dim),
                (1, Payload::Bytes(start, end)) => {
                    // What is beyond the bound is refused below, however much it is.
                    let mut next = |dim| {
                        if dims.len() <= MOST_DIMENSIONS {
                            dims.push(dim)
                        }
                    };
                    Fields::varints(self.file, start, end, &mut next)?;
                }
                (2, _) => elem = element(self.int(field)?),
                (4 | 10, Payload::Bytes(start, end)) => data.fixed(self.file.slice(start..end)),
                (4, Payload::Fixed32(bits)) => data.fixed(Bytes::copy_from_slice(&bits.to_le_bytes())),
                (10, Payload::Fixed64(bits)) => data.fixed(Bytes::copy_from_slice(&bits.to_le_bytes())),
                (5 | 7 | 11, Payload::Varint(value)) => data.ints.push(value),
                (5 | 7 | 11, Payload::Bytes(start, end)) => {
                    Fields::varints(self.file, start, end, &mut |value| data.ints.push(value))?;
                }
                (6, _) => data.strings.push(self.shared(field)?),
                (8, _) => name = Some(self.str(field)?.into()),
                (9, _) => data.raw = Some(self.shared(field)?),
                (13, _) => {
                    self.part()?;
                    let (key, value) = self.entry(field)?;
                    match (key.as_str(), value.parse::<u64>()) {
                        ("location", _) => external.location = value,
                        ("offset", Ok(offset)) => external.offset = offset,
                        ("length", Ok(length)) => external.length = Some(length),
                        _ => external.other.push((key, value)),
                    }
                }
                (14, _) => is_external = self.int(field)? == 1,
                _ => kept.keep(field),
            }
            if dims.len() > MOST_DIMENSIONS {
                return Err(too_many_dimensions(name.as_deref()).into());
            }
        }
        let label = || match &name {
            Some(name) => format!("tensor `{name}`"),
            None => format!("a tensor at byte {}", span.0),
        };
        let sizes: Option<Vec<usize>> = dims.iter().map(|d| usize::try_from(*d as i64).ok()).collect();
        let count = sizes.as_ref().and_then(|s| elements(s));
        let (Some(dims), Some(count)) = (sizes, count) else {
            return Err(bad("G0103", format!("{} claims the extents {dims:?}", label()))
                .note("extents are not negative, and a tensor has fewer than 2^47 elements")
                .into());
        };
        let storage = if is_external {
            Storage::External(external)
        } else {
            data.storage(elem, count).map_err(|what| {
                bad(
                    "G0103",
                    format!(
                        "{} of type {} {what}",
                        label(),
                        TensorType::new(elem, dims.iter().map(|d| *d as i64))
                    ),
                )
            })?
        };
        Ok(Tensor { elem, dims, storage, name, extra: kept.bytes(self.file) })
    }
}

/// A type or tensor of a rank that no program has.
fn too_many_dimensions(name: Option<&str>) -> loops::Diagnostic {
    let what = name.map_or("a tensor".to_owned(), |name| format!("tensor `{name}`"));
    bad("G0106", format!("{what} has more than {MOST_DIMENSIONS} dimensions"))
        .note("this is also the limit of NumPy")
}

/// The elements of a tensor, in whichever field they are.
#[derive(Default)]
struct TensorData {
    raw: Option<Bytes>,
    fixed: Vec<Bytes>,
    ints: Vec<u64>,
    strings: Vec<Bytes>,
}

impl TensorData {
    fn fixed(&mut self, bytes: Bytes) {
        self.fixed.push(bytes);
    }

    /// The elements in one form; the error is the end of a sentence about the tensor.
    fn storage(self, elem: ElementType, count: usize) -> Result<Storage, String> {
        let wanted = elem.raw_len(count);
        if elem == ElementType::String {
            let found = self.strings.len();
            return if found == count {
                Ok(Storage::Strings(self.strings))
            } else {
                Err(format!("holds {found} texts"))
            };
        }
        let bytes = if let Some(raw) = self.raw {
            raw
        } else if !self.ints.is_empty() {
            let width = match elem.bits() {
                64 | 128 => 8,
                32 => 4,
                16 => 2,
                _ => 1,
            };
            self.ints.iter().flat_map(|v| v.to_le_bytes().into_iter().take(width)).collect()
        } else if let [one] = self.fixed.as_slice() {
            one.clone()
        } else {
            self.fixed.concat().into()
        };
        match wanted {
            Some(wanted) if wanted == bytes.len() => Ok(Storage::Raw(bytes)),
            Some(wanted) => Err(format!("needs {wanted} bytes of data and holds {}", bytes.len())),
            // A type of a later version: its bytes are carried.
            None => Ok(Storage::Raw(bytes)),
        }
    }
}
