"""Which names of Jinja2 and Python the cases use: every one that a template may use has to be there."""

import re

import jinja2
from jinja2 import filters, tests
from jinja2.parser import _statement_keywords
from jinja2.runtime import LoopContext
from jinja2.sandbox import SandboxedEnvironment

from cases import MATRIX

# Tags that read other templates, and that Jinja2 has only with an extension, are not served.
FOREIGN_TAGS = {"block", "extends", "include", "from", "import"}

# Errors that a template can end in; each needs a case that says its line.
ERRORS = ["TemplateSyntaxError", "TemplateAssertionError", "TemplateRuntimeError", "UndefinedError", "SecurityError", "FilterArgumentError",
          "TypeError", "ValueError", "ZeroDivisionError", "KeyError", "IndexError", "AttributeError", "OverflowError"]

TYPES = {"str": str, "list": list, "dict": dict, "tuple": tuple}


def public(kind):
    return sorted(name for name in dir(kind) if not name.startswith("_"))


def wanted():
    """Everything that has to be covered: kind -> names."""
    names = {
        "filter": sorted(filters.FILTERS),
        "test": sorted(tests.TESTS),
        "tag": sorted((_statement_keywords - FOREIGN_TAGS) | {"call", "filter", "raw", "elif", "else"}),
        "global": sorted(SandboxedEnvironment().globals),
        "loop": sorted(public(LoopContext) + ["depth0"]),
        "error": sorted(ERRORS),
        "constant": ["none", "true", "false"],
        "matrix": list(MATRIX),
    }
    # The sandbox gives format and format_map of its own for those of str.
    for name, kind in TYPES.items():
        names[f"{name} method"] = public(kind)
    return names


class Watching(SandboxedEnvironment):
    """A sandbox that notes which attributes of which types templates reach for."""

    def __init__(self, used):
        super().__init__()
        self.used = used

    def getattr(self, obj, attribute):
        for name, kind in TYPES.items():
            if isinstance(obj, kind) or obj is kind:
                self.used.add((f"{name} method", attribute))
        if isinstance(obj, LoopContext):
            self.used.add(("loop", attribute))
        return super().getattr(obj, attribute)


def covered(source, result, context):
    """What a case uses. A case that fails counts for its error only."""
    if "error" in result:
        return {("error", result["error"]["kind"])} if result["error"]["line"] > 0 else set()
    used = set()
    environment = Watching(used)
    tree = environment.parse(source)
    used |= {("filter", n.name) for n in tree.find_all(jinja2.nodes.Filter)} | {("test", n.name) for n in tree.find_all(jinja2.nodes.Test)}
    used |= {("global", n.name) for n in tree.find_all(jinja2.nodes.Name)}
    used |= {("constant", str(n.value).lower()) for n in tree.find_all(jinja2.nodes.Const)}
    used |= {("tag", t) for t in re.findall(r"\{%[-+]?\s*(\w+)", source)}
    # Names given to filters as text are used as well: map('upper'), select('odd').
    for n in tree.find_all(jinja2.nodes.Filter):
        given = [a.value for a in n.args if isinstance(a, jinja2.nodes.Const)]
        used |= {("filter", v) for v in given if n.name == "map"}
        used |= {("test", v) for v in given if n.name.startswith(("select", "reject"))}
    environment.from_string(source).render(context)
    return used


def report(cases):
    """Prints how often each name is used in cases, (name, source, result, context) each; returns what nothing uses."""
    count = {(kind, name): 0 for kind, names in wanted().items() for name in names}
    for name, source, result, context in cases:
        used = covered(source, result, context)
        if name.startswith("matrix: "):
            used.add(("matrix", name.removeprefix("matrix: ")))
        for key in used & count.keys():
            count[key] += 1
    for kind in wanted():
        print(f"{kind}: " + ", ".join(f"{name} {n}" for (of, name), n in count.items() if of == kind))
    return [f"{kind} {name}" for (kind, name), n in count.items() if n == 0]
