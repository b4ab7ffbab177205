"""Binary search on each device."""
