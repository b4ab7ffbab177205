"""Convolutions of vectors."""
