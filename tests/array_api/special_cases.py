"""The special cases that the array API standard 2025.12 writes down, as tables.

A case is ``conditions: result``; a condition is a word for each operand, or for each part of a complex operand.

============  ==========================================================================================
condition     holds where the operand is
============  ==========================================================================================
a number      that number, zeros by their sign; also ``nan`` and ``inf``
``±0 ±inf``   that number with either sign
``nan+ nan-`` NaN with that sign bit
``*``         anything
``fin``       finite: ``nz`` not zero too, ``pos`` and ``neg`` of that sign too
``>1 <-1``    on that side of a number, so not NaN
``int odd``   a whole number, an odd one; ``half`` is midway between two whole numbers
``abs>1``     of a magnitude for which the rest of the word holds
``same opp``  of the sign of the other operand; the other operand with the sign changed
``eq``        equal to the other operand
``!w v&w``    not `w`; both `v` and `w` (``&`` binds tighter than ``|``); ``v|w`` one of them
============  ==========================================================================================

``else`` alone stands for what no case before it holds for. A result is a word, or one for each part of a complex one:

============  ==========================================================================================
result        the value
============  ==========================================================================================
a number      that number, exactly
``pi/2 3pi/4`` an approximation to it
``±w``        `w` or ``-w``: the standard leaves the sign open
``v,w``       one of them: the standard allows both
``T F``       a truth value
``x1 -x1``    an operand, or minus an operand; ``abs1`` its magnitude
``+ -``       of that sign, or NaN
``even``      the even one of the two nearest whole numbers
``inf*cis``   infinity (or zero) times ``cos(b) + i sin(b)`` for the imaginary part `b`; ``-1`` less one
============  ==========================================================================================
"""

from __future__ import annotations

_NAN = "nan: nan"
_ODD = "nan: nan; 0: 0; -0: -0"
_WHOLE = "int: x1; inf: inf; -inf: -inf; 0: 0; -0: -0; nan: nan"
_LOG = "nan: nan; <0: nan; ±0: -inf; 1: 0; inf: inf"
_EITHER_NAN = "nan *: nan; * nan: nan"

_QUOTIENT = f"""{_EITHER_NAN}; ±inf ±inf: nan; ±0 ±0: nan; 0 >0: 0; -0 >0: -0; 0 <0: -0; -0 <0: 0;
    >0 0: inf; >0 -0: -inf; <0 0: -inf; <0 -0: inf"""
_SIGN_OF_QUOTIENT = "nz&same nz: +; nz&!same nz: -"

# Real floating operands.
REAL: dict[str, str] = {
    "abs": "nan: nan; -0: 0; -inf: inf",
    "acos": "nan: nan; >1: nan; <-1: nan; 1: 0",
    "acosh": "nan: nan; <1: nan; 1: 0; inf: inf",
    "add": f"""{_EITHER_NAN}; inf -inf: nan; -inf inf: nan; inf inf: inf; -inf -inf: -inf; inf fin: inf; -inf fin: -inf;
        fin inf: inf; fin -inf: -inf; -0 -0: -0; -0 0: 0; 0 -0: 0; 0 0: 0; ±0 nz: x2; nz ±0: x1; nz&opp *: 0""",
    "asin": f"{_ODD}; >1: nan; <-1: nan",
    "asinh": f"{_ODD}; inf: inf; -inf: -inf",
    "atan": f"{_ODD}; inf: pi/2; -inf: -pi/2",
    "atan2": f"""{_EITHER_NAN}; >0 0: pi/2; >0 -0: pi/2; 0 >0: 0; 0 0: 0; 0 -0: pi; 0 <0: pi; -0 >0: -0; -0 0: -0;
        -0 -0: -pi; -0 <0: -pi; <0 0: -pi/2; <0 -0: -pi/2; pos inf: 0; pos -inf: pi; neg inf: -0; neg -inf: -pi;
        inf fin: pi/2; -inf fin: -pi/2; inf inf: pi/4; inf -inf: 3pi/4; -inf inf: -pi/4; -inf -inf: -3pi/4""",
    "atanh": f"{_ODD}; <-1: nan; >1: nan; -1: -inf; 1: inf",
    "ceil": _WHOLE,
    "clip": "nan * *: nan; * nan *: nan; * * nan: nan",
    "copysign": """!nan <0: -abs1; !nan -0: -abs1; !nan 0: abs1; !nan >0: abs1; !nan nan-: -abs1; !nan nan+: abs1;
        nan <0: nan-; nan -0: nan-; nan 0: nan+; nan >0: nan+; nan nan-: nan-; nan nan+: nan+""",
    "cos": "nan: nan; ±0: 1; ±inf: nan",
    "cosh": "nan: nan; ±0: 1; ±inf: inf",
    "divide": f"""{_QUOTIENT}; inf pos: inf; inf neg: -inf; -inf pos: -inf; -inf neg: inf;
        pos inf: 0; pos -inf: -0; neg inf: -0; neg -inf: 0; {_SIGN_OF_QUOTIENT}""",
    "equal": f"{_EITHER_NAN.replace(': nan', ': F')}; inf inf: T; -inf -inf: T; ±0 ±0: T; fin&eq fin: T; else: F",
    "exp": "nan: nan; ±0: 1; inf: inf; -inf: 0",
    "expm1": f"{_ODD}; inf: inf; -inf: -1",
    "floor": _WHOLE,
    # NumPy's divmod pairs with Python's %, which the standard allows: NaN of an infinity, and -1.
    "floor_divide": f"""{_QUOTIENT}; inf pos: inf,nan; inf neg: -inf,nan; -inf pos: -inf,nan; -inf neg: inf,nan;
        pos inf: 0; pos -inf: -0,-1; neg inf: -0,-1; neg -inf: 0; {_SIGN_OF_QUOTIENT}""",
    "hypot": """±inf *: inf; * ±inf: inf; ±0 *: abs2; * ±0: abs1; fin|nan nan: nan; nan fin|nan: nan""",
    "isfinite": "±inf: F; nan: F; fin: T",
    "isinf": "±inf: T; else: F",
    "isnan": "nan: T; else: F",
    "log": _LOG,
    "log1p": f"{_ODD}; <-1: nan; -1: -inf; inf: inf",
    "log2": _LOG,
    "log10": _LOG,
    "logaddexp": f"{_EITHER_NAN}; inf !nan: inf; !nan inf: inf",
    "maximum": _EITHER_NAN,
    "minimum": _EITHER_NAN,
    "multiply": f"""{_EITHER_NAN}; ±inf ±0: nan; ±0 ±inf: nan; same *: +; !same *: -; ±inf ±inf: ±inf; ±inf nz: ±inf;
        nz ±inf: ±inf""",
    "nextafter": f"{_EITHER_NAN}; -0 0: 0; 0 -0: -0",
    # "Remaining cases" would take in an infinity beside a finite number, which `equal` has as different.
    "not_equal": "nan *: T; * nan: T; inf -inf: T; -inf inf: T; fin&!eq fin: T; eq *: F",
    "pow": """!1 nan: nan; * ±0: 1; nan !±0: nan; abs>1 inf: inf; abs>1 -inf: 0; abs1 ±inf: 1; 1 !nan: 1;
        abs<1 inf: 0; abs<1 -inf: inf; inf >0: inf; inf <0: 0; -inf >0&odd: -inf; -inf >0&!odd: inf; -inf <0&odd: -0;
        -inf <0&!odd: 0; 0 >0: 0; 0 <0: inf; -0 >0&odd: -0; -0 >0&!odd: 0; -0 <0&odd: -inf; -0 <0&!odd: inf;
        neg fin&!int: nan""",
    "remainder": f"""{_EITHER_NAN}; ±inf ±inf: nan; ±0 ±0: nan; 0 >0: 0; -0 >0: 0; 0 <0: -0; -0 <0: -0; >0 ±0: nan;
        <0 ±0: nan; ±inf pos: nan; ±inf neg: nan; pos inf: x1; pos -inf: x2; neg inf: x2; neg -inf: x1""",
    "round": f"{_WHOLE}; half: even",
    "sign": "<0: -1; ±0: ±0; >0: 1; nan: nan",
    "signbit": "0: F; -0: T; inf: F; -inf: T; pos: F; neg: T; nan+: F; nan-: T",
    "sin": f"{_ODD}; ±inf: nan",
    "sinh": f"{_ODD}; inf: inf; -inf: -inf",
    "sqrt": f"{_ODD}; <0: nan; inf: inf",
    "tan": f"{_ODD}; ±inf: nan",
    "tanh": f"{_ODD}; inf: 1; -inf: -1",
    "trunc": _WHOLE,
}

_COMPLEX_LOG = """fin inf: inf pi/2; fin nan: nan nan; -inf pos: inf pi; inf pos: inf 0; -inf inf: inf 3pi/4;
    inf inf: inf pi/4; ±inf nan: inf nan; nan fin: nan nan; nan inf: inf nan; nan nan: nan nan"""
_COMPLEX_EXP = (
    "fin inf: nan nan; fin nan: nan nan; inf inf: ±inf nan; inf nan: ±inf nan; nan 0: nan 0; nan !±0: nan nan"
)

# One complex operand: a condition for the real part and one for the imaginary part.
COMPLEX: dict[str, str] = {
    "abs": """±inf *: inf; * ±inf: inf; ±0 *: abs2; * ±0: abs1; nan fin: nan; fin nan: nan; nan nan: nan""",
    "acos": """±0 0: pi/2 -0; ±0 nan: pi/2 nan; fin inf: pi/2 -inf; nz nan: nan nan; -inf pos: pi -inf; inf pos: 0 -inf;
        -inf inf: 3pi/4 -inf; inf inf: pi/4 -inf; ±inf nan: nan ±inf; nan fin: nan nan; nan inf: nan -inf;
        nan nan: nan nan""",
    "acosh": """±0 0: 0 pi/2; fin inf: inf pi/2; nz nan: nan nan; 0 nan: nan ±pi/2; -inf pos: inf pi; inf pos: inf 0;
        -inf inf: inf 3pi/4; inf inf: inf pi/4; ±inf nan: inf nan; nan fin: nan nan; nan inf: inf nan;
        nan nan: nan nan""",
    "asinh": """0 0: 0 0; pos inf: inf pi/2; fin nan: nan nan; inf pos: inf 0; inf inf: inf pi/4; nan 0: nan 0;
        nan nz: nan nan; nan inf: ±inf nan; nan nan: nan nan""",
    "atanh": """0 0: 0 0; 0 nan: 0 nan; 1 0: inf 0; pos inf: 0 pi/2; nz nan: nan nan; inf pos: 0 pi/2; inf inf: 0 pi/2;
        inf nan: 0 nan; nan fin: nan nan; nan inf: ±0 pi/2; nan nan: nan nan""",
    "cosh": """0 0: 1 0; 0 inf: nan ±0; 0 nan: nan ±0; nz inf: nan nan; nz nan: nan nan; inf 0: inf 0; inf nz: inf*cis;
        inf inf: ±inf nan; inf nan: inf nan; nan ±0: nan ±0; nan nz: nan nan; nan nan: nan nan""",
    "exp": f"""±0 0: 1 0; inf 0: inf 0; -inf fin: 0*cis; inf nz: inf*cis; -inf inf: ±0 ±0; -inf nan: ±0 ±0;
        {_COMPLEX_EXP}""",
    "expm1": f"""±0 0: 0 0; inf 0: inf 0; -inf fin: 0*cis-1; inf nz: inf*cis-1; -inf inf: -1 ±0; -inf nan: -1 ±0;
        {_COMPLEX_EXP}""",
    "isfinite": "nan *: F; * nan: F; ±inf *: F; * ±inf: F; fin fin: T",
    "isinf": "±inf *: T; fin|nan ±inf: T; else: F",
    "isnan": "nan *: T; * nan: T; else: F",
    "log": f"-0 0: -inf pi; 0 0: -inf 0; {_COMPLEX_LOG}",
    "log1p": f"-1 0: -inf 0; {_COMPLEX_LOG}",
    # NumPy has the direction of an infinity beside a NaN, the standard NaN.
    "sign": "±0 ±0: ±0 ±0; nan fin|nan: nan nan; fin|nan nan: nan nan",
    "sinh": """0 0: 0 0; 0 inf: ±0 nan; 0 nan: ±0 nan; pos inf: nan nan; pos nan: nan nan; inf 0: inf 0;
        inf pos: inf*cis; inf inf: ±inf nan; inf nan: ±inf nan; nan 0: nan 0; nan nz: nan nan; nan nan: nan nan""",
    "sqrt": """±0 0: 0 0; * inf: inf inf; fin nan: nan nan; -inf pos: 0 inf; inf pos: inf 0; -inf nan: nan ±inf;
        inf nan: inf nan; nan !inf&!-inf: nan nan""",
    "tanh": """0 0: 0 0; nz inf: nan nan; 0 inf: 0 nan; nz nan: nan nan; 0 nan: 0 nan; inf pos: 1 0; inf inf: 1 ±0;
        inf nan: 1 ±0; nan 0: nan 0; nan nz: nan nan; nan nan: nan nan""",
}

# What is to be as ``f(z * 1j)``, and as ``-1j * f(z * 1j)``; and as ``log(z)`` over the logarithm of a base.
TURNED: dict[str, str] = {"cos": "cosh"}
TURNED_BACK: dict[str, str] = {"asin": "asinh", "atan": "atanh", "sin": "sinh", "tan": "tanh"}
BASES: dict[str, int] = {"log2": 2, "log10": 10}

# Two complex operands: conditions for the parts of the one, then of the other.
COMPLEX_PAIRS: dict[str, str] = {
    "divide": "nan nan nan nan: nan nan",
    "equal": "nan * * *: F; * nan * *: F; * * nan *: F; * * * nan: F",
    "multiply": "nan nan nan nan: nan nan",
    "not_equal": "nan * * *: T; * nan * *: T; * * nan *: T; * * * nan: T",
}

# f(conj(z)) = conj(f(z)); f(-x) = -f(x); f(-x) = f(x).
CONJUGATE = "acos acosh asin asinh atan atanh cosh exp expm1 log log1p log2 log10 sinh sqrt tanh"
ODD, EVEN = "sinh tanh asinh atanh", "cosh"

# The operators of Python that are to be as functions are.
OPERATORS = {
    sign: name
    for names in (
        "+ add, - subtract, * multiply, / divide, // floor_divide, % remainder, ** pow",
        "== equal, != not_equal, < less, <= less_equal, > greater, >= greater_equal",
    )
    for sign, name in map(str.split, names.split(","))
}

# Reductions: the elements, the options, the result. (Where no degrees of freedom are left, the standard has NaN, and
# NumPy has infinity if elements differ.)
REDUCTIONS: tuple[tuple[str, str, str, str], ...] = (
    *((name, "1 nan 2", "", "nan") for name in ("max", "min", "mean", "prod", "std", "sum", "var")),
    *(("mean", "", "", "nan"), ("prod", "", "", "1"), ("sum", "", "", "0")),
    *((name, "1", f"correction={n}", "nan") for name in ("std", "var") for n in (1, 1.0, 2)),
    *((name, "", "", "nan") for name in ("std", "var")),
    *(("sum", "inf -inf", "", "nan"), ("sum", "inf 1", "", "inf"), ("sum", "-inf 1", "", "-inf")),
    *(("prod", "inf 0", "", "nan"), ("prod", "inf -2", "", "-inf"), ("prod", "-1 0", "", "-0")),
    *(
        ("max", "-inf 1", "", "1"),
        ("min", "-inf 1", "", "-inf"),
        ("max", "nan inf", "", "nan"),
        ("min", "nan -inf", "", "nan"),
    ),
)
# Scans: the elements, the results.
SCANS: tuple[tuple[str, str, str], ...] = (
    ("cumulative_sum", "1 inf 2 -inf 3", "1 inf inf nan nan"),
    ("cumulative_sum", "nan 1", "nan nan"),
    ("cumulative_prod", "2 inf -1 0 5", "2 inf -inf nan nan"),
    ("cumulative_prod", "-1 0 nan", "-1 -0 nan"),
)
# What Python's conversions make of one element: the value, or the exception. Of NaN `complex` makes NaN + 0j, as it
# does with NumPy; the standard has NaN + NaN j.
CONVERSIONS: tuple[tuple[str, str, object], ...] = (
    *(("bool", word, True) for word in ("nan", "inf", "-inf", "1")),
    *(("bool", word, False) for word in ("0", "-0")),
    *(("int", "-0", 0), ("int", "2.5", 2), ("int", "-2.5", -2), ("int", "inf", OverflowError)),
    *(("int", "-inf", OverflowError), ("int", "nan", ValueError)),
    *(("complex", "inf", complex("inf")), ("complex", "-inf", complex("-inf")), ("complex", "2.5", 2.5 + 0j)),
)
