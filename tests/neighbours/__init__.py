"""Libraries beside this package, given its arrays: `docs/neighbours.md` says what the tests here show."""
