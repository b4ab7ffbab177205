"""Masks, indexed writes and rolls on each device."""
