//! The strings that attributes of standard operators may have. `auto_pad` is not among them,
//! because shape inference checks it.

const PADDING: [&str; 4] = ["constant", "reflect", "edge", "wrap"];
const REDUCTIONS: [&str; 5] = ["none", "add", "mul", "max", "min"];
const LOSSES: [&str; 3] = ["none", "sum", "mean"];
const DIRECTIONS: [&str; 3] = ["forward", "reverse", "bidirectional"];

/// The words that an attribute may have, if the standard lists them.
pub(super) fn allowed(op: &str, attribute: &str) -> Option<&'static [&'static str]> {
    Some(match (op, attribute) {
        ("BitShift", "direction") => &["LEFT", "RIGHT"],
        ("DepthToSpace", "mode") => &["DCR", "CRD"],
        ("GRU" | "LSTM" | "RNN", "direction") => &DIRECTIONS,
        ("Gelu", "approximate") => &["none", "tanh"],
        ("GridSample", "mode") => &["linear", "nearest", "cubic", "bilinear", "bicubic"],
        ("GridSample", "padding_mode") => &["zeros", "border", "reflection"],
        ("NegativeLogLikelihoodLoss" | "SoftmaxCrossEntropyLoss", "reduction") => &LOSSES,
        ("Pad", "mode") => &PADDING,
        ("Resize", "mode") => &["nearest", "linear", "cubic"],
        ("Upsample", "mode") => &["nearest", "linear"],
        ("Resize", "coordinate_transformation_mode") => &[
            "half_pixel",
            "half_pixel_symmetric",
            "pytorch_half_pixel",
            "align_corners",
            "asymmetric",
            "tf_half_pixel_for_nn",
            "tf_crop_and_resize",
        ],
        ("Resize", "nearest_mode") => &["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"],
        ("Resize", "keep_aspect_ratio_policy") => &["stretch", "not_larger", "not_smaller"],
        ("RoiAlign", "mode") => &["avg", "max"],
        ("RoiAlign", "coordinate_transformation_mode") => &["half_pixel", "output_half_pixel"],
        ("ScatterElements" | "ScatterND", "reduction") => &REDUCTIONS,
        ("TensorScatter", "mode") => &["linear", "circular"],
        _ => return None,
    })
}
