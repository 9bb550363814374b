"""The HTML report: tables and plots of every evaluated set in one file that opens offline.

What filings, questions and models wrote is escaped by the template engine; no script runs on the page and nothing is
loaded from elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from apportion.showing import cell

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Apportion: report</title>
<style>
:root { color-scheme: light; --ink: #1d2429; --faint: #66717a; --line: #dfe4e8; --accent: #0b6e4f; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 1080px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; }
h2 { font-size: 1.25rem; margin-top: 2.6rem; border-bottom: 2px solid var(--accent); padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.8rem 0 .3rem; }
p { max-width: 75ch; margin: .3rem 0 .8rem; }
.note { color: var(--faint); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .7rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th { color: var(--faint); font-weight: 600; }
td.n, th.n { text-align: right; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
nav a { margin-right: 1rem; color: var(--accent); }
</style>
</head>
<body>
<h1>Apportion</h1>
<p class="note">{{ subtitle }}</p>
<nav>{% for section in sections %}<a href="#{{ section.anchor }}">{{ section.title }}</a>{% endfor %}</nav>
{% for section in sections %}
<h2 id="{{ section.anchor }}">{{ section.title }}</h2>
{% for line in section.findings %}<p>{{ line }}</p>
{% endfor %}
{% for part in section.parts %}
<h3>{{ part.title }}</h3>
{% if part.note %}<p class="note">{{ part.note }}</p>{% endif %}
{% if part.svg %}<figure>{{ part.svg | safe }}</figure>{% endif %}
{% if part.rows %}<div class="scroll"><table>
<tr>{% for name, numeric in part.head %}<th{% if numeric %} class="n"{% endif %}>{{ name }}</th>{% endfor %}</tr>
{% for row in part.rows %}
<tr>{% for text, numeric in row %}<td{% if numeric %} class="n"{% endif %}>{{ text }}</td>{% endfor %}</tr>
{% endfor %}</table></div>{% endif %}
{% endfor %}
{% endfor %}
</body>
</html>
"""


@dataclass(frozen=True)
class Part:
    """A table or a plot with its title. ``svg`` is markup that our own plotting made, never anybody's text."""

    title: str
    note: str = ""
    frame: pl.DataFrame | None = None
    svg: str = ""

    @property
    def head(self) -> list[tuple[str, bool]]:
        """Column names, and whether each is numeric."""
        return [] if self.frame is None else [
            (name.replace("_", " "), dtype.is_numeric()) for name, dtype in self.frame.schema.items()
        ]  # fmt: skip

    @property
    def rows(self) -> list[list[tuple[str, bool]]]:
        """Cells as text."""
        if self.frame is None:
            return []
        numeric = [dtype.is_numeric() for dtype in self.frame.dtypes]
        return [[(cell(v), n) for v, n in zip(row, numeric, strict=True)] for row in self.frame.iter_rows()]


@dataclass(frozen=True)
class Section:
    """One set and pair of routes."""

    title: str
    findings: Sequence[str] = ()
    parts: Sequence[Part] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Where links go."""
        return "".join(c if c.isalnum() else "-" for c in self.title)


def render(sections: Sequence[Section], subtitle: str) -> str:
    """The page."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(TEMPLATE).render(sections=sections, subtitle=subtitle)
