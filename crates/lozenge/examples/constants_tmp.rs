//! Temporary.
fn main() {
    let mut args = std::env::args().skip(1);
    let text = std::fs::read_to_string(args.next().unwrap()).unwrap();
    match lozenge::extents::as_constants(&text) {
        Some(t) => print!("{t}"),
        None => std::process::exit(3),
    }
}
