"""The logarithm of the gamma function and its derivatives to 50 digits, for positive numbers, by Python's decimal numbers.

Stirling's series at x + 60, thirty terms of which leave an error below 1e-70, and the recurrences down to x.
"""

from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb

getcontext().prec = 60

SHIFT = 60
TERMS = 30
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")

BERNOULLI = [Fraction(1)]
for n in range(1, 2 * TERMS + 1):
    BERNOULLI.append(-sum(comb(n + 1, k) * BERNOULLI[k] for k in range(n)) / (n + 1))

# The logarithms of the gamma function at 1 and 2 are 0; the series gives a rounding error below this.
ROUNDING = Decimal("1e-50")


def bernoulli(n):
    """The Bernoulli number B_n."""
    return Decimal(BERNOULLI[n].numerator) / Decimal(BERNOULLI[n].denominator)


EVEN = [bernoulli(2 * n) for n in range(TERMS + 1)]


def ln_gamma(x):
    """The logarithm of the gamma function."""
    y = x + SHIFT
    series = sum(EVEN[n] / (2 * n * (2 * n - 1) * y ** (2 * n - 1)) for n in range(1, TERMS + 1))
    steps = Decimal(1)
    for i in range(SHIFT):
        steps *= x + i
    value = (y - Decimal("0.5")) * y.ln() - y + (2 * PI).ln() / 2 + series - steps.ln()
    return Decimal(0) if abs(value) < ROUNDING else value


def psi(x):
    """The first derivative of ln_gamma."""
    y = x + SHIFT
    series = sum(EVEN[n] / (2 * n * y ** (2 * n)) for n in range(1, TERMS + 1))
    return y.ln() - 1 / (2 * y) - series - sum(1 / (x + i) for i in range(SHIFT))


def slope(x):
    """The second derivative of ln_gamma."""
    y = x + SHIFT
    series = sum(EVEN[n] / y ** (2 * n + 1) for n in range(1, TERMS + 1))
    return 1 / y + 1 / (2 * y**2) + series + sum(1 / (x + i) ** 2 for i in range(SHIFT))
