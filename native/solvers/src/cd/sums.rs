//! The sums of a pass over the coordinates.

/// Most points of a line search.
pub const MAX_POINTS: usize = 24;

/// Most intercepts of a certificate.
pub const MAX_CANDIDATES: usize = 16;

/// Sums and maxima over some coordinates, with the names of [`RoundScalars`](super::RoundScalars).
#[derive(Debug, Clone, Copy)]
pub struct Sums {
    pub value: f64,
    pub conjugate: f64,
    pub ratio: f64,
    pub correlation: f64,
    pub slope: [f64; 2],
    pub curve: [f64; 3],
    pub samples: [f64; MAX_POINTS],
    pub losses: [f64; MAX_CANDIDATES],
}

impl Sums {
    pub const ZERO: Self = Self {
        value: 0.0,
        conjugate: 0.0,
        ratio: 0.0,
        correlation: 0.0,
        slope: [0.0; 2],
        curve: [0.0; 3],
        samples: [0.0; MAX_POINTS],
        losses: [0.0; MAX_CANDIDATES],
    };

    /// Adds the sums, and keeps the larger maxima.
    pub fn add(&mut self, other: &Self) {
        self.value += other.value;
        self.conjugate += other.conjugate;
        self.ratio = self.ratio.max(other.ratio);
        self.correlation = self.correlation.max(other.correlation);
        add(&mut self.slope, &other.slope);
        add(&mut self.curve, &other.curve);
        add(&mut self.samples, &other.samples);
        add(&mut self.losses, &other.losses);
    }
}

fn add(sums: &mut [f64], others: &[f64]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}
