//! Functions of C without a marked region, each taken as a whole.
//!
//! A function that returns nothing gets the marks inside of its braces. The value of another one is
//! what a region assigns in which it is called.

use std::ops::Range;

use lozenge::Failure;

use crate::text;

/// A function of a C file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Its name.
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// What is between its parentheses.
    header: String,
    /// The type that it returns; `None` for `void`.
    result: Option<String>,
    /// The bytes between its braces.
    body: Range<usize>,
}

/// A text with marks, and what was put into it.
pub struct Marked {
    /// The text.
    pub text: String,
    /// What was put in, in order: where, in the text before, and its bytes.
    added: Vec<(usize, usize)>,
    /// The function, in the text before.
    body: Range<usize>,
}

/// Words in front of a function that say nothing of its value.
const STORAGE: [&str; 6] = ["static", "inline", "extern", "__inline", "__inline__", "const"];

impl Whole {
    /// The functions of a text, but for `main` and those that return or take something else than
    /// numbers and arrays.
    pub fn all(text: &str) -> Vec<Whole> {
        let masked = text::masked(text);
        let (mut found, mut begin, mut depth, mut at) = (Vec::new(), 0, 0usize, None);
        for (k, byte) in masked.bytes().enumerate() {
            match byte {
                b'{' => {
                    if depth == 0 {
                        at = Some(k);
                    }
                    depth += 1;
                }
                b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let open = at.take();
                        found.extend(open.and_then(|open| Whole::new(&masked[begin..open], open + 1..k)));
                        begin = k + 1;
                    }
                }
                b';' if depth == 0 => begin = k + 1,
                _ => {}
            }
        }
        found.retain(|whole| whole.name != "main");
        found
    }

    /// The function with this text in front of its brace.
    fn new(before: &str, body: Range<usize>) -> Option<Whole> {
        let (front, header) = before.trim_end().strip_suffix(')')?.split_once('(')?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let front = front.trim_end();
        let name = &front[front.rfind(|c| !is_word(c)).map_or(0, |at| at + 1)..];
        let ty = &front[..front.len() - name.len()];
        let words: Vec<&str> = ty.split_whitespace().filter(|word| !STORAGE.contains(word)).collect();
        let plain = words.iter().all(|word| word.chars().all(is_word)) && !words.is_empty();
        let parameters = match header.trim() {
            "" | "void" => Vec::new(),
            header => split(header)?.into_iter().map(declared).collect::<Option<_>>()?,
        };
        let named = !name.is_empty() && plain && !matches!(words[0], "struct" | "union" | "enum" | "typedef");
        named.then(|| Whole {
            name: name.to_owned(),
            parameters,
            header: header.trim().to_owned(),
            result: (words != ["void"]).then(|| words.join(" ")),
            body,
        })
    }

    /// What its value is called.
    pub fn value(&self) -> String {
        let mut name = "value".to_owned();
        while self.parameters.contains(&name) || self.name == name {
            name.push('_');
        }
        name
    }

    /// The text of the file with marks for this function.
    pub fn marked(&self, text: &str) -> Marked {
        let mut made = Marked { text: String::new(), added: Vec::new(), body: self.body.clone() };
        let Whole { name, header, .. } = self;
        match &self.result {
            None => {
                made.copy(&text[..self.body.start]);
                made.add("\n#pragma scop\n");
                made.copy(&text[self.body.clone()]);
                made.add("\n#pragma endscop\n");
                made.copy(&text[self.body.end..]);
            }
            Some(ty) => {
                let (arguments, value) = (self.parameters.join(", "), self.value());
                made.copy(text);
                made.add(&format!(
                    "\n{ty} lozenge_call_{name}({header}) {{\n{ty} {value};\n#pragma scop\n\
                     {value} = {name}({arguments});\n#pragma endscop\nreturn {value};\n}}\n"
                ));
            }
        }
        made
    }
}

impl Marked {
    fn copy(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn add(&mut self, text: &str) {
        let before = self.text.len() - self.added.iter().map(|(_, bytes)| bytes).sum::<usize>();
        self.added.push((before, text.len()));
        self.text.push_str(text);
    }

    /// A place of this text in the text before. What was put in is in the function.
    fn before(&self, place: u32) -> u32 {
        let mut at = place as usize;
        for (from, bytes) in &self.added {
            match at {
                at_before if at_before < *from => break,
                inside if inside < from + bytes => {
                    at = self.body.start;
                    break;
                }
                _ => at -= bytes,
            }
        }
        at as u32
    }

    /// What is said of this text, said of the text before.
    pub fn placed(&self, mut failure: Failure, text: &str) -> Failure {
        let Some(source) = failure.source.as_mut().filter(|source| source.text == self.text) else {
            return failure;
        };
        source.text = text.to_owned();
        for label in failure.diagnostics.iter_mut().flat_map(|diagnostic| &mut diagnostic.labels) {
            let (start, end) = (self.before(label.span.start), self.before(label.span.end));
            (label.span.start, label.span.end) = (start, end.max(start));
        }
        failure
    }
}

/// The parts between commas; `None` where there are parentheses.
fn split(header: &str) -> Option<Vec<&str>> {
    (!header.contains(['(', '{', '.'])).then(|| header.split(',').collect())
}

/// The name that a parameter declares.
fn declared(parameter: &str) -> Option<String> {
    let front = parameter.split('[').next()?.trim_end();
    let name = front.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    (!name.is_empty() && front.len() > name.len()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include <math.h>\n#define F(x) { x }\ntypedef struct { int a; } s;\n\
        static inline double dot(int n, const double *x, double y[n][4]) {\n  /* } */\n  return x[0];\n}\n\
        void fill(float *x, int n)\n{ for (;;) { } }\nint main(void) { return 0; }\nchar *f(void) { return \"}\"; }\n";

    #[test]
    fn functions_of_numbers_and_arrays() {
        let all = Whole::all(TEXT);
        let names: Vec<&str> = all.iter().map(|whole| whole.name.as_str()).collect();
        assert_eq!(names, ["dot", "fill"]);
        assert_eq!(all[0].parameters, ["n", "x", "y"]);
        assert_eq!(all[0].result.as_deref(), Some("double"));
        assert_eq!(all[1].result, None);
        let marked = all[1].marked(TEXT);
        assert!(
            marked.text.contains("{\n#pragma scop\n for (;;) { } \n#pragma endscop\n}"),
            "{}",
            marked.text
        );
        assert!(all[0].marked(TEXT).text.contains("\nvalue = dot(n, x, y);"));
    }

    #[test]
    fn places_are_those_of_the_text_before() {
        let whole = &Whole::all(TEXT)[1];
        let marked = whole.marked(TEXT);
        for word in ["dot", "for", "main"] {
            let (now, then) = (marked.text.find(word), TEXT.find(word));
            assert_eq!(now.map(|at| marked.before(at as u32) as usize), then, "{word}");
        }
        let inside = marked.text.find("endscop").expect("it is marked") as u32;
        assert_eq!(marked.before(inside) as usize, whole.body.start);
    }
}
