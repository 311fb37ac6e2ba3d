/// See [`Loss::PseudoHuber`].
#[derive(Clone, Copy)]
struct PseudoHuber;

impl Formulas for PseudoHuber {
    #[inline(always)]
    fn all(self, z: f64, y: f64) -> (f64, f64, f64) {
        let residual = z - y;
        let square = residual * residual;
        let root = (1.0 + square).sqrt();
        (square / (1.0 + root), residual / root, 1.0 / (root * root * root))
    }

    #[inline(always)]
    fn quadratic(self, y: f64) -> (f64, f64) {
        (-y, 0.0)
    }

    #[inline(always)]
    fn not_quadratic(self, a: f64, _: f64) -> f64 {
        if a.abs() <= 1.0 {
            1.0 - (1.0 - a * a).sqrt()
        } else {
            f64::INFINITY
        }
    }

    /// Bisection for `t = a' / sqrt(1 - a'^2)`, where the derivative is `t - (y - z) + q (a' - a)`.
    fn dual_step(self, a: f64, z: f64, y: f64, q: f64) -> f64 {
        let (mut low, mut high) = ((y - z) - q * (1.0 - a), (y - z) + q * (1.0 + a));
        let variable = |t: f64| t / (1.0 + t * t).sqrt();
        for _ in 0..100 {
            let t = 0.5 * low + 0.5 * high;
            if t - (y - z) + q * (variable(t) - a) > 0.0 {
                high = t;
            } else {
                low = t;
            }
        }
        variable(0.5 * low + 0.5 * high)
    }
}

