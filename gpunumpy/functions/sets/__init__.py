"""Sets: distinct elements, membership and set operations."""
