"""A model server on 127.0.0.1 that counts tokens by a tokenizer of its own and answers at varying length."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PIECE = re.compile(r"[A-Za-z]{1,3}|\d|\s+|[^\sA-Za-z\d]")
"""Pieces of at most three letters, single digits, runs of white space, single signs: nothing like cl100k_base."""


def count(text: str) -> int:
    """Tokens of a text by this server's tokenizer."""
    return len(PIECE.findall(text))


class Handler(BaseHTTPRequestHandler):
    """Answers every chat completion by the answer's schema, its length drawn from the prompt."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = "\n".join(message["content"] for message in asked["messages"])
        draw = int(hashlib.sha256(prompt.encode()).hexdigest(), 16)
        words = " ".join(["so"] * (draw % 90))
        answer = json.dumps(
            {"answer": f"{draw % 5000} {words}".strip(), "confidence": (draw % 101) / 100, "quotes": []}
        )
        body = json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": asked["model"],
                "choices": [
                    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}
                ],
                "usage": {
                    "prompt_tokens": count(prompt) + 17,
                    "completion_tokens": count(answer),
                    "total_tokens": count(prompt) + 17 + count(answer),
                },
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def running() -> Iterator[str]:
    """The address of a running server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
