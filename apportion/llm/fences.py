"""Fences: text from elsewhere stands in a prompt as data that nothing inside it can leave.

A fence is a pair of tags on lines of their own, ``<page filing="F" number="3">`` … ``</page>``. Inside it
every ``<`` is written ``&lt;`` (and an ``&`` that would then be mistaken for such an escape is written
``&amp;``), so a closing delimiter, another label or a whole forged fence in a filing, a question or an
answer stays plain text. The escape is exact: :func:`parse` gives back what :func:`fence` was given.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_TAG = r"[a-z][a-z_]*"
_ESCAPED = re.compile(r"&((?:amp;)*)lt;")
_FENCE = re.compile(
    rf'<(?P<tag>{_TAG})(?P<attributes>(?: {_TAG}="[^"<>\n\r]*")*)>\n(?P<body>[^<]*)\n</(?P=tag)>'
)
_ATTRIBUTE = re.compile(rf'({_TAG})="([^"]*)"')
_LINE_BREAKS = re.compile(r"[\n\r]")


@dataclass(frozen=True, slots=True)
class Fenced:
    """One fenced piece of a prompt: its tag, its attributes and the text as it was before fencing."""

    tag: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)


def fence(tag: str, text: str, **attributes: str | int) -> str:
    """``text`` between ``<tag …>`` and ``</tag>``, escaped so that it cannot end the fence or open another.

    Raises:
        ValueError: if ``tag`` or an attribute's name isn't lower-case letters and underscores.
    """
    for name in (tag, *attributes):
        if not re.fullmatch(_TAG, name):
            raise ValueError(f"fence name {name!r}: use lower-case letters and underscores")
    opening = "".join(f' {name}="{_escape_attribute(str(value))}"' for name, value in attributes.items())
    return f"<{tag}{opening}>\n{_escape(text)}\n</{tag}>"


def parse(prompt: str) -> list[Fenced]:
    """The fences of ``prompt`` in order, with their text and attributes unescaped."""
    return [
        Fenced(
            tag=found["tag"],
            text=_unescape(found["body"]),
            attributes={
                name: html.unescape(value) for name, value in _ATTRIBUTE.findall(found["attributes"])
            },
        )
        for found in _FENCE.finditer(prompt)
    ]


def _escape(text: str) -> str:
    return re.sub(r"&(?=(?:amp;)*lt;)", "&amp;", text).replace("<", "&lt;")


def _unescape(text: str) -> str:
    if "&" not in text:
        return text
    return _ESCAPED.sub(lambda found: "&" + found[1][4:] + "lt;" if found[1] else "<", text)


def _escape_attribute(value: str) -> str:
    return _LINE_BREAKS.sub(lambda found: f"&#{ord(found[0])};", html.escape(value, quote=True))
