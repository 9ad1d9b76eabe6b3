//! The vector registers of the processor that code is made for. The command detects those of the
//! machine and passes them to the code that makes tiles.

use crate::types::Scalar;

/// Vector registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// How many there are.
    pub count: i64,
    /// Bytes of one.
    pub bytes: i64,
}

impl Default for Registers {
    /// Those of AVX2.
    fn default() -> Registers {
        Registers { count: 16, bytes: 32 }
    }
}

impl Registers {
    /// Numbers of a type in one register, at least 1.
    pub fn lanes(self, scalar: Scalar) -> i64 {
        (self.bytes / scalar.bytes().max(1) as i64).max(1)
    }

    /// Registers for the sums of a tile: three quarters, the others are for the operands.
    pub fn sums(self) -> i64 {
        (self.count * 3 / 4).max(1)
    }

    /// Vectors in a row of a register tile. Each row of the tile loads one number of the left
    /// operand, each vector loads one vector of the right operand. So three vectors give more sums
    /// for a load than two, if there is room for as many rows.
    pub fn vectors(self) -> i64 {
        if self.count >= 32 { 3 } else { 2 }
    }

    /// Rows of such a tile.
    pub fn rows(self) -> i64 {
        (self.sums() / self.vectors()).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_fill_three_quarters() {
        let tile =
            |registers: Registers| (registers.rows(), registers.vectors() * registers.lanes(Scalar::F64));
        assert_eq!(tile(Registers { count: 32, bytes: 64 }), (8, 24));
        assert_eq!(tile(Registers::default()), (6, 8));
        assert_eq!(tile(Registers { count: 4, bytes: 8 }), (1, 2));
    }
}
