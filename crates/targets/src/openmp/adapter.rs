//! Wraps functions in the paper's style in the interface of the others, so that they can be run and
//! measured in the same way.

use loops::ParamMode;

use crate::openmp::Signature;

/// A C function of the name `name` with the interface of readable code that calls the function
/// `paper` of the paper's style: its head without a semicolon, and its body.
pub(crate) fn adapter(signature: &Signature, paper: &str, name: &str) -> (String, String) {
    let mut params: Vec<String> = (0..signature.sizes.len()).map(|k| format!("int64_t size{k}")).collect();
    let mut arguments: Vec<String> = (0..signature.sizes.len()).map(|k| format!("(int)size{k}")).collect();
    for (k, param) in signature.params.iter().enumerate() {
        let ty = &param.c_type;
        if !param.pointer {
            params.push(format!("{ty} data{k}"));
            arguments.push(format!("data{k}"));
            continue;
        }
        let constant = if param.mode == ParamMode::In { "const " } else { "" };
        params.push(format!("{constant}{ty} *data{k}"));
        // the paper's parameters are arrays of arrays and never `const`
        arguments.push(format!("(void *)data{k}"));
    }
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    let arguments = arguments.join(", ");
    (format!("int {name}({params})"), format!("{{\n    {paper}({arguments});\n    return 0;\n}}\n"))
}
