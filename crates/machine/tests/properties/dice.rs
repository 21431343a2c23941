//! Random draws from one number, so that a world is a list of numbers and can be made smaller.

/// A row of draws that depends on nothing but its seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: u32) -> u32 {
        u32::try_from(self.next() % u64::from(sides.max(1))).unwrap_or(0)
    }

    pub(crate) fn chance(&mut self, percent: u32) -> bool {
        self.roll(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        let most = u32::try_from(of.len()).unwrap_or(1);
        of[self.roll(most) as usize].clone()
    }

    pub(crate) fn maybe<T>(&mut self, percent: u32, value: T) -> Option<T> {
        self.chance(percent).then_some(value)
    }
}
