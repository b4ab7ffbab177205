"""Fourier transforms: the implementations of the library call "fft"."""
