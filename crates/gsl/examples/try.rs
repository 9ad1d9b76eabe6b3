fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let (file, errors) = gsl::parse(&text);
        for e in &errors { println!("{path}: {e} {:?}", e.labels.first().map(|l| text[..l.span.start as usize].matches('\n').count() + 1)); }
        match gsl::compile(&file) {
            Ok(r) => println!("{path}: {} rules", r.len()),
            Err(es) => for e in es { println!("{path}: {e} line {:?} {:?} {:?}", e.labels.first().map(|l| text[..l.span.start as usize].matches('\n').count() + 1), e.notes, e.help); }
        }
        assert_eq!(gsl::parse(&file.to_string()).0, file);
    }
}
