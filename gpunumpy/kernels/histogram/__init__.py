"""Counts and sums of weights by bin on each device."""
