"""The Black-Scholes value of a strip of European calls, over a grid of spot prices and volatilities."""

import gpunumpy as np

STRIKE = 100.0
RATE = 0.03


def normal_cdf(x):
    """The standard normal distribution function.

    NumPy has no error function, so this is the rational approximation 26.2.17 of Abramowitz and Stegun's Handbook of
    Mathematical Functions, whose absolute error is below 7.5e-8.
    """
    t = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi) * series
    return np.where(x >= 0, 1.0 - tail, tail)


def call(spot, volatility, years):
    """The value of one call that expires in `years`."""
    deviation = volatility * np.sqrt(years)
    d1 = (np.log(spot / STRIKE) + (RATE + 0.5 * volatility**2) * years) / deviation
    d2 = d1 - deviation
    return spot * normal_cdf(d1) - STRIKE * np.exp(-RATE * years) * normal_cdf(d2)


def run(size=1024, steps=24, progress=range):
    """Return the value of `steps` calls, one expiring each month, at `size` volatilities by `size` spot prices."""
    spot = np.linspace(50.0, 150.0, size)[None, :]
    volatility = np.linspace(0.05, 0.8, size)[:, None]
    value = np.zeros((size, size))
    for month in progress(steps):
        value += call(spot, volatility, (month + 1) / 12)
    return value


def picture(value):
    """The values themselves."""
    return value


def main():
    one_year = call(np.array(100.0), np.array(0.2), 1.0)
    print(f"one call at the money, one year, 20% volatility: {float(one_year):.4f}")
    print(f"mean value of the strips: {run().mean():.4f}")


if __name__ == "__main__":
    main()
