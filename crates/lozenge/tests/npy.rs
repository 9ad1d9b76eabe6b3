//! Arrays as NumPy writes them are read, element for element. Skipped where there is no NumPy.

use std::fs;
use std::path::Path;
use std::process::Command;

use loops::{Data, Tensor};
use lozenge::files::Scratch;
use lozenge::{npy, npz};

const SCRIPT: &str = "
import numpy as np
a = np.arange(24).reshape(2, 3, 4)
for name, kind in [('f4', 'f4'), ('f8', 'f8'), ('i1', 'i1'), ('i2', 'i2'), ('i4', 'i4'), ('i8', 'i8'),
                   ('u1', 'u1'), ('u2', 'u2'), ('u4', 'u4'), ('u8', 'u8'), ('b1', '?')]:
    for order in 'CF':
        for ends in '<>':
            t = np.dtype(kind).newbyteorder(ends)
            np.save(f'{name}{order}{\"lb\"[ends == \">\"]}.npy', np.array(a % 7, dtype=t, order=order))
pair = np.zeros((2, 2), dtype=np.dtype([('x1', '>f4'), ('x2', '<i8')], align=True), order='F')
pair['x1'] = [[0.5, 1.5], [2.5, 3.5]]
pair['x2'] = [[1, 2], [3, 4]]
np.save('pair.npy', pair)
np.save('number.npy', np.float64(2.5))
np.save('strided.npy', a[:, ::2, ::-1])
np.savez('plain.npz', x=a.astype('f4'), y=np.asfortranarray(a.astype('>i4')))
np.savez_compressed('packed.npz', x=np.zeros((300, 1000), 'f4'), y=a.astype('f8'))
np.save('complex.npy', a.astype('c8'))
np.save('text.npy', np.array(['a', 'b']))
np.save('triple.npy', np.zeros(2, dtype=[('a', 'f4'), ('b', 'f4'), ('c', 'f4')]))
";

/// A folder with arrays; none where there is no NumPy.
fn folder() -> Option<Scratch> {
    let scratch = Scratch::new().expect("there is room for files");
    let python = |text: &str| Command::new("python3").args(["-c", text]).current_dir(scratch.path()).output();
    if !python("import numpy").is_ok_and(|output| output.status.success()) {
        golden::skipped("python3 has no NumPy");
        return None;
    }
    let output = python(SCRIPT).expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(scratch)
}

fn read(folder: &Path, name: &str) -> Result<Tensor, String> {
    npy::read(&fs::read(folder.join(name)).expect("it was written"))
}

/// Numbers as floating-point ones.
fn numbers(data: &Data) -> Vec<f64> {
    macro_rules! all {
        ($v:expr) => {
            $v.iter().map(|x| *x as f64).collect()
        };
    }
    match data {
        Data::F32(v) => all!(v),
        Data::F64(v) => all!(v),
        Data::I8(v) => all!(v),
        Data::I16(v) => all!(v),
        Data::I32(v) => all!(v),
        Data::I64(v) => all!(v),
        Data::U8(v) => all!(v),
        Data::U16(v) => all!(v),
        Data::U32(v) => all!(v),
        Data::U64(v) => all!(v),
        Data::Bool(v) => v.iter().map(|x| f64::from(u8::from(*x))).collect(),
        Data::F16(v) => v.iter().map(|x| x.to_f64()).collect(),
        Data::Pair(..) => panic!("a pair is no number"),
    }
}

#[test]
fn arrays_in_every_layout_are_read() {
    let Some(scratch) = folder() else { return };
    for kind in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"] {
        for layout in ["Cl", "Cb", "Fl", "Fb"] {
            let tensor = read(scratch.path(), &format!("{kind}{layout}.npy")).expect("it is read");
            assert_eq!(tensor.shape, [2, 3, 4], "{kind}{layout}");
            let expected = (0..24).map(|k| match kind {
                "b1" => f64::from(u8::from(k % 7 != 0)),
                _ => f64::from(k % 7),
            });
            assert_eq!(numbers(&tensor.data), expected.collect::<Vec<_>>(), "{kind}{layout}");
        }
    }
    let pair = read(scratch.path(), "pair.npy").expect("it is read");
    let (first, second) = (Data::F32(vec![0.5, 1.5, 2.5, 3.5]), Data::I64(vec![1, 2, 3, 4]));
    assert_eq!(pair, Tensor { shape: vec![2, 2], data: Data::Pair(Box::new(first), Box::new(second)) });
    let number = read(scratch.path(), "number.npy").expect("it is read");
    assert_eq!(number, Tensor { shape: vec![], data: Data::F64(vec![2.5]) });
    let strided = read(scratch.path(), "strided.npy").expect("it is read");
    assert_eq!(numbers(&strided.data)[..5], [3.0, 2.0, 1.0, 0.0, 11.0]);
}

#[test]
fn members_of_archives_are_read() {
    let Some(scratch) = folder() else { return };
    let load = |parameter: &str, name: &str| npz::load(parameter, &scratch.path().join(name));
    let counted: Vec<f64> = (0..24).map(f64::from).collect();
    assert_eq!(numbers(&load("x", "plain.npz").expect("the member x").data), counted);
    assert_eq!(numbers(&load("other", "plain.npz:y").expect("the member y").data), counted);
    assert_eq!(load("x", "packed.npz").expect("the member x").shape, [300, 1000]);
    assert_eq!(numbers(&load("x", "packed.npz:y").expect("the member y").data), counted);
    let told = load("z", "plain.npz").expect_err("there is no z").summary();
    assert!(told.contains("X0201") && told.contains("its members are: x, y"), "{told}");
}

#[test]
fn what_is_written_is_read_by_numpy() {
    let Some(scratch) = folder() else { return };
    let pair = Data::Pair(Box::new(Data::F64(vec![0.5, -1.0])), Box::new(Data::Bool(vec![true, false])));
    fs::write(scratch.path().join("own.npy"), npy::write(&Tensor { shape: vec![2], data: pair }))
        .expect("written");
    let script =
        "import numpy as np; a = np.load('own.npy'); print(a.shape, a['x1'].tolist(), a['x2'].tolist())";
    let output =
        Command::new("python3").args(["-c", script]).current_dir(scratch.path()).output().expect("runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "(2,) [0.5, -1.0] [True, False]\n");
}

#[test]
fn what_is_no_array_of_ours_is_refused() {
    let Some(scratch) = folder() else { return };
    for (name, said) in
        [("complex.npy", "type '<c8'"), ("text.npy", "type '<U1'"), ("triple.npy", "records of 3 fields")]
    {
        let told = read(scratch.path(), name).expect_err(name);
        assert!(told.contains(said), "{name}: {told}");
    }
}
