//! The table of operators: name, family, what a call costs, which integers its elements may be, and
//! the function that builds the program. Not here: signatures (`schema`) and shapes (`infer`).

use std::fmt::Write as _;

use super::*;
use crate::types::ElementType as E;

/// What a call of an operator does, for the cost of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// An operation or two for each element of the result.
    Plain,
    /// Nothing: only the description of the tensor changes.
    Description,
    /// Sums of products of windows and filters.
    Convolution,
    /// Sums of products along one axis.
    Product,
    /// Sums of products along some axes.
    Contraction,
    /// Two products and a softmax between them.
    Attention,
    /// Sums or extrema of windows.
    Window,
    /// Other positions of the elements.
    Permutation,
    /// A function of the mathematical library for each element.
    Function,
    /// A product and a sum for each element.
    Scaling,
    /// Means and variances of the elements.
    Normalisation,
    /// Sums or extrema of the elements.
    Reduction,
}

/// What the standard says of the elements of the first input (of `Where`: of the second).
#[derive(Clone, Copy, Debug)]
pub struct Elements {
    /// The integer types that they may have.
    pub integers: &'static [ElementType],
    /// Whether they may also be floating-point numbers, or truth values.
    pub others: bool,
}

/// An operator of the library.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its domain; empty for the standard one.
    pub domain: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The family it belongs to, which is the file that builds it.
    pub family: &'static str,
    /// What a call does.
    pub work: Work,
    /// What its elements may be.
    pub elements: Elements,
    /// What it leaves out or needs.
    pub note: &'static str,
    pub(super) build: fn(&mut Op<'_>) -> Done,
}

type Types = &'static [ElementType];
const ANY: Types = &[E::I8, E::I16, E::I32, E::I64, E::U8, E::U16, E::U32, E::U64];
const SIGNED: Types = &[E::I8, E::I16, E::I32, E::I64];
const UNSIGNED: Types = &[E::U8, E::U16, E::U32, E::U64];
const COMPARED: Types = &[E::I8, E::I32, E::I64, E::U8, E::U32, E::U64];
const WIDE: Types = &[E::I32, E::I64, E::U32, E::U64];
const WIDE_SIGNED: Types = &[E::I32, E::I64];
const BYTES: Types = &[E::I8, E::U8];
const DEQUANTISED: Types = &[E::I8, E::I32, E::U8];
const I32: Types = &[E::I32];
const I64: Types = &[E::I64];

macro_rules! elements {
    () => {
        Elements { integers: &[], others: true }
    };
    (only $types:ident) => {
        Elements { integers: $types, others: false }
    };
    ($types:ident) => {
        Elements { integers: $types, others: true }
    };
}

macro_rules! work {
    () => {
        Work::Plain
    };
    ($work:ident) => {
        Work::$work
    };
}

macro_rules! operators {
    ($($family:ident { $(
        $name:literal = $build:ident $(: $work:ident)? $([$($types:ident)+])? $(($note:literal))?;
    )* })*) => {
        /// All operators, by family.
        pub const TABLE: &[Entry] = &[$($(named($name, Entry {
            domain: "",
            name: $name,
            family: stringify!($family),
            work: work!($($work)?),
            elements: elements!($($($types)+)?),
            note: concat!($($note)?),
            build: |op| $family::$build(op),
        }),)*)*];
    };
}

/// The entry under this name: what stands before a colon is the domain.
const fn named(full: &'static str, entry: Entry) -> Entry {
    let bytes = full.as_bytes();
    let mut k = 0;
    while k < bytes.len() {
        if bytes[k] == b':' {
            let (domain, rest) = full.split_at(k);
            let (_, name) = rest.split_at(1);
            return Entry { domain, name, ..entry };
        }
        k += 1;
    }
    entry
}

// Each line: name and the function that builds it, its work unless that is plain, the integers that
// its elements may be (`only` if nothing else), and what it leaves out.
operators! {
    elementwise {
        "Abs" = abs [ANY]; "Acos" = acos; "Acosh" = acosh; "Add" = add [ANY]; "And" = and;
        "Asin" = asin; "Asinh" = asinh; "Atan" = atan; "Atanh" = atanh;
        "BitCast" = bit_cast ("not between floating-point types of 16 bits or less");
        "BitShift" = bit_shift [only UNSIGNED]; "BitwiseAnd" = bitwise_and [only ANY];
        "BitwiseNot" = bitwise_not [only ANY]; "BitwiseOr" = bitwise_or [only ANY];
        "BitwiseXor" = bitwise_xor [only ANY]; "Cast" = cast_op [ANY] ("not from or to strings");
        "CastLike" = cast_like [ANY] ("not from or to strings"); "Ceil" = ceil; "Celu" = celu;
        "Clip" = clip [ANY]; "Cos" = cos: Function; "Cosh" = cosh; "Div" = div [ANY];
        "Elu" = elu: Function; "Equal" = equal [ANY] ("not of strings"); "Erf" = erf: Function;
        "Exp" = exp: Function; "Floor" = floor; "Gelu" = gelu: Function; "Greater" = greater [ANY];
        "GreaterOrEqual" = greater_or_equal [ANY]; "HardSigmoid" = hard_sigmoid;
        "HardSwish" = hard_swish: Function; "Identity" = identity: Description [ANY] ("of tensors");
        "IsInf" = is_inf; "IsNaN" = is_nan; "LeakyRelu" = leaky_relu; "Less" = less_op [ANY];
        "LessOrEqual" = less_or_equal [ANY]; "Log" = log: Function; "Max" = max [ANY]; "Mean" = mean;
        "Min" = min [ANY]; "Mish" = mish: Function; "Mod" = modulo [ANY]; "Mul" = mul [ANY];
        "Neg" = neg [SIGNED]; "Not" = not; "Or" = or; "PRelu" = prelu [WIDE];
        "Pow" = pow: Function [WIDE_SIGNED]; "Reciprocal" = reciprocal; "Relu" = relu [SIGNED];
        "Round" = round; "Selu" = selu: Function; "Shrink" = shrink [ANY];
        "Sigmoid" = sigmoid: Function; "Sign" = sign [ANY]; "Sin" = sin: Function; "Sinh" = sinh;
        "Softplus" = softplus: Function; "Softsign" = softsign; "Sqrt" = sqrt: Function;
        "Sub" = sub [ANY]; "Sum" = sum; "Swish" = swish; "Tan" = tan; "Tanh" = tanh: Function;
        "ThresholdedRelu" = thresholded_relu; "Where" = where_op [ANY]; "Xor" = xor;
    }
    constants {
        "Constant" = constant: Description ("not of strings or sparse tensors");
        "ConstantOfShape" = constant_of_shape [I64]; "EyeLike" = eye_like [ANY]; "Range" = range;
        "Shape" = shape: Description [ANY]; "Size" = size_op [ANY];
    }
    movement {
        "CenterCropPad" = center_crop_pad [ANY]; "Concat" = concat [ANY];
        "DepthToSpace" = depth_to_space [ANY]; "Expand" = expand [ANY];
        "Flatten" = flatten: Description [ANY]; "Pad" = pad [ANY];
        "Reshape" = reshape_op: Description [ANY]; "ReverseSequence" = reverse_sequence [ANY];
        "Slice" = slice [ANY]; "SpaceToDepth" = space_to_depth [ANY]; "Split" = split [ANY];
        "Squeeze" = squeeze: Description [ANY]; "Tile" = tile [ANY];
        "Transpose" = transpose: Permutation [ANY]; "Trilu" = trilu [ANY];
        "Unsqueeze" = unsqueeze: Description [ANY];
    }
    gather {
        "Compress" = compress [ANY] ("its length depends on the data: evaluation only");
        "Gather" = gather [ANY]; "GatherElements" = gather_elements [ANY];
        "GatherND" = gather_nd [ANY];
        "NonZero" = non_zero ("its length depends on the data: evaluation only");
        "OneHot" = one_hot [ANY]; "Scatter" = scatter_elements;
        "ScatterElements" = scatter_elements [ANY]; "ScatterND" = scatter_nd [ANY];
        "TensorScatter" = tensor_scatter;
        "ai.onnx.ml:ArrayFeatureExtractor" = array_feature_extractor;
        "ai.onnx.ml:Binarizer" = binarizer;
    }
    reduce {
        "ArgMax" = arg_max [ANY]; "ArgMin" = arg_min [ANY]; "CumProd" = cum_prod;
        "CumSum" = cum_sum [WIDE]; "Hardmax" = hardmax; "LogSoftmax" = log_softmax: Function;
        "ReduceL1" = l1: Reduction [WIDE]; "ReduceL2" = l2: Reduction [WIDE];
        "ReduceLogSum" = log_sum: Reduction [WIDE]; "ReduceLogSumExp" = log_sum_exp: Reduction [WIDE];
        "ReduceMax" = max: Reduction [COMPARED]; "ReduceMean" = mean: Reduction [WIDE];
        "ReduceMin" = min: Reduction [COMPARED]; "ReduceProd" = product_of: Reduction [WIDE];
        "ReduceSum" = sum: Reduction [WIDE]; "ReduceSumSquare" = sum_square: Reduction [WIDE];
        "Softmax" = softmax: Function;
    }
    matrix {
        "Det" = det; "Einsum" = einsum: Contraction [ANY]; "Gemm" = gemm: Product [WIDE];
        "MatMul" = mat_mul: Product [WIDE]; "MatMulInteger" = mat_mul_integer [only BYTES];
        "QLinearMatMul" = qlinear_mat_mul [only BYTES];
    }
    convolution {
        "Col2Im" = col2im; "Conv" = conv: Convolution; "ConvInteger" = conv_integer [only BYTES];
        "ConvTranspose" = conv_transpose: Convolution; "DeformConv" = deform_conv;
        "QLinearConv" = qlinear_conv [BYTES];
    }
    pool {
        "AveragePool" = average_pool: Window; "GlobalAveragePool" = global_average_pool: Reduction;
        "GlobalLpPool" = global_lp_pool; "GlobalMaxPool" = global_max_pool: Reduction;
        "LpPool" = lp_pool: Window; "MaxPool" = max_pool: Window [BYTES]; "MaxUnpool" = max_unpool;
    }
    select {

        "NonMaxSuppression" = non_max_suppression ("its length depends on the data: evaluation only");
        "TopK" = top_k [ANY]; "Unique" = unique ("its length depends on the data: evaluation only");
    }
    quantise {
        "DequantizeLinear" = dequantize_linear [only DEQUANTISED];
        "DynamicQuantizeLinear" = dynamic_quantize_linear; "QuantizeLinear" = quantize_linear [I32];
    }
    loss {
        "Dropout" = dropout: Description ("in inference, or with ratio 0");
        "NegativeLogLikelihoodLoss" = nll; "SoftmaxCrossEntropyLoss" = softmax_cross_entropy;
    }
    image {
        "AffineGrid" = affine_grid; "GridSample" = grid_sample; "Resize" = resize;
        "RoiAlign" = roi_align; "Upsample" = upsample;
    }
    attention {
        "Attention" = attention: Attention; "CausalConvWithState" = causal_conv;
        "LinearAttention" = linear_attention; "RotaryEmbedding" = rotary_embedding;
        "SwiGLU" = swiglu;
    }
    recurrent {
        "GRU" = gru ("activations sigmoid, tanh, relu");
        "LSTM" = lstm ("activations sigmoid, tanh, relu; without coupled gates");
        "RNN" = rnn ("activations sigmoid, tanh, relu");
        "com.microsoft:DynamicQuantizeLSTM" = lstm_of_bytes ("as `LSTM`; the states of all samples have one scale");
    }
    signal {
        "BlackmanWindow" = blackman; "DFT" = dft; "HammingWindow" = hamming; "HannWindow" = hann;
        "MelWeightMatrix" = mel_weight_matrix; "STFT" = stft;
    }
    learning {
        "ai.onnx.preview.training:Adagrad" = adagrad; "ai.onnx.preview.training:Adam" = adam;
        "ai.onnx.preview.training:Momentum" = momentum;
    }
    normalise {
        "BatchNormalization" = batch_normalization: Scaling;
        "GroupNormalization" = group_normalization: Normalisation;
        "InstanceNormalization" = instance_normalization: Normalisation; "LRN" = lrn;
        "LayerNormalization" = layer_normalization: Normalisation;
        "LpNormalization" = lp_normalization;
        "MeanVarianceNormalization" = mean_variance_normalization;
        "RMSNormalization" = rms_normalization;
    }
}

/// The operator of this domain and name.
pub fn lookup(domain: &str, name: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.name == name && entry.domain == domain)
}

/// The table of `docs/operators.md`.
pub fn page() -> String {
    let mut text = String::from("| operator | family | what it leaves out |\n| --- | --- | --- |\n");
    let mut all: Vec<&Entry> = TABLE.iter().collect();
    all.sort_by_key(|entry| (entry.domain, entry.name));
    for entry in all {
        let domain = if entry.domain.is_empty() { String::new() } else { format!("{}.", entry.domain) };
        let _ = writeln!(text, "| `{domain}{}` | `{}` | {} |", entry.name, entry.family, entry.note);
    }
    text
}
