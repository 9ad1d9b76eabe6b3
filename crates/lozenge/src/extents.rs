//! The kernels in their second form: extents that are numbers, as macros, where the text has them
//! as parameters of the function.
//!
//! A kernel has its sizes from `int n = SIZE(N);` in `main`, and its function takes `int n`. In the
//! second form the function says `N` wherever it said `n`; what is given for the parameter is not
//! used, so calls stay as they are, and both forms compute the same where the environment sets no
//! sizes.

/// Sizes of the text with the macros that they come from: declarations `NAME = SIZE(MACRO)`.
fn sizes(text: &str) -> Vec<(&str, &str)> {
    text.match_indices("SIZE(")
        .filter_map(|(at, found)| size(&text[..at], &text[at + found.len()..]))
        .collect()
}

/// The size whose declaration ends with `SIZE(`, with its macro, which stands behind that.
fn size<'t>(before: &'t str, after: &'t str) -> Option<(&'t str, &'t str)> {
    let name = before.trim_end().strip_suffix('=')?.trim_end();
    let name = &name[name.rfind(|c: char| !is_word(c)).map_or(0, |at| at + 1)..];
    let (constant, _) = after.split_once(')')?;
    (!name.is_empty() && constant.chars().all(is_word)).then_some((name, constant))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A C program with the extents of its region as constants; none if the function of the region
/// takes no sizes that `main` has from macros.
pub fn as_constants(text: &str) -> Option<String> {
    let region = text.find("#pragma scop")?;
    let start = text[..region].rfind("\nstatic ")?;
    let body = start + text[start..].find('{')?;
    let end = region + text[region..].find("\n}")?;
    let sizes = sizes(&text[end..]);
    let (mut result, mut found) = (text[..start].to_owned(), false);
    let (mut at, mut before) = (start, "");
    while at < end {
        let length = text[at..end].find(|c| !is_word(c)).unwrap_or(end - at);
        let word = &text[at..at + length];
        match sizes.iter().find(|(name, _)| *name == word) {
            Some(_) if before == "int" && at < body => {
                result.push_str(&format!("{word}_as_parameter"));
                found = true;
            }
            Some((_, constant)) => result.push_str(constant),
            None => result.push_str(word),
        }
        at += length;
        let between = text[at..end].find(is_word).unwrap_or(end - at);
        result.push_str(&text[at..at + between]);
        // `int n` is a declaration, `int *n` and `int) n` are none.
        before = if text[at..at + between].trim().is_empty() { word } else { "" };
        at += between;
    }
    result.push_str(&text[end..]);
    found.then_some(result)
}

#[cfg(test)]
mod tests {
    use super::as_constants;

    #[test]
    fn parameters_become_macros() {
        let text = "#define N 4\nstatic void f(int n, int m, double a[n][m])\n{\n#pragma scop\n  for (int i = 0; i < n; i++)\n    a[i][m - 1] = (int)n;\n#pragma endscop\n}\n\
                    int main(void)\n{\n  int n = SIZE(N), m = SIZE(M);\n  f(n, m, a);\n}\n";
        let expected = "#define N 4\nstatic void f(int n_as_parameter, int m_as_parameter, double a[N][M])\n{\n#pragma scop\n  for (int i = 0; i < N; i++)\n    a[i][M - 1] = (int)N;\n#pragma endscop\n}\n\
                    int main(void)\n{\n  int n = SIZE(N), m = SIZE(M);\n  f(n, m, a);\n}\n";
        assert_eq!(as_constants(text).as_deref(), Some(expected));
        assert_eq!(as_constants(expected), None);
        assert_eq!(as_constants("int main(void) { return 0; }"), None);
    }
}
