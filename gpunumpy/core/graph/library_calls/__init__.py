"""The registry of library calls: one record for each call, in a module for each family."""
