"""Correlations, and so convolutions, of vectors."""
