"""Types for users: makes the stubs (``.pyi``) of the public modules. ``python -m tools.stubs`` writes them."""
