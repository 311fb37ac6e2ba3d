//! Digamma, trigamma and the logarithm of gamma of positive numbers, in double precision.
//!
//! Source of the series: NIST Digital Library of Mathematical Functions, 5.5.2, 5.11.2 and 5.15.8.

/// From here on the asymptotic series are exact to the last digits: their first omitted terms are below 1e-15 of the value.
const ASYMPTOTIC: f64 = 10.0;

/// Steps of the recurrence in [`exp_digamma`].
const STEPS: u32 = 6;

/// Above this [`exp_digamma`] needs no recurrence.
pub(super) const DIRECT: f64 = 1000.0;

/// `psi(x) = d/dx ln Gamma(x)`; NaN unless `x > 0`.
///
/// `psi(x) = psi(x + 1) - 1/x` up to 10, then `ln x - 1/(2x) - sum_n B_2n / (2n x^2n)` up to the power -14.
pub fn digamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (mut y, mut below) = (x, 0.0);
    while y < ASYMPTOTIC {
        below += 1.0 / y;
        y += 1.0;
    }
    let i = (1.0 / y) * (1.0 / y);
    let series = i
        * (1.0 / 12.0
            - i * (1.0 / 120.0
                - i * (1.0 / 252.0
                    - i * (1.0 / 240.0
                        - i * (1.0 / 132.0 - i * (691.0 / 32760.0 - i * (1.0 / 12.0)))))));
    y.ln() - 0.5 / y - series - below
}

/// `psi'(x)`; NaN unless `x > 0`; infinite below 1e-154, where it exceeds the largest double.
///
/// `psi'(x) = psi'(x + 1) + 1/x^2` up to 10, then `1/x + 1/(2x^2) + sum_n B_2n / x^(2n+1)` up to the power -15.
pub fn trigamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (mut y, mut below) = (x, 0.0);
    while y < ASYMPTOTIC {
        below += (1.0 / y) * (1.0 / y);
        y += 1.0;
    }
    let r = 1.0 / y;
    let i = r * r;
    let series = 1.0 / 6.0
        - i * (1.0 / 30.0
            - i * (1.0 / 42.0
                - i * (1.0 / 30.0 - i * (5.0 / 66.0 - i * (691.0 / 2730.0 - i * (7.0 / 6.0))))));
    r + 0.5 * i + r * i * series + below
}

/// `ln Gamma(x)`; NaN unless `x > 0`.
pub fn ln_gamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    libm::lgamma(x)
}

/// The pair (E, S) with `exp(psi(x)) = E exp(-S)`, for x > 0. For a small x the product leaves the range of numbers; E and S do not.
///
/// Up to 1000 `S = sum over i = 0..5 of 1 / (x + i)` and `E = exp(psi(x + 6))`; above, `S = 0`.
pub fn exp_digamma(x: f64) -> (f64, f64) {
    if x > DIRECT {
        return (digamma(x).exp(), 0.0);
    }
    let sum = (0..STEPS).map(|i| 1.0 / (x + f64::from(i))).sum();
    (digamma(x + f64::from(STEPS)).exp(), sum)
}
