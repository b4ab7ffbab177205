"""`ndarray` as users see it: operators, methods, printing, and exchange with other libraries."""
