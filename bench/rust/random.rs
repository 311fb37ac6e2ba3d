//! Numbers that generated data are drawn from.

use dwell_solvers::order::SplitMix64;

/// A stream of them: a function of a seed and of the stream's number.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64, stream: u32) -> Self {
        Self(SplitMix64::for_epoch(seed, stream, 0))
    }

    /// In (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) * (1.0 / (1u64 << 53) as f64)
    }

    /// N(0, 1), by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Logarithm of a Gamma variate, which is itself too small for a number where the shape is small: that of shape + 1 (Marsaglia, Tsang, "A simple
    /// method for generating gamma variables", ACM Transactions on Mathematical Software 26, 2000), times U^(1/shape).
    pub fn log_gamma(&mut self, shape: f64) -> f64 {
        let d = shape + 2.0 / 3.0;
        loop {
            let x = self.normal();
            let root = 1.0 + x / (9.0 * d).sqrt();
            let v = root * root * root;
            if v > 0.0 && self.uniform().ln() < x * x / 2.0 + d - d * v + d * v.ln() {
                return (d * v).ln() + self.uniform().ln() / shape;
            }
        }
    }

    /// Dirichlet numbers.
    pub fn dirichlet(&mut self, shapes: &[f64]) -> Vec<f64> {
        let logarithms: Vec<f64> = shapes.iter().map(|&shape| self.log_gamma(shape)).collect();
        let most = logarithms.iter().copied().fold(f64::MIN, f64::max);
        let weights: Vec<f64> = logarithms.iter().map(|x| (x - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }
}

/// Draws places with given probabilities.
pub struct Cumulative(Vec<f64>);

impl Cumulative {
    pub fn new(weights: impl IntoIterator<Item = f64>) -> Self {
        let mut total = 0.0;
        Self(
            weights
                .into_iter()
                .map(|weight| {
                    total += weight;
                    total
                })
                .collect(),
        )
    }

    pub fn draw(&self, random: &mut Random) -> usize {
        let last = self.0.len() - 1;
        let at = random.uniform() * self.0[last];
        self.0.partition_point(|&c| c < at).min(last)
    }
}
