"""The words of congruential generators as CUDA C++: the jumps to a thread's first position, and its walk from there."""

from __future__ import annotations

from ...core.ops.streams import CONGRUENTIAL, DIGIT_BITS, DIGITS, MODULUS, digits, jump


def wide(value: int) -> str:
    """A number of 128 bits as C."""
    return f"{{{value >> 64:#x}ull, {value % (1 << 64):#x}ull}}"


def walk(name: str, step: int, leap: int) -> str:
    """The way of a thread whose positions differ by `step`, or by `leap`, as C."""
    pairs = (jump(CONGRUENTIAL[name][0], way % MODULUS) for way in (step, leap))
    (step_x, step_c), (leap_x, leap_c) = (map(wide, pair) for pair in pairs)
    return f"({step}, {step_x}, {step_c}, {leap}, {leap_x}, {leap_c})"


def stand(name: str, walk: str, place: str, back: int, state: str) -> str:
    """Let a walk stand so far `back` from a place, as C; `state` are the arguments of the row."""
    power, total = map(wide, jump(CONGRUENTIAL[name][0], -back % MODULUS))
    return f"op::{name}_stand({walk}, {place}, {power}, {total}, {state})"


def source_of(name: str) -> str:
    """The function of a congruential generator: word i, given the state at word 0, and c.

    In i steps x grows by a sum of powers of the multiplier times ``(a - 1) * x + c``.
    """
    multiplier, output, _ = CONGRUENTIAL[name]
    listed = ", ".join(wide(half) for pair in digits(multiplier) for half in pair)
    return f"""
__device__ const Wide {name}_jumps[{2 * DIGITS << DIGIT_BITS}] = {{{listed}}};
namespace op {{
__device__ __noinline__ Wide {name}_sum(i64 i) {{
  const Wide* jumps = {name}_jumps;
  Wide sum{{0, 0}};
  // What comes before all words is asked for by threads that have nothing to do.
  for (; i > 0; i >>= {DIGIT_BITS}, jumps += {2 << DIGIT_BITS}) {{
    const int digit = int(i & {(1 << DIGIT_BITS) - 1});
    sum = wide_step(sum, jumps[2 * digit], jumps[2 * digit + 1]);
  }}
  return sum;
}}
__device__ __forceinline__ Wide {name}_grown(Wide x, Wide sum, Wide c) {{
  return wide_step(sum, wide_step(x, {wide(multiplier - 1)}, c), x);
}}
__device__ __forceinline__ void {name}_stand(
    Walk& walk, i64 i, Wide back_x, Wide back_c, u64 x_hi, u64 x_lo, u64 c_hi, u64 c_lo) {{
  const Wide c{{c_hi, c_lo}};
  walk.stand({name}_grown({{x_hi, x_lo}}, wide_step({name}_sum(i), back_x, back_c), c), c);
}}
__device__ __forceinline__ u64 {name}(Walk& walk, Sure sure, i64 i, u64 x_hi, u64 x_lo, u64 c_hi, u64 c_lo) {{
  const Wide c{{c_hi, c_lo}};
  return {output}(walk.to(sure, i, c, [=](i64 to) {{ return {name}_grown({{x_hi, x_lo}}, {name}_sum(to), c); }}));
}}
}}  // namespace op
"""
