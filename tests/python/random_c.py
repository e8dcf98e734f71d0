"""Random C files whose loops `tangram scop` is to write anew without changing a bit.

Nothing here knows how loops are read or written. Functions have parameters of all integer types, and
get values at the limits of these; their pointers lead into each other's arrays; comments, strings and
directives stand in every place. What is right is what the file itself prints: calls for which its own
loops overflow, leave an array or take long (as sanitizers and a clock say) are left out.

`python random_c.py 40 --seed 7` tries 40 files, and keeps those that fail in a folder.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

INTEGERS = {
    "signed char": (-(2**7), 2**7 - 1),
    "unsigned char": (0, 2**8 - 1),
    "char": (0, 2**7 - 1),
    "short": (-(2**15), 2**15 - 1),
    "unsigned short": (0, 2**16 - 1),
    "int": (-(2**31), 2**31 - 1),
    "unsigned": (0, 2**32 - 1),
    "long": (-(2**63), 2**63 - 1),
    "unsigned long": (0, 2**64 - 1),
    "long long": (-(2**63), 2**63 - 1),
    "size_t": (0, 2**64 - 1),
    "int64_t": (-(2**63), 2**63 - 1),
    "uint32_t": (0, 2**32 - 1),
    "int16_t": (-(2**15), 2**15 - 1),
}
ELEMENTS = ["double", "double", "float", "unsigned", "uint8_t", "int64_t"]
# What sanitizers see does not hang on optimisation, and traps compile twice as fast as messages.
SANITIZED = ["-O0", "-g0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
             "-fsanitize-undefined-trap-on-error"]
QUIET = ["-std=gnu11", "-w", "-ffp-contract=off"]
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
FUNCTIONS = 6
CALLS = 7
#: How much processor time a call of the source has, and one of new code, in milliseconds.
SOURCE, NEW = 40, 4000

HEAD = r"""
#define ROWS 24
#define COLUMNS 28
/* What lies between the arrays is nobody's, and where sanitizers look on also what lies far from them:
   a subscript at the limits of its type leads to the program's own text. */
#if defined(__SANITIZE_ADDRESS__)
#define FAR (1 << 26)
#else
#define FAR 1
#endif
static struct {
    char before[FAR];
    @E@ a[9000], first[ROWS][COLUMNS], b[9000], second[ROWS][COLUMNS], c[9000], row[1024], d[9000];
    char after[FAR];
} all;
#define A all.first
#define B all.second
#define pool all.row
#if defined(__SANITIZE_ADDRESS__)
void __asan_poison_memory_region(void const volatile *, size_t);
#define NOBODYS(x) __asan_poison_memory_region(x, sizeof(x))
#else
#define NOBODYS(x) (void)0
#endif
struct view { @E@ *data, *more; int size; };
enum { PACE = 2, STRIDE = PACE + 1 };
static const unsigned short LEAP = 4;
"""

TAIL = r"""
#include <unistd.h>
#include <sys/time.h>
#include <sys/wait.h>
static unsigned long long hash = 1469598103934665603ull;
static void mix(const void *at, size_t size)
{
    const unsigned char *p = at, *end = p + size;
    while (p != end) { hash = (hash ^ *p++) * 1099511628211ull; }
}
static void fill(void *at, size_t count, int kind)
{
    @E@ *p = at, *end = p + count;
    int k = kind;
    while (p != end) { *p++ = (@E@)((k * 37 + 11) % 97); k++; }
}
static void call(char **argv)
{
    long long v[2] = { (long long)strtoull(argv[1], 0, 0), (long long)strtoull(argv[2], 0, 0) };
    fill(A, ROWS * COLUMNS, 1); fill(B, ROWS * COLUMNS, 2); fill(pool, 1024, 3);
    switch (atoi(argv[0])) {
@CALLS@
    default: break;
    }
    mix(A, sizeof A); mix(B, sizeof B); mix(pool, sizeof pool);
    printf("%llx\n", hash);
    fflush(stdout);
}
/* Each call in a process of its own, which ends with its processor time. */
int main(int argc, char **argv)
{
    int k = 2, time = atoi(argv[1]);
    NOBODYS(all.before); NOBODYS(all.a); NOBODYS(all.b); NOBODYS(all.c); NOBODYS(all.d); NOBODYS(all.after);
    while (k + 2 < argc) {
        pid_t child = fork();
        if (child == 0) {
            struct itimerval end = { { 0, 0 }, { time / 1000, time % 1000 * 1000 } };
            setitimer(ITIMER_VIRTUAL, &end, 0);
            call(argv + k);
            _exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        if (status) { printf("-\n"); fflush(stdout); }
        k += 3;
    }
    return 0;
}
"""

NOISE = [
    "/* plain */",
    "/*\n#include <nowhere.h>\n*/",
    "// to the end \\\n   and on\n",
    "/* for (int i = 0; i < n; i++) { */",
    "/* \"not a string */",
    "// '\n",
    "/* several\n lines\n\t* long */",
    "/**/",
]
DIRECTIVES = [
    "#define UNUSED_@ 1\n",
    "#define LONG_@ \\\n  3\n",
    "#if 0\n#include <nowhere.h>\n this is ' no C \"\n#endif\n",
    "#ifdef NOTHING_@\n#define THING_@\n#else\n#undef THING_@\n#endif\n",
    "#  include <limits.h> /* behind\n it */\n",
    "#include <float.h> // behind it\n",
    "#pragma GCC diagnostic push\n#pragma GCC diagnostic pop\n",
    "#define F_@(x) (x) /* x\n */\n",
    "%: define DIGRAPH_@ 2\n",
    "#\n",
]
TOP = [
    'static const char *text_@ = "#include <q.h>\\n /* no comment */ for (;;)";\n',
    'static const char *cut_@ = "\\\n#include <q.h>\\\n";\n',
    "static const char quote_@ = '\"', hash_@ = '#';\n",
    "enum { ENUM_@ = 'a' };\n",
    "typedef int int_@;\n",
]


@dataclass
class Function:
    """A function, and how it is called."""

    name: str
    text: str
    types: list[str]
    pointers: int
    #: What pointers are given: places in one buffer.
    places: list[int]
    calls: list[list[int]] = field(default_factory=list)


class Writer:
    """Writes one function."""

    def __init__(self, rng: random.Random, name: str, element: str):
        self.rng, self.name, self.element = rng, name, element
        self.types = [rng.choice(list(INTEGERS)) if rng.random() < 0.75 else "int" for _ in "nm"]
        self.pointers = rng.choice([0, 2, 2, 3])
        self.loops: list[tuple[str, str]] = []
        self.count = 0
        self.locals: list[str] = []
        self.vectors = ["pool"] + [f"p{k}" for k in range(self.pointers)]
        self.grids = ["A", "B"]

    def write(self) -> Function:
        rng = self.rng
        before = self.declarations()
        nests = [self.nest() for _ in range(rng.choice([1, 1, 2, 3]))]
        parameters = [f"{t} {n}" for t, n in zip(self.types, "nm")]
        parameters += [f"{self.element} *p{k}" for k in range(self.pointers)]
        body = before + [line for nest in nests for line in nest]
        if rng.random() < 0.15:
            body = before + ["#pragma scop"] + body[len(before):] + ["#pragma endscop"]
        static = rng.choice(["", "", "static ", "__attribute__((noinline)) "])
        head = f"{static}void {self.name}({', '.join(parameters)})"
        lines = [self.noisy(line) for line in body]
        text = head + self.space() + "{\n" + "\n".join("    " + line if not line.startswith("#")
                                                      else line for line in lines) + "\n}\n"
        if rng.random() < 0.08 and "#" not in text and "//" not in text:
            text = " ".join(text.split("\n")) + "\n"
        places = [rng.randrange(0, 400) for _ in range(self.pointers)]
        if rng.random() < 0.5:
            first = rng.randrange(0, 400)
            places = [first + rng.randrange(0, 40) for _ in places]
        return Function(self.name, text, self.types, self.pointers, places)

    def declarations(self) -> list[str]:
        rng, element, lines = self.rng, self.element, []
        if rng.random() < 0.35:
            row = rng.choice(["A[1]", "A[2] + 3", "&B[0][1]", "&A[0][0]", "pool + 5"])
            lines.append(f"{element} *q = {row};")
            self.vectors += ["q", "q"]
        if rng.random() < 0.2:
            lines.append(f"struct view v = {{ pool + {rng.randrange(9)}, pool + {rng.randrange(99)}, 7 }};")
            lines.append("struct view *w = &v;")
            self.vectors += ["v.data", "w->more"]
        if rng.random() < 0.15:
            lines.append(f"{element} (*g)[COLUMNS] = A + 1;")
            self.grids.append("g")
        return lines

    def space(self) -> str:
        return " " if self.rng.random() < 0.9 else self.rng.choice(NOISE)

    def noisy(self, line: str) -> str:
        rng = self.rng
        if line.startswith("#"):
            return line
        if rng.random() < 0.06:
            line = rng.choice(NOISE) + " " + line
        if rng.random() < 0.06:
            line = line + " " + rng.choice(NOISE)
        if rng.random() < 0.02:
            line = "#define IN_" + self.name + str(rng.randrange(10**6)) + " 1\n" + line
        if rng.random() < 0.03:
            line = line.replace("[", "<:").replace("]", ":>")
        return line

    # Loops

    def fresh(self) -> str:
        self.count += 1
        return "ijklmnopqrst"[self.count % 3] + f"{self.count}"

    def bound(self) -> str:
        rng = self.rng
        k = rng.randrange(0, 12)
        outer = [name for name, _ in self.loops]
        forms = ["n", "n", "m", f"n - {k}", f"m + {k}", f"n + m - {k}", f"2 * n - m + {k}", "n - m",
                 f"m - 2 * n", f"{k + 6}", "n / STRIDE", "m % LEAP", f"n / {k + 1}", f"(n + {k}) / {k + 2}", f"n % {k + 5}"]
        if outer:
            one = rng.choice(outer)
            forms += [f"{one} + {k}", f"n - {one}", f"{one}", f"m - {one} - 1", f"2 * {one} + 1"]
        return rng.choice(forms)

    def template(self) -> list[str]:
        """Loops that run faster in another order."""
        rng = self.rng
        n, m = rng.choice([("n", "m"), ("m", "n"), ("n", "n")])
        i, j, k = self.fresh(), self.fresh(), self.fresh()
        kinds = [rng.choice(["int", "long", "unsigned", "size_t", "short", self.types[0]]) for _ in "ijk"]
        a, b, c = (rng.choice(self.grids) for _ in "abc")
        p, q = rng.choice(self.vectors), rng.choice(self.vectors)
        e = rng.choice([n, f"{n} - 1", f"{n} - {m}", f"2 * {n} - 3"])
        f = rng.choice([m, m, f"{m} - 2", f"{i} + 1", f"{m} - {i}"])
        s = rng.choice(["0", "1", "2"])
        cap = lambda name, most: f" && {name} < {most}" if rng.random() < 0.7 else ""
        first = f"for ({kinds[0]} {i} = {s}; {i} < {e}{cap(i, 20)}; {i}++)"
        second = f"for ({kinds[1]} {j} = {rng.choice(['0', '1'])}; {j} < {f}{cap(j, 20)}; {j}++)"
        third = f"for ({kinds[2]} {k} = 0; {k} < {n}{cap(k, 12)}; {k}++)"
        half = "* 0.5" if self.element in ("double", "float") else "* 3"
        body = rng.choice([
            f"{a}[{j}][{i}] += {b}[{j}][{i}] {half};",
            f"{a}[{j} + 1][{i}] = {p}[{j}] {half} + {a}[{j}][{i}];",
            f"{p}[{j} * 20 + {i}] = {q}[{j} * 20 + {i}] + 1;",
            f"{p}[{j}] = {p}[{j}] {half} + {p}[{j} + 1];",
            f"{a}[{j} + 1][{j}] = {a}[{j}][{j} + 1] {half} + {a}[{j} + 2][{j}];",
            f"{p}[{i}] += {a}[{j}][{i}] * {q}[{j}];",
            f"{a}[{i}][{j}] = {a}[{i}][{j} + 1] + {b}[{j}][{i}];",
            f"{p}[{j} * {n} + {i}] += {q}[{j} * {n} + {i}];",
        ])
        if rng.random() < 0.25:
            body = f"{third} {a}[{i}][{j}] += {b}[{i}][{k}] * {c}[{k}][{j}];"
        return [first + " {", "    " + second, "        " + body, "}"]

    def nest(self) -> list[str]:
        rng = self.rng
        if rng.random() < 0.5:
            self.loops = []
            return self.template()
        depth = rng.choice([1, 2, 2, 2, 3])
        self.loops = []
        lines, closing = [], []
        for level in range(depth):
            head, close = self.loop(level)
            lines += ["    " * level + part if not part.startswith("#") else part for part in head]
            closing.append("    " * level + close)
            if rng.random() < 0.1 and level + 1 < depth:
                lines.append("    " * (level + 1) + self.statement())
        for _ in range(rng.choice([1, 1, 2])):
            lines.append("    " * depth + self.statement())
        return lines + closing[::-1] + self.after()

    def after(self) -> list[str]:
        lines = [f"pool[900] += ({self.element})({name} % 64);" for name in self.locals
                 if self.rng.random() < 0.7]
        self.locals = []
        return lines

    def loop(self, level: int) -> tuple[list[str], str]:
        rng = self.rng
        name = self.fresh()
        kind = rng.choice(["int", "int", "long", "unsigned", "size_t", "short", "unsigned char", "=n"])
        kind = self.types[0] if kind == "=n" else kind
        start = rng.choice(["0", "0", "1", "n", "m - 3", "n - 2", "2"]) if rng.random() < 0.4 else "0"
        if self.loops and rng.random() < 0.2:
            start = rng.choice([one for one, _ in self.loops])
        end, most = self.bound(), rng.randrange(3, 22)
        step = rng.choice(["++"] * 6 + [" += 2", " += 3", " += PACE", " += STRIDE", " += LEAP"])
        less = rng.choice(["<", "<", "<="])
        cap = rng.random()
        span = f"{name} < {start} + {most}" if start != "0" else f"{name} < {most}"
        test = f"{name} {less} {end}"
        if cap < 0.6:
            test = f"{test} && {span}" if rng.random() < 0.5 else f"{span} && {test}"
        elif cap < 0.7:
            test = f"{name} < sizeof(A) / sizeof(A[0])" if kind != "short" else test
        self.loops.append((name, kind))
        form = rng.random()
        if form < 0.1:
            if not level:
                self.locals.append(name)
            return [f"{kind} {name};", f"for ({name} = {start}; {test}; {name}{step}) {{"], "}"
        if form < 0.16:
            return [f"{kind} {name} = {start};", f"while ({test}) {{"], f"    {name}{step}; }}"
        if form < 0.26:
            down = rng.choice([f"{name}--", f"{name} -= 2"]) if kind not in ("unsigned", "size_t") \
                else f"{name}--"
            return [f"for ({kind} {name} = {end}; {name} > {start}; {down}) {{"], "}"
        if form < 0.34 and end in test:
            most = f"last{self.count}"
            pair = [f"{name} = {start}", f"{most} = {end}"]
            rng.shuffle(pair)
            test = test.replace(f"{less} {end}", f"{less} {most}", 1)
            return [f"for ({kind} {', '.join(pair)}; {test}; {name}{step}) {{"], "}"
        return [f"for ({kind} {name} = {start}; {test}; {name}{step}) {{"], "}"

    # Statements

    def index(self) -> str:
        rng = self.rng
        names = [name for name, _ in self.loops]
        i = rng.choice(names)
        j = rng.choice(names)
        k = rng.randrange(0, 4)
        return rng.choice([i, i, f"{i} + {k}", f"{i} + {j}", f"2 * {i}", f"{i} * 9 + {j}",
                           f"{i} - n + 9", f"{j} + m", f"{k}", f"{i} - {k}", f"{i} * n + {j}", f"{i} * STRIDE",
                           f"{i} / LEAP + {j}"])

    def grid(self) -> str:
        rng = self.rng
        names = [name for name, _ in self.loops]
        i, j = rng.choice(names), rng.choice(names)
        k = rng.choice([0, 0, 0, 1, 2])
        more = f" + {k}" if k else ""
        less = rng.choice(["", "", " + 1"])
        return f"[{i}{more}][{j}{less}]"

    def cell(self) -> str:
        if self.rng.random() < 0.55:
            return self.rng.choice(self.grids) + self.grid()
        vector = self.rng.choice(self.vectors)
        if self.rng.random() < 0.1:
            return f"*({vector} + {self.index()})"
        return f"{vector}[{self.index()}]"

    def value(self) -> str:
        rng = self.rng
        names = [name for name, _ in self.loops]
        form = rng.random()
        factor = rng.choice([2, 3, 5]) if self.element[0] in "ui" else rng.choice(["0.5", "0.25", "3"])
        if form < 0.3:
            return self.cell()
        if form < 0.6:
            return f"{self.cell()} * {factor} + {self.cell()}"
        if form < 0.7:
            return f"{self.cell()} - {self.cell()}"
        if form < 0.8:
            return f"{self.cell()} + ({self.element})({rng.choice(names)} % 16)"
        if form < 0.85:
            return f"{self.cell()} > 3 ? {self.cell()} : {factor}"
        if form < 0.88:
            return f"({{ {self.element} t = {self.cell()}; t + 1; }})"
        if form < 0.92:
            return f"{self.cell()} + {rng.choice(['SCHAR_MAX', 'UINT8_MAX', 'CHAR_BIT'])}"
        return f"{self.cell()} + {factor}"

    def statement(self) -> str:
        rng = self.rng
        line = f"{self.cell()} {rng.choice(['=', '=', '+='])} {self.value()};"
        names = [name for name, _ in self.loops]
        if rng.random() < 0.15:
            sign = rng.choice(["<", "<=", "==", "!=", ">"])
            line = f"if ({rng.choice(names)} {sign} {self.bound()}) {line}"
        return line


def values(rng: random.Random, kind: str) -> int:
    """Chooses an argument: a small number, or one at the limits of a type."""
    least, greatest = INTEGERS[kind]
    if rng.random() < 0.45:
        return max(least, min(greatest, rng.randrange(-3, 26)))
    near = rng.choice([least, greatest, 2**31 - 1, -(2**31), 2**32 - 1, 2**62, 2**31, 0, 127, 255])
    return max(least, min(greatest, near + rng.randrange(-3, 4)))


def generate(seed: int) -> tuple[str, list[Function]]:
    """Writes a file of several functions."""
    rng = random.Random(seed)
    element = rng.choice(ELEMENTS)
    functions = [Writer(rng, f"f{k}", element).write() for k in range(FUNCTIONS)]
    count = 0

    def numbered(text: str) -> str:
        nonlocal count
        count += 1
        return text.replace("@", str(count))

    def between() -> str:
        pieces = [rng.choice(pool) for pool in (NOISE, DIRECTIVES, TOP) if rng.random() < 0.25]
        return "".join(numbered(piece if piece.endswith("\n") else piece + "\n") for piece in pieces)

    includes = ["stdint.h", "stddef.h", "stdio.h", "stdlib.h", "string.h", "limits.h"]
    rng.shuffle(includes)
    text = between() + "".join(f"#include <{name}>{rng.choice(['', '', ' // x', ' /* x */'])}\n" + between()
                               for name in includes)
    head = HEAD
    if rng.random() < 0.5:
        # Macros whose names are left when they are in their place.
        for old, new in (("first", "A"), ("second", "B"), ("row", "pool")):
            head = re.sub(rf"\b{old}\b", new, head)
    text += head.replace("@E@", element)
    calls = ""
    for k, function in enumerate(functions):
        text += between() + function.text
        arguments = [f"({kind})v[{at}]" for at, kind in enumerate(function.types)]
        arguments += [f"pool + {place}" for place in function.places]
        calls += f"    case {k}: f{k}({', '.join(arguments)}); break;\n"
        for _ in range(CALLS):
            function.calls.append([values(rng, kind) for kind in function.types])
    text += between() + TAIL.replace("@E@", element).replace("@CALLS@", calls)
    if rng.random() < 0.1:
        text = "\ufeff" + text
    if rng.random() < 0.1:
        text = text.replace("\n", "\r\n")
    return text, functions


# Runs


@dataclass
class Outcome:
    """What a file did."""

    seed: int
    functions: int = 0
    calls: int = 0
    rewritten: int = 0
    #: What is wrong; none if nothing is.
    wrong: str = ""
    #: What a compiler gets wrong.
    compiler: str = ""


#: The number of a function, and its arguments.
Call = tuple[str, str, str]


def compiled(compiler: str, flags: list[str], source: Path, out: Path) -> str:
    done = subprocess.run([compiler, *QUIET, *flags, str(source), "-o", str(out), "-lm"],
                          capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def ran(binary: Path, calls: list[Call], milliseconds: int) -> dict[Call, str]:
    """What calls print, each in a process of its own; those that fail or take long are missing."""
    arguments = [word for call in calls for word in call]
    done = subprocess.run([str(binary), str(milliseconds), *arguments], capture_output=True, text=True,
                          check=False, env=ENVIRONMENT)
    lines = done.stdout.splitlines()
    assert len(lines) == len(calls), f"{binary}: {done.returncode} {done.stderr[:2000]}"
    return {call: line for call, line in zip(calls, lines) if line != "-"}


def attempt(seed: int, tangram: str, folder: Path, options: list[str]) -> Outcome:
    """Writes a file, lets its loops be written anew, and compares what both print."""
    text, functions = generate(seed)
    outcome = Outcome(seed, len(functions))
    source, new = folder / f"s{seed}.c", folder / f"n{seed}.c"
    source.write_bytes(text.encode())
    right = folder / f"s{seed}.out"
    failed = compiled("gcc", SANITIZED, source, right)
    if failed:
        outcome.wrong = f"the generator wrote a file that does not compile\n{failed[:2000]}"
        return outcome
    outcome.rewritten, outcome.wrong = written_anew(source, new, tangram, options)
    if not outcome.rewritten or outcome.wrong:
        return outcome
    calls = [(str(k), *(str(value % 2**64) for value in call))
             for k, function in enumerate(functions) for call in function.calls]
    expected = ran(right, calls, SOURCE)
    outcome.calls = len(expected)
    openmp = ["-fopenmp"] if "--parallel" in options else []
    for compiler, flags in [("gcc", SANITIZED), ("clang-19", ["-O2"]), ("gcc", ["-O3"])]:
        if shutil.which(compiler) and not outcome.wrong:
            compare(compiler, flags + (openmp if compiler == "gcc" else []), (source, new), expected, outcome)
    return outcome


def written_anew(source: Path, new: Path, tangram: str, options: list[str]) -> tuple[int, str]:
    """Counts the parts that are written anew, and says what is wrong."""
    try:
        done = subprocess.run([tangram, "scop", str(source), "--detect", "-o", str(new), *options],
                              capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:
        return 0, "tangram scop takes more than two minutes"
    if done.returncode == 2 and b"#pragma scop" in source.read_bytes() and ": error: " in done.stderr:
        # A marked part that is none is an error.
        return 0, ""
    if done.returncode != 0:
        return 0, f"tangram scop: exit {done.returncode}\n{done.stderr[:2000]}"
    return done.stderr.count("rewritten"), ""


def compare(compiler: str, flags: list[str], files: tuple[Path, Path], expected: dict[Call, str],
            outcome: Outcome) -> None:
    """Notes what a compiler's program of the new file prints otherwise."""
    source, new = files
    binary = new.with_suffix(".out")
    failed = compiled(compiler, flags, new, binary)
    if failed:
        outcome.wrong = f"{compiler} does not compile the new file\n{failed[:3000]}"
        return
    got = ran(binary, list(expected), NEW)
    for call, printed in expected.items():
        if got.get(call) == printed:
            continue
        what = f"{compiler} {' '.join(flags)}: {' '.join(call)}"
        if is_known_fault(compiler, flags, (source, new), call, printed):
            outcome.compiler = what
        else:
            outcome.wrong = f"{what} {'differs' if call in got else 'fails or hangs'}"
            return


def is_known_fault(compiler: str, flags: list[str], files: tuple[Path, Path], call: Call,
                   printed: str) -> bool:
    """Whether the file is not at fault: the source as it was does not print what it has to either.

    Either the source overflows where sanitizers see nothing, as gcc takes `j <= m - 1 - 1` for
    `j < m - 1` before it puts checks in, or the compiler is wrong. gcc's choice of induction variables,
    for one, loses steps of `A[c - j][j]` next to `A[j][c - j]` (12.2): it is right without that pass.
    """
    tried = [(files[0], flags, False)]
    if compiler == "gcc" and "-O3" in flags:
        tried.append((files[1], [*flags, "-fno-ivopts"], True))
    for file, options, is_right in tried:
        binary = file.with_suffix(".again")
        failed = compiled(compiler, options, file, binary)
        if not failed and (ran(binary, [call], NEW).get(call) == printed) == is_right:
            return True
    return False


def sweep(seeds: list[int], tangram: str, options: list[str], keep: Path | None = None,
          jobs: int = 1) -> list[Outcome]:
    """Tries files; those that fail are kept in a folder."""
    def one(seed: int) -> Outcome:
        with tempfile.TemporaryDirectory() as name:
            outcome = attempt(seed, tangram, Path(name), options)
            if outcome.wrong and keep:
                keep.mkdir(parents=True, exist_ok=True)
                for path in Path(name).glob("*.c"):
                    shutil.copy(path, keep)
                (keep / f"{seed}.txt").write_text(outcome.wrong)
        return outcome

    outcomes = []
    with ThreadPoolExecutor(jobs) as pool:
        for outcome in pool.map(one, seeds):
            outcomes.append(outcome)
            if keep and len(outcomes) % 10 == 0:
                print(summary(outcomes), flush=True)
    return outcomes


def summary(outcomes: list[Outcome]) -> str:
    """Counts what files did."""
    total = [sum(getattr(outcome, name) for outcome in outcomes)
             for name in ("functions", "calls", "rewritten")]
    wrong = sum(bool(outcome.wrong) for outcome in outcomes)
    return (f"{len(outcomes)} files, {total[0]} functions, {total[1]} calls, "
            f"{total[2]} parts rewritten, {wrong} files wrong, "
            f"{sum(bool(outcome.compiler) for outcome in outcomes)} by the compiler")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("options", nargs="*", help="of tangram scop, behind `--`")
    given = parser.parse_intermixed_args()
    tangram = os.environ.get("TANGRAM_BIN", "tangram")
    outcomes = sweep(list(range(given.seed, given.seed + given.count)), tangram, given.options,
                     given.keep, given.jobs)
    wrong = [outcome for outcome in outcomes if outcome.wrong]
    for outcome in wrong:
        print(f"{outcome.seed}: {outcome.wrong}")
    print(summary(outcomes))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
