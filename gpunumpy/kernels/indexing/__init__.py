"""Masks and indexed writes on each device."""
