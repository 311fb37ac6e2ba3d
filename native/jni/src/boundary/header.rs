//! The header of a result: slots of doubles before its vector. `dwell.jni.ResultHeader` says what each is.

pub use crate::boundary::constants::header::*;

/// The slots that this library writes.
pub type Header = [f64; FIRST_FREE];

/// A header in which no slot has a meaning yet.
pub const EMPTY: Header = [0.0; FIRST_FREE];

/// Writes `numbers` to the first `slots`, as many as have room.
pub fn fill(slots: &mut [f64], numbers: &[f64]) {
    for (slot, number) in slots.iter_mut().zip(numbers) {
        *slot = *number;
    }
}

/// The bytes of a header, little endian.
pub fn bytes(header: &Header) -> [u8; 8 * FIRST_FREE] {
    let mut bytes = [0; 8 * FIRST_FREE];
    for (slot, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(header) {
        *slot = number.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_to_their_slots() {
        let mut header = EMPTY;
        fill(&mut header[FIRST_FREE - 2..], &[1.0, 2.0, 3.0]);
        fill(&mut header[NONZEROS..], &[4.0]);
        let mut expected = EMPTY;
        (expected[54], expected[55], expected[6]) = (1.0, 2.0, 4.0);
        assert_eq!(header, expected);
        let bytes = bytes(&header);
        assert_eq!(bytes[48..56], 4.0_f64.to_le_bytes());
        assert_eq!(bytes[8 * 55..], 2.0_f64.to_le_bytes());
    }
}
