"""A model server for every kind of call: reads questions, checks chunks, describes, embeds, reranks, answers, grades.

Every reply follows from the request, so that repeated calls have the same answers. It runs in threads of this process.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Served:
    """Where the server is, the requests it has had (kind and body), and when each came and was answered.

    Times are of this process's monotonic clock; ``spans`` are in the order of arrival, if one call goes at a time.
    """

    def __init__(
        self, url: str, seen: list[tuple[str, dict[str, Any]]], spans: list[tuple[float, float]]
    ) -> None:
        self.url = url
        self.seen = seen
        self.spans = spans

    def count(self, kind: str) -> int:
        return sum(path == kind for path, _ in self.seen)


def vector(text: str) -> list[float]:
    """Words hashed into 16 places."""
    places = [0.0] * 16
    for word in re.findall(r"\w+", text.lower()):
        places[hashlib.md5(word.encode()).digest()[0] % 16] += 1.0
    return places


def chat(body: dict[str, Any]) -> tuple[str, str]:
    """The kind of a chat request and the reply to it."""
    prompt = json.dumps(body)
    user = body["messages"][1]["content"]
    if body["messages"][0]["content"].startswith("Grade"):
        labels = re.findall(r'label="?(\w)', user)
        return "judge", json.dumps({"grades": [{"label": n, "correct": True, "score": 1.0} for n in labels]})
    if body["messages"][0]["content"].startswith("Score"):
        return "rubric", json.dumps({"score": 7, "reason": "nearly"})
    if "tickers" in prompt:
        return "route", json.dumps({"query": user, "keywords": user.split(), "tickers": [], "years": []})
    if "belongs" in prompt:
        return "verify", json.dumps({"belongs": False, "reason": "always another"})
    if "keywords" in prompt:
        return "rewrite", json.dumps({"query": user, "keywords": user.split()})
    if "Describe a chunk" in prompt:
        return "describe", "This chunk tells of the company's statements."
    return "answer", json.dumps({"answer": "$1,000 million", "confidence": 0.5, "quotes": []})


@contextlib.contextmanager
def running() -> Iterator[Served]:
    """The server on a free port."""
    seen: list[tuple[str, dict[str, Any]]] = []
    spans: list[tuple[float, float]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            came = time.monotonic()
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/embeddings"):
                rows = [
                    {"object": "embedding", "index": i, "embedding": vector(t)}
                    for i, t in enumerate(body["input"])
                ]
                kind, reply = (
                    "embed",
                    {
                        "object": "list",
                        "model": body["model"],
                        "data": rows[::-1],
                        "usage": {"prompt_tokens": 7 * len(rows), "total_tokens": 7 * len(rows)},
                    },
                )
            elif self.path.endswith("/rerank"):
                results = [
                    {"index": i, "relevance_score": float(len(set(vector(t))))}
                    for i, t in enumerate(body["documents"])
                ]
                kind, reply = "rerank", {"id": "r", "results": results, "usage": {"total_tokens": 5}}
            else:
                kind, text = chat(body)
                reply = {
                    "id": "c",
                    "object": "chat.completion",
                    "created": 1,
                    "model": body["model"],
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "stop",
                            "message": {"role": "assistant", "content": text},
                        }
                    ],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
                }
            seen.append((kind, body))
            spans.append((came, time.monotonic()))
            raw = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_port}/v1", seen, spans)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
