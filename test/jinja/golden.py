"""Renders every case of cases.py with the real Jinja2 and writes golden.json, which the Go test reads. Prints how often
each name that templates may use is covered, and fails if one is not.

Run it through regenerate.sh, which provides the right version of Jinja2.
"""

import json
import pathlib
import sys
import traceback

import jinja2
from jinja2.sandbox import SandboxedEnvironment

import coverage
from cases import CASES, CONTEXT

EXPECTED_VERSION = "3.1.6"
LEAST_CASES = 400


def line_of(error):
    """The line in the template, or 0."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return error.lineno
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == "<template>"]
    return lines[-1] if lines else 0


def render(source, context):
    try:
        return {"output": SandboxedEnvironment().from_string(source).render(json.loads(context))}
    except Exception as error:  # every exception is a result here
        return {"error": {"kind": type(error).__name__, "line": line_of(error)}}


def main():
    if jinja2.__version__ != EXPECTED_VERSION:
        sys.exit(f"Jinja2 {EXPECTED_VERSION} is needed, this is {jinja2.__version__}")
    seen = set()
    golden, done = [], []
    for case in CASES:
        name, source = case[0], case[1]
        if name in seen:
            sys.exit(f"two cases are named {name!r}")
        seen.add(name)
        entry = {"name": name, "template": source}
        if len(case) > 2:
            entry["context"] = case[2]
        context = case[2] if len(case) > 2 else CONTEXT
        result = render(source, context)
        entry.update(result)
        golden.append(entry)
        done.append((name, source, result, json.loads(context)))
    missing = coverage.report(done)
    if missing or len(golden) < LEAST_CASES:
        sys.exit(f"{len(golden)} cases; nothing covers: {', '.join(missing)}")
    document = {"jinja2": jinja2.__version__, "context": CONTEXT, "cases": golden}
    path = pathlib.Path(__file__).with_name("golden.json")
    path.write_text(json.dumps(document, indent=1, ensure_ascii=True) + "\n")
    print(f"{len(golden)} cases written to {path}")


if __name__ == "__main__":
    main()
