"""Wrong rules about numbers: types, casts and last digits changed, judged by exact arithmetic.

    python tests/python/rule_numbers.py [--step 1]

Each rule replaces what it matches by what is the same over the reals. Whether it is the same in its
types is decided here, by fractions rounded half to even and integers that wrap, on numbers that know
nothing of the verifier: all of a narrow type, of a wide one the limits, the neighbours of powers of
two, and those of ties of every narrower type. What differs must not be said to hold.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import math
import random
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction

import gsl

INTEGERS = {f"{sign}int{bits}": (sign, bits) for bits in (8, 16, 32, 64) for sign in ("", "u")}
# Digits behind the leading one, exponents of the greatest and of the least normal number.
FLOATS = {
    "float64": (52, 1023, -1022), "float32": (23, 127, -126),
    "float16": (10, 15, -14), "bfloat16": (7, 127, -126),
}  # fmt: skip
TYPES = [*INTEGERS, *FLOATS]

Number = Fraction | float
"""A number, or an infinity."""


@dataclasses.dataclass
class Case:
    """A rule, and how an input is found on which both sides differ."""

    text: str
    find: Callable[[], object]

    @functools.cached_property
    def witness(self) -> object:
        """Such an input; none where there is none."""
        return self.find()

    @property
    def wrong(self) -> bool:
        return self.witness is not None


def limits(dtype: str) -> tuple[int, int]:
    """The least and greatest integer of a type."""
    sign, bits = INTEGERS[dtype]
    return (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def rounded(x: Number, dtype: str) -> Number:
    """The nearest number of a floating-point type, of two the even one."""
    if isinstance(x, float) or x == 0:
        return x
    digits, high, low = FLOATS[dtype]
    x = Fraction(x)
    exponent = abs(x.numerator).bit_length() - x.denominator.bit_length()
    exponent -= abs(x.numerator) << max(-exponent, 0) < x.denominator << max(exponent, 0)
    unit = power(max(exponent, low) - digits)
    out = round(x / unit) * unit  # Half to even, of a fraction.
    most = (2 - Fraction(1, 2**digits)) * Fraction(2) ** high
    return out if abs(out) <= most else math.copysign(math.inf, out)


@functools.cache
def power(exponent: int) -> Fraction:
    """A power of two."""
    return Fraction(2) ** exponent


def cast(x: Number, dtype: str, source: str) -> Number | None:
    """A number in another type; none where the standard leaves open what comes out."""
    if dtype == "bfloat16" and source in INTEGERS:
        # Runtimes go through float32, of which the standard says nothing: two roundings may be another number.
        once = rounded(x, dtype)
        return once if once == rounded(rounded(x, "float32"), dtype) else None
    if dtype in FLOATS:
        return rounded(x, dtype)
    if isinstance(x, float):
        return None
    least, greatest = limits(dtype)
    whole = Fraction(math.trunc(x))
    if source in FLOATS:
        return whole if least <= whole <= greatest else None
    return wrapped(whole, dtype)


def wrapped(x: Fraction, dtype: str) -> Fraction:
    """An integer modulo the size of its type."""
    least, greatest = limits(dtype)
    return Fraction((int(x) - least) % (greatest - least + 1) + least)


@functools.cache
def samples(dtype: str) -> list[Number]:
    """Numbers of a type at which rounding or wrapping may go another way."""
    if dtype in INTEGERS:
        least, greatest = limits(dtype)
        if greatest < 2**8:
            return [Fraction(n) for n in range(least, greatest + 1)]
        near = {n + d for n in edges(greatest.bit_length()) for d in (-1, 0, 1)} | {least, least + 1}
        signed = near | {-n for n in near}
        return [Fraction(n) for n in sorted(signed) if least <= n <= greatest]
    digits, high, low = FLOATS[dtype]
    out: set[Number] = set()
    for narrow, (fewer, top, bottom) in FLOATS.items():
        if fewer >= digits:
            continue
        for exponent in {0, 1, 5, fewer + 2, top, bottom, bottom - fewer - 1}:
            for leading in (2**fewer, 2**fewer + 1, 2 ** (fewer + 1) - 1):
                tie = (Fraction(leading) + Fraction(1, 2)) * Fraction(2) ** (exponent - fewer)
                for little in range(fewer + 2, digits + 1, 3):
                    out |= {tie + s * Fraction(2) ** (exponent - little) for s in (-1, 0, 1)}
    for whole in [*edges(66), 0, 1, 2, 3, 5, 100]:
        out |= {Fraction(whole), whole + Fraction(1, 2), whole - Fraction(1, 2**20), whole - Fraction(1, 2**45)}
    out |= {-x for x in out}
    return sorted({r for x in out if isinstance(r := rounded(x, dtype), Fraction)})


def edges(bits: int) -> set[int]:
    """Powers of two, and ties of every floating-point type with their neighbours."""
    out = {2**k for k in range(bits + 1)}
    for digits, _, _ in FLOATS.values():
        for exponent in range(digits + 2, bits):
            half = 2 ** (exponent - digits - 1)
            for leading in (2**digits, 2**digits + 1, 2 ** (digits + 1) - 1):
                tie = leading * 2 * half + half
                out |= {tie, tie + 1, tie - 1, tie + half // 4, tie - half // 4}
    return out


def witness(xs: list, source: Callable, target: Callable) -> object:
    """An input of which the source has a value and the target another one."""
    for x in xs:
        found = source(x)
        if found is not None and target(x) != found:
            return x
    return None


def chains() -> Iterator[Case]:
    """A cast by way of a type between, as one cast."""
    for start, by, to in itertools.product(TYPES, TYPES, TYPES):
        if by in (start, to):
            continue

        def two(x, start=start, by=by, to=to):
            y = cast(x, by, start)
            return None if y is None else cast(y, to, by)

        body = f'cast(cast(x) {{ dtype = "{by}" }}) {{ dtype = "{to}" }}'
        one = "x" if to == start else f'cast(x) {{ dtype = "{to}" }}'
        text = f'rule r exact {{ let x = *; match {body}; where x.dtype == "{start}"; rewrite {one}; }}'
        yield Case(
            text,
            lambda start=start, to=to, two=two: witness(
                samples(start), two, lambda x: cast(x, to, start)
            ),
        )


def comparisons() -> Iterator[Case]:
    """A comparison behind casts, as one before them."""
    for start, to in itertools.product(TYPES, TYPES):
        if start == to:
            continue
        for name, holds in (("less", lambda a, b: a < b), ("equal", lambda a, b: a == b)):

            def behind(pair, start=start, to=to, holds=holds):
                a, b = (cast(x, to, start) for x in pair)
                return None if a is None or b is None else holds(a, b)

            text = (
                f'rule r exact {{ let x = *; let y = *; match {name}(cast(x) {{ dtype = "{to}" }}, '
                f'cast(y) {{ dtype = "{to}" }}); where x.dtype == "{start}", y.dtype == "{start}"; '
                f"rewrite {name}(x, y); }}"
            )
            yield Case(
                text,
                lambda start=start, behind=behind, holds=holds: witness(
                    pairs(samples(start)), behind, lambda pair: holds(*pair)
                ),
            )


def pairs(xs: list) -> list[tuple]:
    """Neighbours, both ways, and numbers that are far apart."""
    near = list(itertools.pairwise(xs))
    far = [(xs[0], xs[-1]), (xs[-1], xs[0]), (xs[-1], xs[len(xs) // 2])]
    # As far as what narrower integers keep of them is the same.
    turns = [(Fraction(0), Fraction(2**k)) for k in (8, 16, 32) if Fraction(2**k) in xs]
    return [*near, *((b, a) for a, b in near), *far, *turns]


def wraps() -> Iterator[Case]:
    """What is the same for integers that do not wrap."""
    two = "const(splat 2)"
    forms: list[tuple[str, str, Callable, Callable]] = [
        (f"x * {two} / {two}", "x", lambda x, w: quotient(w(x * 2), 2), lambda x, w: x),
        (f"(x + x) / {two}", "x", lambda x, w: quotient(w(x + x), 2), lambda x, w: x),
        ("abs(x) + x", f"x * {two}", lambda x, w: w(w(abs(x)) + x), lambda x, w: w(2 * x)),
        ("maximum(x, negative(x))", "x", lambda x, w: max(x, w(-x)), lambda x, w: x),
        (f"less(x, x + {two})", "equal(x, x)", lambda x, w: x < w(x + 2), lambda x, w: True),
        (f"x / {two} * {two}", "x", lambda x, w: w(quotient(x, 2) * 2), lambda x, w: x),
    ]  # fmt: skip
    shift = "const(splat 1)"
    forms.append((f"right_shift(left_shift(x, {shift}), {shift})", "x",
                  lambda x, w: Fraction(int(w(x * 2)) >> 1), lambda x, w: x))  # fmt: skip
    for dtype in INTEGERS:
        for source, target, before, after in forms:
            if ("negative" in source or "abs" in source) == dtype.startswith("u"):
                continue
            if "shift" in source and not dtype.startswith("u"):
                continue
            wrap = lambda n, dtype=dtype: wrapped(Fraction(n), dtype)  # noqa: E731

            def find(dtype=dtype, wrap=wrap, before=before, after=after):
                return witness(
                    samples(dtype), lambda x: before(x, wrap), lambda x: after(x, wrap)
                )

            text = f'rule r exact {{ let x = *; match {source}; where x.dtype == "{dtype}"; rewrite {target}; }}'
            yield Case(text, find)


def quotient(a: Fraction, b: int) -> Fraction:
    """Rounded to 0, as integers are divided."""
    return Fraction(math.trunc(a / b))


def digits(count: int, seed: int = 5) -> Iterator[Case]:
    """Constants with another last digit, of as many digits as their type tells apart or fewer."""
    rng = random.Random(seed)
    known = ["0.7978846", "0.044715", "1.702", "3.1415926", "0.3333333", "1.000001", "2.7182818", "0.70710678"]
    forms = ["x * {}", "x + {}", "x / {}", "({} - x) * 0.5", "tanh(x * {})", "maximum(x * {}, x)"]
    made = 0
    while made < count:
        number = rng.choice(known) if rng.random() < 0.5 else f"{rng.uniform(0.1, 8):.{rng.randint(3, 12)}f}"
        last = str((int(number[-1]) + rng.choice([1, 9])) % 10)
        other, dtype = number[:-1] + last, rng.choice([*FLOATS])
        a, b = (rounded(Fraction(n), dtype) for n in (number, other))
        if a == b or 0 in (a, b) or dtype == "float64" and abs(a - b) < abs(a) / 2**44:
            continue
        form = rng.choice(forms)
        source, target = (form.format(f"const(splat {n})") for n in (number, other))
        text = f'rule r {{ let x = *; match {source}; where x.dtype == "{dtype}"; rewrite {target}; }}'
        made += 1
        yield Case(text, lambda a=a, b=b: (a, b))


def cases() -> list[Case]:
    """All of them, in a fixed order that mixes the kinds."""
    out = [*chains(), *comparisons(), *wraps(), *digits(160)]
    random.Random(3).shuffle(out)
    return out


def failing(chosen: list[Case]) -> list[str]:
    """Wrong rules that are said to hold, and right ones that are said to be wrong."""
    out = []
    for case in chosen:
        verdict = gsl.parse(case.text)[0].check()
        if verdict.holds if case.wrong else verdict.wrong:
            word = "wrong" if case.wrong else "right"
            out.append(f"{word}: {case.text}\n  witness {case.witness}\n  {verdict}")
    return out


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, default=1)
    options = parser.parse_args()
    chosen = cases()[:: options.step]
    found = failing(chosen)
    print(*found, sep="\n")
    wrong = sum(case.wrong for case in chosen)
    print(f"{wrong} wrong rules and {len(chosen) - wrong} right ones: {len(found)} misjudged")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
