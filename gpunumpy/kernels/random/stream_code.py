"""The words of linear congruential generators as CUDA C++.

A thread jumps to its first position and walks on from there (`Walk` in streams.cuh).
"""

from __future__ import annotations

from ...core.ops.streams import CONGRUENTIAL, DIGIT_BITS, DIGITS, MODULUS, digits, jump


def wide(value: int) -> str:
    """Return a number of 128 bits as a C initializer."""
    return f"{{{value >> 64:#x}ull, {value % (1 << 64):#x}ull}}"


def walk_arguments(name: str, step: int, leap: int) -> str:
    """Return, as C, the constructor arguments of a `Walk` whose positions differ by `step`, or by `leap`."""
    jumps = (jump(CONGRUENTIAL[name][0], int(distance) % MODULUS) for distance in (step, leap))
    (step_x, step_c), (leap_x, leap_c) = (map(wide, pair) for pair in jumps)
    return f"({step}, {step_x}, {step_c}, {leap}, {leap_x}, {leap_c})"


def start_walk(name: str, walk: str, place: str, back: int, state: str) -> str:
    """Return, as C, the call that starts a walk `back` positions before `place`; `state`: the op's other arguments."""
    power, total = map(wide, jump(CONGRUENTIAL[name][0], -int(back) % MODULUS))
    return f"op::{name}_start_walk({walk}, {place}, {power}, {total}, {state})"


def source_of(name: str) -> str:
    """Return, as C, the function that computes word i of a congruential generator from c and the state at word 0.

    In i steps the state x grows by ``(a - 1) * x + c`` times a sum of powers of the multiplier a.
    """
    multiplier, output, _ = CONGRUENTIAL[name]
    listed = ", ".join(wide(half) for pair in digits(multiplier) for half in pair)
    return f"""
__device__ const Wide {name}_jumps[{2 * DIGITS << DIGIT_BITS}] = {{{listed}}};
namespace op {{
__device__ __noinline__ Wide {name}_sum(i64 i) {{
  const Wide* jumps = {name}_jumps;
  Wide sum{{0, 0}};
  // Threads without work ask for negative positions; any word will do for them.
  for (; i > 0; i >>= {DIGIT_BITS}, jumps += {2 << DIGIT_BITS}) {{
    const int digit = int(i & {(1 << DIGIT_BITS) - 1});
    sum = wide_step(sum, jumps[2 * digit], jumps[2 * digit + 1]);
  }}
  return sum;
}}
__device__ __forceinline__ Wide {name}_grown(Wide x, Wide sum, Wide c) {{
  return wide_step(sum, wide_step(x, {wide(multiplier - 1)}, c), x);
}}
__device__ __forceinline__ void {name}_start_walk(
    Walk& walk, i64 i, Wide back_x, Wide back_c, u64 x_hi, u64 x_lo, u64 c_hi, u64 c_lo) {{
  const Wide c{{c_hi, c_lo}};
  walk.start({name}_grown({{x_hi, x_lo}}, wide_step({name}_sum(i), back_x, back_c), c), c);
}}
__device__ __forceinline__ u64 {name}(Walk& walk, Sure sure, i64 i, u64 x_hi, u64 x_lo, u64 c_hi, u64 c_lo) {{
  const Wide c{{c_hi, c_lo}};
  return {output}(walk.to(sure, i, c, [=](i64 to) {{ return {name}_grown({{x_hi, x_lo}}, {name}_sum(to), c); }}));
}}
}}  // namespace op
"""
