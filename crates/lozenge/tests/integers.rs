//! Convolutions and products of bytes as C: in pairs of places of the sum, padded once and in
//! tiles, they give what the definition gives, to the last bit.
#![allow(missing_docs)]

mod support;

use support::{calls, model};

/// Numbers from `least` on, none of them 251 above it.
fn numbers(count: usize, least: i64) -> impl Iterator<Item = i64> {
    (0..count).map(move |k| (k * 7919 % 251) as i64 + least)
}

/// Numbers of 8 bits, as models have them in their textual form.
fn hex(numbers: impl Iterator<Item = i64>) -> String {
    let digits: String = numbers.map(|number| format!("{:02x}", number & 255)).collect();
    format!("hex\"{digits}\"")
}

/// A convolution of `channels` to `filters`, as the attributes say.
struct Conv {
    channels: usize,
    filters: usize,
    groups: usize,
    image: usize,
    places: usize,
    attributes: &'static str,
}

impl Conv {
    fn weights(&self, elem: &str, least: i64) -> String {
        let per = self.channels / self.groups;
        let count = self.filters * per * 9;
        format!("  init w: {elem}[{}, {per}, 3, 3] = {}\n", self.filters, hex(numbers(count, least)))
    }

    fn quantised(&self, elem: &str, least: i64, zero: i64) {
        let Conv { channels, filters, groups, image, places, attributes } = self;
        let scales = vec!["0.0125"; *filters].join(", ");
        let biases: Vec<String> = numbers(*filters, -100).map(|number| number.to_string()).collect();
        let body = format!(
            "{}  input x: u8[2, {channels}, {image}, {image}]
  init sx: f32[] = [0.05]
  init zx: u8[] = hex\"03\"
  init sw: f32[{filters}] = [{scales}]
  init zw: {elem}[{filters}] = {}
  init sy: f32[] = [0.75]
  init zy: u8[] = hex\"64\"
  init b: i32[{filters}] = [{}]
  y = QLinearConv(x, sx, zx, w, sw, zw, sy, zy, b) {{ group: {groups}{attributes} }}
  output y: u8[2, {filters}, {places}, {places}]",
            self.weights(elem, least),
            hex(std::iter::repeat_n(zero, *filters)),
            biases.join(", "),
        );
        calls(&model(&[], &body));
    }

    fn summed(&self) {
        let Conv { channels, filters, groups, image, places, attributes } = self;
        let body = format!(
            "{}  input x: u8[1, {channels}, {image}, {image}]
  init zx: u8[] = hex\"02\"
  init zw: u8[] = hex\"78\"
  y = ConvInteger(x, w, zx, zw) {{ group: {groups}{attributes} }}
  z = Cast(y) {{ to: 1 }}
  output z: f32[1, {filters}, {places}, {places}]",
            self.weights("u8", 0),
        );
        calls(&model(&[], &body));
    }
}

const SAME: &str = ", pads: [1, 1, 1, 1]";
const APART: &str = ", pads: [1, 0, 1, 2], strides: [2, 2]";

#[test]
fn padded_strided_and_in_groups() {
    let whole = Conv { channels: 8, filters: 10, groups: 1, image: 9, places: 9, attributes: SAME };
    whole.quantised("i8", -125, 0);
    whole.quantised("u8", 0, 128);
    whole.summed();
    let strided = Conv { channels: 6, filters: 16, groups: 2, image: 15, places: 8, attributes: APART };
    strided.quantised("i8", -125, 5);
    strided.summed();
}

#[test]
fn each_channel_by_itself_and_small_ones() {
    let apart = Conv { channels: 6, filters: 6, groups: 6, image: 9, places: 9, attributes: SAME };
    apart.quantised("i8", -125, 0);
    apart.summed();
    Conv { channels: 1, filters: 2, groups: 1, image: 4, places: 2, attributes: "" }.quantised("i8", -125, 1);
}

#[test]
fn odd_numbers_of_channels() {
    let whole = Conv { channels: 7, filters: 11, groups: 1, image: 23, places: 23, attributes: SAME };
    whole.quantised("i8", -125, 0);
    whole.quantised("u8", 0, 131);
    whole.summed();
    Conv { channels: 10, filters: 10, groups: 2, image: 17, places: 9, attributes: APART }.summed();
}

/// Rows, places of the sum and columns: one of each, primes, more columns than a tile of any width.
const PRODUCTS: [[usize; 3]; 6] =
    [[1, 64, 613], [7, 61, 113], [13, 1, 2600], [19, 1800, 1], [29, 37, 48], [6, 512, 16]];

#[test]
fn products_of_quantised_matrices() {
    let kinds = [("i8", -125, 0), ("i8", -125, -3), ("u8", 0, 250)];
    for (number, [m, k, n]) in PRODUCTS.into_iter().enumerate() {
        for turn in [0, 1] {
            let (elem, least, zero) = kinds[(number + turn) % 3];
            let weights = hex(numbers(k * n, least));
            let body = format!(
                "  input x: u8[2, {m}, {k}]
  init sx: f32[] = [0.05]
  init zx: u8[] = hex\"83\"
  init w: {elem}[{k}, {n}] = {weights}
  init sw: f32[] = [0.0125]
  init zw: {elem}[] = {}
  init sy: f32[] = [0.75]
  init zy: u8[] = hex\"64\"
  y = QLinearMatMul(x, sx, zx, w, sw, zw, sy, zy)
  output y: u8[2, {m}, {n}]",
                hex(std::iter::once(zero)),
            );
            calls(&model(&[], &body));
        }
    }
}

#[test]
fn numbers_that_become_bytes_for_a_product() {
    for [m, k, n] in PRODUCTS {
        let body = format!(
            "  input x: f32[{m}, {k}]
  init w: i8[{k}, {n}] = {}
  init sw: f32[] = [0.0125]
  b, sb, zb = DynamicQuantizeLinear(x)
  p = MatMulInteger(b, w, zb)
  q = Cast(p) {{ to: 1 }}
  s = Mul(sb, sw)
  y = Mul(q, s)
  output y: f32[{m}, {n}]",
            hex(numbers(k * n, -125)),
        );
        calls(&model(&[], &body));
    }
}

/// Both matrices are inputs of the model, so that no panels are stored.
#[test]
fn products_of_two_inputs() {
    for [m, k, n] in PRODUCTS {
        let body = format!(
            "  input a: i8[3, {m}, {k}]
  input b: u8[3, {k}, {n}]
  init za: i8[] = hex\"fb\"
  init zb: u8[] = hex\"07\"
  y = MatMulInteger(a, b, za, zb)
  output y: i32[3, {m}, {n}]"
        );
        calls(&model(&[], &body));
    }
}

/// The left matrix has signs, and each column of the constant right one has a zero point.
#[test]
fn zero_points_of_columns_and_numbers_with_signs() {
    for [m, k, n] in [[7, 61, 113], [1, 96, 350], [29, 38, 48]] {
        for (elem, least) in [("i8", -125), ("u8", 0)] {
            let body = format!(
                "  input x: i8[2, {m}, {k}]
  input za: i8[]
  init w: {elem}[{k}, {n}] = {}
  init zw: {elem}[{n}] = {}
  y = MatMulInteger(x, w, za, zw)
  output y: i32[2, {m}, {n}]",
                hex(numbers(k * n, least)),
                hex(numbers(n, least)),
            );
            calls(&model(&[], &body));
        }
    }
}

/// Images with signs, whose zero point fills the paddings, and filters of 5 channels.
#[test]
fn images_with_signs() {
    for (zero, elem, least, zero_of_filters) in
        [(-7, "i8", -125, 0), (0, "u8", 0, 128), (-128, "i8", -125, 0)]
    {
        let body = format!(
            "  input x: i8[1, 5, 19, 21]
  init w: {elem}[9, 5, 3, 3] = {}
  init zx: i8[] = {}
  init zw: {elem}[] = {}
  y = ConvInteger(x, w, zx, zw) {{ pads: [2, 1, 0, 1] }}
  z = Cast(y) {{ to: 1 }}
  output z: f32[1, 9, 19, 21]",
            hex(numbers(9 * 5 * 9, least)),
            hex(std::iter::once(zero)),
            hex(std::iter::once(zero_of_filters)),
        );
        calls(&model(&[], &body));
    }
}
