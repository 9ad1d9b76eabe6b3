//! The table of operators: name, family, and the function that builds the program.

use std::fmt::Write as _;

use super::*;

/// An operator of the library.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its domain; empty for the standard one.
    pub domain: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The family it belongs to, which is the file that builds it.
    pub family: &'static str,
    /// What it leaves out or needs.
    pub note: &'static str,
    pub(super) build: fn(&mut Op<'_>) -> Done,
}

macro_rules! operators {
    ($($family:ident { $($name:literal = $build:ident $(($note:literal))?;)* })*) => {
        /// All operators, by family.
        pub const TABLE: &[Entry] = &[$($(
            entry($name, stringify!($family), concat!($($note)?), |op| $family::$build(op)),
        )*)*];
    };
}

const fn entry(
    full: &'static str,
    family: &'static str,
    note: &'static str,
    build: fn(&mut Op<'_>) -> Done,
) -> Entry {
    // what stands before a colon is the domain
    let bytes = full.as_bytes();
    let mut k = 0;
    while k < bytes.len() {
        if bytes[k] == b':' {
            let (domain, rest) = full.split_at(k);
            let (_, name) = rest.split_at(1);
            return Entry { domain, name, family, note, build };
        }
        k += 1;
    }
    Entry { domain: "", name: full, family, note, build }
}

operators! {
    elementwise {
        "Abs" = abs; "Acos" = acos; "Acosh" = acosh; "Add" = add; "And" = and; "Asin" = asin; "Asinh" = asinh; "Atan" = atan;
        "Atanh" = atanh; "BitCast" = bit_cast ("not between floating-point types of 16 bits or less"); "BitShift" = bit_shift; "BitwiseAnd" = bitwise_and;
        "BitwiseNot" = bitwise_not; "BitwiseOr" = bitwise_or; "BitwiseXor" = bitwise_xor; "Cast" = cast_op ("not from or to strings");
        "CastLike" = cast_like ("not from or to strings"); "Ceil" = ceil; "Celu" = celu; "Clip" = clip; "Cos" = cos; "Cosh" = cosh; "Div" = div;
        "Elu" = elu; "Equal" = equal ("not of strings"); "Erf" = erf; "Exp" = exp; "Floor" = floor; "Gelu" = gelu; "Greater" = greater;
        "GreaterOrEqual" = greater_or_equal; "HardSigmoid" = hard_sigmoid; "HardSwish" = hard_swish; "Identity" = identity ("of tensors");
        "IsInf" = is_inf; "IsNaN" = is_nan; "LeakyRelu" = leaky_relu; "Less" = less_op; "LessOrEqual" = less_or_equal; "Log" = log; "Max" = max;
        "Mean" = mean; "Min" = min; "Mish" = mish; "Mod" = modulo; "Mul" = mul; "Neg" = neg; "Not" = not; "Or" = or; "PRelu" = prelu; "Pow" = pow;
        "Reciprocal" = reciprocal; "Relu" = relu; "Round" = round; "Selu" = selu; "Shrink" = shrink; "Sigmoid" = sigmoid; "Sign" = sign;
        "Sin" = sin; "Sinh" = sinh; "Softplus" = softplus; "Softsign" = softsign; "Sqrt" = sqrt; "Sub" = sub; "Sum" = sum; "Swish" = swish;
        "Tan" = tan; "Tanh" = tanh; "ThresholdedRelu" = thresholded_relu; "Where" = where_op; "Xor" = xor;
    }
    constants {
        "Constant" = constant ("not of strings or sparse tensors"); "ConstantOfShape" = constant_of_shape; "EyeLike" = eye_like; "Range" = range; "Shape" = shape; "Size" = size_op;
    }
    movement {
        "CenterCropPad" = center_crop_pad; "Concat" = concat; "DepthToSpace" = depth_to_space; "Expand" = expand; "Flatten" = flatten; "Pad" = pad; "Reshape" = reshape_op; "ReverseSequence" = reverse_sequence; "Slice" = slice; "SpaceToDepth" = space_to_depth; "Split" = split; "Squeeze" = squeeze; "Tile" = tile; "Transpose" = transpose; "Trilu" = trilu; "Unsqueeze" = unsqueeze;
    }
    gather {
        "Compress" = compress ("its length depends on the data: evaluation only"); "Gather" = gather; "GatherElements" = gather_elements; "GatherND" = gather_nd;
        "NonZero" = non_zero ("its length depends on the data: evaluation only"); "OneHot" = one_hot; "Scatter" = scatter_elements;
        "ScatterElements" = scatter_elements; "ScatterND" = scatter_nd; "TensorScatter" = tensor_scatter;
        "ai.onnx.ml:ArrayFeatureExtractor" = array_feature_extractor; "ai.onnx.ml:Binarizer" = binarizer;
    }
    reduce {
        "ArgMax" = arg_max; "ArgMin" = arg_min; "CumProd" = cum_prod; "CumSum" = cum_sum; "Hardmax" = hardmax; "LogSoftmax" = log_softmax;
        "ReduceL1" = l1; "ReduceL2" = l2; "ReduceLogSum" = log_sum; "ReduceLogSumExp" = log_sum_exp; "ReduceMax" = max; "ReduceMean" = mean;
        "ReduceMin" = min; "ReduceProd" = product_of; "ReduceSum" = sum; "ReduceSumSquare" = sum_square; "Softmax" = softmax;
    }
    matrix {
        "Det" = det; "Einsum" = einsum; "Gemm" = gemm; "MatMul" = mat_mul; "MatMulInteger" = mat_mul_integer; "QLinearMatMul" = qlinear_mat_mul;
    }
    convolution {
        "Col2Im" = col2im; "Conv" = conv; "ConvInteger" = conv_integer; "ConvTranspose" = conv_transpose; "DeformConv" = deform_conv; "QLinearConv" = qlinear_conv;
    }
    pool {
        "AveragePool" = average_pool; "GlobalAveragePool" = global_average_pool; "GlobalLpPool" = global_lp_pool; "GlobalMaxPool" = global_max_pool;
        "LpPool" = lp_pool; "MaxPool" = max_pool; "MaxUnpool" = max_unpool;
    }
    select {
        "NonMaxSuppression" = non_max_suppression ("its length depends on the data: evaluation only"); "TopK" = top_k;
        "Unique" = unique ("its length depends on the data: evaluation only");
    }
    quantise {
        "DequantizeLinear" = dequantize_linear; "DynamicQuantizeLinear" = dynamic_quantize_linear; "QuantizeLinear" = quantize_linear;
    }
    loss {
        "Dropout" = dropout ("in inference, or with ratio 0"); "NegativeLogLikelihoodLoss" = nll; "SoftmaxCrossEntropyLoss" = softmax_cross_entropy;
    }
    image {
        "AffineGrid" = affine_grid; "GridSample" = grid_sample; "Resize" = resize; "RoiAlign" = roi_align; "Upsample" = upsample;
    }
    attention {
        "Attention" = attention; "CausalConvWithState" = causal_conv; "LinearAttention" = linear_attention; "RotaryEmbedding" = rotary_embedding; "SwiGLU" = swiglu;
    }
    recurrent {
        "GRU" = gru ("activations sigmoid, tanh, relu"); "LSTM" = lstm ("activations sigmoid, tanh, relu; without coupled gates"); "RNN" = rnn ("activations sigmoid, tanh, relu");
        "com.microsoft:DynamicQuantizeLSTM" = lstm_of_bytes ("as `LSTM`; the states of all samples have one scale");
    }
    signal {
        "BlackmanWindow" = blackman; "DFT" = dft; "HammingWindow" = hamming; "HannWindow" = hann; "MelWeightMatrix" = mel_weight_matrix; "STFT" = stft;
    }
    learning {
        "ai.onnx.preview.training:Adagrad" = adagrad; "ai.onnx.preview.training:Adam" = adam; "ai.onnx.preview.training:Momentum" = momentum;
    }
    normalise {
        "BatchNormalization" = batch_normalization; "GroupNormalization" = group_normalization; "InstanceNormalization" = instance_normalization;
        "LRN" = lrn; "LayerNormalization" = layer_normalization; "LpNormalization" = lp_normalization;
        "MeanVarianceNormalization" = mean_variance_normalization; "RMSNormalization" = rms_normalization;
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
