//! ONNX models: read, checked, inferred, written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut model) = graph::onnx::read(&bytes::Bytes::copy_from_slice(bytes)) else { return };
    if graph::validate(&model).is_empty() && graph::infer(&mut model).is_ok() {
        let _ = graph::onnx::write(&model);
    }
});
