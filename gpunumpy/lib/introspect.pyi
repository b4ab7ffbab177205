# Made by tools/stubs with NumPy 2.5.5; CONTRIBUTING.md says how.
# mypy: disable-error-code="override, overload-overlap"
def opt_func_info(
    func_name: str | None = None, signature: str | None = None
) -> dict[str, dict[str, dict[str, str]]]: ...

__all__ = ["opt_func_info"]
