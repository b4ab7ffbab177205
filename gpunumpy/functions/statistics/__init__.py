"""Statistics: averages, quantiles, histograms, and reductions that ignore NaN."""
