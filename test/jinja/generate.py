"""Writes random templates, and what the real Jinja2 makes of them, as lines of JSON: differ.sh compares them with the engine.

usage: generate.py SEED SECONDS > cases.jsonl
"""

import inspect
import json
import random
import re
import resource
import signal
import sys
import time

from jinja2 import filters, tests
from jinja2.sandbox import SandboxedEnvironment

from cases import CASES, CONTEXT
from golden import line_of

FILTERS = sorted(filters.FILTERS)
TESTS = sorted(name for name in tests.TESTS if name.isidentifier())
RANDOM = {"random", "lipsum"}

NAMES = ["n", "neg", "pi", "big", "huge", "half", "zero", "t", "f", "nothing", "empty", "word", "uni", "html", "lines", "csv", "path",
         "list", "words", "nested", "none_list", "d", "deep", "users", "alerts", "iris", "tree", "missing", "title"]
LITERALS = ["0", "1", "2", "3", "-1", "7", "10", "100", "2.5", "-0.5", "1e3", "0.1", "1e16", "true", "false", "none", "''", "'a'", "'abc'", "'A b'",
            "'ß'", "'<b>'", "'%s'", "'%d|%5s'", "'{}'", "'{:>5}'", "', '", "'\\n'", "' x '", "'é😀'", "'1'", "'1.5'", "'http://a.com/x?y=1&z'", "[]", "[1, 2]",
            "['b', 'a', 'C']", "[[1, 2], [3]]", "()", "(1, 'a')", "(2,)", "{}", "{'a': 1}", "{'b': 2, 'a': none}", "[1, none, 'x']", "[{'a': 1}, {'a': 0}]",
            "range(4)", "dict(a=1)", "('<i>'|safe)", "[3, 1, 2]", "[true, 1, 1.0]", "12345678901234567890"]
STRINGS = ["'a'", "''", "'name'", "'age'", "'x'", "'upper'", "'odd'", "'a.b'", "'value'", "'ceil'", "'floor'", "'addr.city'", "'-'", "'ab'", "'equalto'", "'_blank'"]
METHODS = {
    "str": [m for m in dir(str) if not m.startswith("_") and m != "maketrans"],
    "list": [m for m in dir(list) if not m.startswith("_")],
    "dict": [m for m in dir(dict) if not m.startswith("_")],
    "int": ["bit_length", "real", "imag", "is_integer", "conjugate", "numerator"],
}
BINARY = ["+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
HINTS = {"attribute": STRINGS, "by": ["'key'", "'value'", "'x'"], "method": ["'ceil'", "'floor'", "'common'", "'x'"]}


def signature(f):
    try:
        return [p for p in inspect.signature(f).parameters if p not in ("environment", "context", "eval_ctx", "value", "s", "seq", "args", "kwargs")][0:4]
    except (TypeError, ValueError):
        return []


PARAMETERS = {name: signature(f) for name, f in filters.FILTERS.items()}
PIECES = sorted({p for case in CASES for p in re.findall(r"\{\{-?\s*(.*?)\s*-?\}\}", case[1]) if 0 < len(p) < 60 and "\n" not in p
                 and not RANDOM & set(re.findall(r"\w+", p))})


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, what):
        return self.r.choice(what)

    def chance(self, p):
        return self.r.random() < p

    def args(self, depth, names=(), most=3):
        out = []
        count = self.pick([0, 0, 1, 1, 1, 2, most])
        keyword = False
        for i in range(count):
            name = names[i] if i < len(names) else None
            value = self.pick(HINTS[name]) if name in HINTS and self.chance(0.8) else self.simple(depth - 1)
            keyword = keyword or (self.chance(0.25) and bool(names))
            if keyword:
                name = self.pick(names)
                if any(o.startswith(name + "=") for o in out):
                    continue
                value = f"{name}={value}"
            out.append(value)
        return ", ".join(out)

    def simple(self, depth):
        if depth > 0 and self.chance(0.15):
            return self.expr(depth - 1)
        if self.chance(0.3):
            return self.pick(STRINGS)
        return self.pick(LITERALS) if self.chance(0.65) else self.pick(NAMES)

    def filter(self, depth):
        name = self.pick(FILTERS)
        while name in RANDOM:
            name = self.pick(FILTERS)
        if name in ("map", "select", "reject", "selectattr", "rejectattr") and self.chance(0.8):
            return self.mapping(name, depth)
        args = self.args(depth, PARAMETERS[name])
        return f"{name}({args})" if args or self.chance(0.1) else name

    def mapping(self, name, depth):
        if name == "map":
            if self.chance(0.4):
                default = ", default=" + self.simple(0) if self.chance(0.3) else ""
                return f"map(attribute={self.pick(STRINGS)}{default})"
            inner = self.pick([f for f in FILTERS if f not in RANDOM])
        else:
            inner = self.pick(TESTS)
        args = ["'" + inner + "'"] + ([self.simple(0)] if self.chance(0.5) else [])
        if name.endswith("attr"):
            args.insert(0, self.pick(STRINGS + ["0"]))
        return f"{name}({', '.join(args)})" + self.pick(["|list", "|list", "|join", "|first", ""])

    def test(self, depth):
        name = self.pick(TESTS)
        args = self.simple(0) if self.chance(0.4) else ""
        return f"{name}({args})" if args else name

    def expr(self, depth):
        if depth <= 0:
            return self.pick(LITERALS) if self.chance(0.5) else self.pick(NAMES)
        kind = self.r.randrange(14)
        a = self.expr(depth - 1)
        if kind <= 3:
            return f"({a})|{self.filter(depth)}" if not a.isidentifier() else f"{a}|{self.filter(depth)}"
        if kind == 4:
            return f"({a}) is {self.pick(['', 'not '])}{self.test(depth)}"
        if kind in (5, 6):
            return f"({a}) {self.pick(BINARY)} ({self.expr(depth - 1)})"
        if kind in (7, 8):
            method = self.pick(METHODS[self.pick(["str", "str", "list", "dict", "int"])])
            return f"({a}).{method}({self.args(depth)})"
        if kind == 9:
            parts = [self.simple(0) if self.chance(0.6) else "" for _ in range(self.pick([2, 2, 3]))]
            return f"({a})[{':'.join(parts)}]"
        if kind == 10:
            return f"({a})[{self.simple(0)}]" if self.chance(0.6) else f"({a}).{self.pick(['a', 'name', 'x', 'age', 'items', 'real'])}"
        if kind == 11:
            return f"({a} if {self.expr(depth - 1)}{' else ' + self.expr(depth - 1) if self.chance(0.7) else ''})"
        if kind == 12:
            return self.pick([f"not ({a})", f"-({a})", f"[{a}, {self.simple(0)}]", f"{{'k': {a}}}", f"({a}, 1)"])
        return self.pick(PIECES)

    def block(self, depth):
        kind = self.r.randrange(17)
        e = self.expr(self.pick([1, 1, 2, 3]))
        if depth <= 0 or kind <= 7:
            return "{{" + self.pick([" ", "- ", "+ "] if self.chance(0.1) else [" "]) + e + self.pick([" -", " "]) + "}}"
        body = lambda: "".join(self.block(depth - 1) for _ in range(self.pick([1, 1, 2])))
        if kind == 8:
            return f"{{% if {e} %}}{body()}{self.pick(['', '{% elif ' + self.expr(1) + ' %}e'])}{self.pick(['', '{% else %}' + body()])}{{% endif %}}"
        if kind in (9, 10):
            target = self.pick(["x", "x", "n", "k, v", "a, (b, c)"])
            use = self.pick(["{{ x }}", "{{ loop.index }}", "{{ loop.last }}{{ loop.revindex0 }}", "{{ loop.previtem }}|{{ loop.nextitem }}", "{{ loop.changed(x) }}",
                             "{{ loop.cycle(1, 'b') }}", "{{ k }}{{ v }}", "{{ loop.length }}", "{{ loop }}"])
            cond = f" if {self.expr(1)}" if self.chance(0.2) else ""
            again = " recursive" if self.chance(0.08) else ""
            return f"{{% for {target} in {e}{cond}{again} %}}{use}{body()}{self.pick(['', '{% else %}none'])}{{% endfor %}}"
        if kind == 11:
            return f"{{% set {self.pick(['x', 'n', 'x, y', 'word', 'q'])} = {e} %}}{{{{ x }}}}{{{{ n }}}}"
        if kind == 12:
            # Jinja2 fails on names in these filters: its compiler does not look for them there.
            through = self.pick(["", "|upper", "|trim", "|replace('a', 'b')|title", "|default('x', true)", "|length", "|list", "|escape"])
            return f"{{% set x{through} %}}{body()}{{% endset %}}{{{{ x }}}}"
        if kind == 13:
            return f"{{% with {self.pick(['x', 'n', 'q'])} = {e}{self.pick(['', ', y = x'])} %}}{body()}{{{{ y }}}}{{% endwith %}}"
        if kind == 14:
            return f"{{% macro m(a, b={e}) %}}{{{{ a }}}}{body()}{{{{ b }}}}{self.pick(['', '{{ varargs }}', '{{ kwargs }}', '{{ caller() }}'])}{{% endmacro %}}" + \
                self.pick(["{{ m(%s) }}" % self.args(1, ["a", "b", "c"]), "{% call m(1) %}in{% endcall %}", "{% call(z) m() %}{{ z }}{% endcall %}"])
        if kind == 15:
            return f"{{% filter {self.filter(1)} %}}{body()}{{% endfilter %}}"
        return f"{{% autoescape {self.pick(['true', 'false', 't', e])} %}}{body()}{{% endautoescape %}}"

    def mutated(self):
        """A case of the golden file with something changed."""
        case = self.pick(CASES)
        template = case[1]
        tokens = re.findall(r"\w+|\s+|[^\w\s]", template)
        for _ in range(self.pick([1, 1, 2, 3])):
            if not tokens:
                break
            i = self.r.randrange(len(tokens))
            how = self.r.randrange(4)
            if how == 0:
                del tokens[i]
            elif how == 1:
                tokens[i] = self.pick(tokens)
            elif how == 2:
                tokens.insert(i, self.pick(tokens))
            elif re.fullmatch(r"\w+", tokens[i]):
                tokens[i] = self.pick([self.pick(LITERALS), self.pick(NAMES), self.pick(FILTERS), self.pick(TESTS)])
        return "".join(tokens)

    def template(self):
        if self.chance(0.3):
            return self.mutated()
        return self.pick(["", "", "\n", "x "]) + "".join(self.block(2) for _ in range(self.pick([1, 1, 1, 2])))


class TooSlow(BaseException):
    pass


def expire(*_):
    raise TooSlow()


def main():
    seed, seconds = int(sys.argv[1]), float(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    sys.setrecursionlimit(600)
    signal.signal(signal.SIGALRM, expire)
    generator = Generator(seed)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        template = generator.template()
        if RANDOM & set(re.findall(r"\w+", template)):
            continue
        entry = {"template": template}
        try:
            signal.setitimer(signal.ITIMER_REAL, 2)
            try:
                entry["output"] = SandboxedEnvironment().from_string(template).render(json.loads(CONTEXT))
            except Exception as error:  # every exception is a result here, but those below
                failure = error
            else:
                failure = None
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except TooSlow:
            continue
        if isinstance(failure, (MemoryError, RecursionError)):
            continue
        if failure:
            entry["error"] = {"kind": type(failure).__name__, "line": line_of(failure)}
        text = json.dumps(entry)
        if len(text) < 1 << 18:
            print(text)


if __name__ == "__main__":
    main()
