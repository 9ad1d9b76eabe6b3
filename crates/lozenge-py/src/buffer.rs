//! Arrays of Python through the buffer protocol: where they are, and whether they are laid out as
//! generated code reads them.

use std::ffi::{CStr, c_void};

use loops::{Elem, Scalar};
use pyo3::ffi;
use pyo3::prelude::*;

/// Buffers that are held for a call. They are released when this goes, on a thread that is attached
/// to Python.
pub struct Buffers<'py> {
    // A buffer may point into itself, so they never move: the vector has its room from the start.
    held: Vec<ffi::Py_buffer>,
    _py: Python<'py>,
}

/// How an array does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// It has no buffer, or not one that may be written.
    NoBuffer,
    /// Other elements.
    Elements,
    /// Another number of dimensions.
    Rank,
    /// Elements that are not beside each other in rows, or not where elements of their type may be.
    Layout,
}

impl<'py> Buffers<'py> {
    /// Room for this many buffers.
    pub fn with_room(py: Python<'py>, count: usize) -> Buffers<'py> {
        Buffers { held: Vec::with_capacity(count), _py: py }
    }

    /// Holds the buffer of an array with elements of this type. Returns its number.
    ///
    /// # Errors
    /// How it does not fit; then nothing is held.
    pub fn hold(
        &mut self,
        array: &Bound<'py, PyAny>,
        elem: &Elem,
        rank: usize,
        write: bool,
    ) -> Result<usize, Misfit> {
        let number = self.held.len();
        if number == self.held.capacity() {
            return Err(Misfit::NoBuffer);
        }
        self.held.push(ffi::Py_buffer::new());
        let flags = if write { ffi::PyBUF_RECORDS } else { ffi::PyBUF_RECORDS_RO };
        // SAFETY: the object is alive, the buffer is empty, and this thread is attached to Python.
        let status = unsafe { ffi::PyObject_GetBuffer(array.as_ptr(), &mut self.held[number], flags) };
        if status != 0 {
            self.held.truncate(number);
            // SAFETY: as above; the exception of the failed call is not of interest.
            unsafe { ffi::PyErr_Clear() };
            return Err(Misfit::NoBuffer);
        }
        let fits = self.fit(number, elem, rank);
        if let Err(misfit) = fits {
            self.release(number);
            self.held.truncate(number);
            return Err(misfit);
        }
        Ok(number)
    }

    fn fit(&self, number: usize, elem: &Elem, rank: usize) -> Result<(), Misfit> {
        let buffer = &self.held[number];
        let Some(bytes) = matches(buffer, elem) else { return Err(Misfit::Elements) };
        if usize::try_from(buffer.ndim) != Ok(rank) {
            return Err(Misfit::Rank);
        }
        let (shape, strides) = (self.shape(number), self.strides(number));
        let empty = shape.contains(&0);
        let mut step = buffer.itemsize;
        for (extent, stride) in shape.iter().zip(strides).rev() {
            if *extent != 1 && *stride != step && !empty {
                return Err(Misfit::Layout);
            }
            step = step.saturating_mul(*extent);
        }
        let aligned = (buffer.buf as usize).is_multiple_of(bytes);
        if aligned && buffer.suboffsets.is_null() { Ok(()) } else { Err(Misfit::Layout) }
    }

    /// The extents of a buffer.
    pub fn shape(&self, number: usize) -> &[isize] {
        self.extents(number, self.held[number].shape)
    }

    fn strides(&self, number: usize) -> &[isize] {
        self.extents(number, self.held[number].strides)
    }

    fn extents(&self, number: usize, at: *const isize) -> &[isize] {
        let rank = usize::try_from(self.held[number].ndim).unwrap_or(0);
        if at.is_null() || rank == 0 {
            return &[];
        }
        // SAFETY: a buffer that was asked for with strides has as many extents and strides as
        // dimensions, as long as it is held.
        unsafe { std::slice::from_raw_parts(at, rank) }
    }

    /// The address of the first element.
    pub fn place(&self, number: usize) -> *mut c_void {
        self.held[number].buf
    }

    /// The bytes from the first to behind the last element.
    pub fn span(&self, number: usize) -> std::ops::Range<usize> {
        let (start, length) = (self.place(number) as usize, self.held[number].len.unsigned_abs());
        start..start.saturating_add(length)
    }

    /// The bytes themselves.
    pub fn bytes(&self, number: usize) -> &[u8] {
        let span = self.span(number);
        if span.is_empty() {
            return &[];
        }
        // SAFETY: the buffer is held and has no gaps. That nobody writes to it meanwhile is the
        // caller's of Python, as it is of NumPy's functions.
        unsafe { std::slice::from_raw_parts(self.place(number) as *const u8, span.len()) }
    }

    /// Writes these bytes to the beginning.
    pub fn put(&mut self, number: usize, bytes: &[u8]) {
        let (place, room) = (self.place(number).cast::<u8>(), self.span(number).len());
        if self.held[number].readonly == 0 && bytes.len() <= room {
            // SAFETY: the buffer is held, may be written, and has room for them.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) };
        }
    }

    fn release(&mut self, number: usize) {
        // SAFETY: the buffer was filled by `PyObject_GetBuffer` and is released once, by a thread
        // that is attached to Python.
        unsafe { ffi::PyBuffer_Release(&mut self.held[number]) };
    }
}

impl Drop for Buffers<'_> {
    fn drop(&mut self) {
        for number in 0..self.held.len() {
            self.release(number);
        }
    }
}

/// What elements of a type must be aligned to, if those of the buffer are of the type.
fn matches(buffer: &ffi::Py_buffer, elem: &Elem) -> Option<usize> {
    let itemsize = buffer.itemsize.unsigned_abs();
    let format: &[u8] = if buffer.format.is_null() {
        b"B"
    } else {
        // SAFETY: the format of a held buffer ends with a zero byte.
        unsafe { CStr::from_ptr(buffer.format) }.to_bytes()
    };
    match elem {
        Elem::Scalar(scalar) => (fits(format, *scalar) && itemsize == scalar.bytes()).then_some(itemsize),
        Elem::Pair(..) => {
            let mut wanted = Vec::new();
            let (bytes, alignment) = record(elem, 0, &mut wanted);
            (bytes == itemsize && letters(format)? == wanted).then_some(alignment)
        }
    }
}

/// Whether a format in native byte order is that of the type; its width is told by the size of an
/// item.
fn fits(format: &[u8], scalar: Scalar) -> bool {
    let letter = match format {
        [letter] => *letter,
        [b'@' | b'=', letter] => *letter,
        [b'<', letter] if cfg!(target_endian = "little") => *letter,
        _ => return false,
    };
    of_kind(letter, scalar)
}

fn of_kind(letter: u8, scalar: Scalar) -> bool {
    match scalar {
        Scalar::F16 => letter == b'e',
        Scalar::F32 => letter == b'f',
        Scalar::F64 => letter == b'd',
        Scalar::Bool => letter == b'?',
        Scalar::I8 => letter == b'b',
        Scalar::U8 => letter == b'B',
        Scalar::I16 | Scalar::I32 | Scalar::I64 => matches!(letter, b'h' | b'i' | b'l' | b'q' | b'n'),
        Scalar::U16 | Scalar::U32 | Scalar::U64 => matches!(letter, b'H' | b'I' | b'L' | b'Q' | b'N'),
    }
}

/// The scalars of a structure by the letters of the formats, each with its place, as NumPy writes
/// it: gaps are written out. A long and a long long are the same here.
fn letters(format: &[u8]) -> Option<Vec<(u8, usize)>> {
    let (mut found, mut at, mut count) = (Vec::new(), 0usize, None);
    let mut rest = format;
    while let [first, after @ ..] = rest {
        rest = after;
        let width = match first {
            b':' => {
                let end = rest.iter().position(|b| *b == b':')?;
                rest = &rest[end + 1..];
                continue;
            }
            b'T' | b'{' | b'}' | b'@' | b'=' | b'^' => continue,
            b'<' if cfg!(target_endian = "little") => continue,
            digit if digit.is_ascii_digit() => {
                count =
                    Some(count.unwrap_or(0usize).checked_mul(10)?.checked_add(usize::from(digit - b'0'))?);
                continue;
            }
            b'x' => {
                at = at.checked_add(count.take().unwrap_or(1))?;
                continue;
            }
            b'?' | b'b' | b'B' => 1,
            b'h' | b'H' => 2,
            b'i' | b'I' | b'f' => 4,
            b'l' | b'L' | b'q' | b'Q' | b'd' => 8,
            _ => return None,
        };
        if count.is_some() {
            return None;
        }
        found.push((
            match first {
                b'q' => b'l',
                b'Q' => b'L',
                other => *other,
            },
            at,
        ));
        at += width;
    }
    Some(found)
}

/// The scalars of an element in C by their letters, each with its place; size and alignment of the
/// element.
fn record(elem: &Elem, at: usize, found: &mut Vec<(u8, usize)>) -> (usize, usize) {
    match elem {
        Elem::Scalar(scalar) => {
            let letter = match scalar {
                Scalar::F16 => b'e',
                Scalar::F32 => b'f',
                Scalar::F64 => b'd',
                Scalar::Bool => b'?',
                Scalar::I8 => b'b',
                Scalar::U8 => b'B',
                Scalar::I16 => b'h',
                Scalar::U16 => b'H',
                Scalar::I32 => b'i',
                Scalar::U32 => b'I',
                Scalar::I64 => b'l',
                Scalar::U64 => b'L',
            };
            found.push((letter, at));
            (scalar.bytes(), scalar.bytes())
        }
        Elem::Pair(a, b) => {
            let (first, along) = record(a, at, found);
            let (_, across) = record(b, 0, &mut Vec::new());
            let second = first.next_multiple_of(across);
            let (width, _) = record(b, at + second, found);
            let alignment = along.max(across);
            ((second + width).next_multiple_of(alignment), alignment)
        }
    }
}
