"""Stable sorts on each device."""
