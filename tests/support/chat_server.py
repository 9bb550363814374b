"""A server on 127.0.0.1 that speaks the OpenAI chat API and misbehaves on command.

A prompt says what is to happen: ``do: 429 500 ok | any text`` answers the first request for that prompt with 429, the
second with 500, and every later one well. ``GET /log`` lists the requests received. It runs in a process of its own,
so that it neither shares the caller's interpreter nor dies with it:

    with running() as server: ... server.url, server.log(), server.requests("any text")
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

KEY_ECHO = "Incorrect API key provided: {key}. You can find your API key in your account."

#: How providers say that a prompt does not fit, with the status they say it with.
OVERFLOWS: dict[str, tuple[int, dict[str, Any]]] = {
    "openai": (
        400,
        {
            "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001"
            " tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "param": "messages",
            "code": "context_length_exceeded",
        },
    ),
    "openai_responses": (
        400,
        {
            "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "type": "invalid_request_error",
        },
    ),
    "openai_configured": (
        400,
        {
            "message": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000."
        },
    ),
    "anthropic": (
        400,
        {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"},
    ),
    "anthropic_with_output": (
        400,
        {
            "type": "invalid_request_error",
            "message": "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease"
            " input length or `max_tokens` and try again",
        },
    ),
    "bedrock": (400, {"message": "Input is too long for requested model."}),
    "gemini": (
        400,
        {
            "code": 400,
            "status": "INVALID_ARGUMENT",
            "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        },
    ),
    "cohere": (400, {"message": "too many tokens: total length 140000 exceeds model limit of 128000"}),
    "mistral": (
        400,
        {
            "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768"
            " maximum context length"
        },
    ),
    "groq": (
        413,
        {
            "message": "Please reduce the length of the messages or completion.",
            "code": "context_length_exceeded",
        },
    ),
    "xai": (
        400,
        {"message": "This model's maximum prompt length is 131072 but the request contains 140000 tokens."},
    ),
    "cerebras": (400, {"message": "Please reduce the length. Current length is 9001 while limit is 8192"}),
    "tgi": (
        422,
        {
            "message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given:"
            " 5000 `inputs` tokens"
        },
    ),
    "llama_cpp": (
        400,
        {
            "code": 400,
            "type": "exceed_context_size_error",
            "message": "the request exceeds the available context size. try increasing the context size",
        },
    ),
    "sglang": (
        400,
        {"message": "The input (9001 tokens) is longer than the model's context length (8192 tokens)."},
    ),
    "vllm": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the"
            " messages, Please reduce the length of the messages.",
        },
    ),
    "databricks": (400, {"message": "Input is too long for this model: maximum input length is 4096 tokens"}),
    "ollama": (400, {"message": "prompt too long; exceeded max context length by 904 tokens"}),
    "lm_studio": (
        500,
        {
            "message": "The number of tokens to keep from the initial prompt is greater than the context length."
        },
    ),
}


class Misbehaving:
    """The server's side."""

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s
        self.seen: dict[str, int] = {}
        self.log: list[dict[str, Any]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept alive for as long as the client likes."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while await self._one(reader, writer):
                pass
        writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        if lines[0].startswith("GET"):
            _write(writer, 200, self.log)
            await writer.drain()
            return True
        return await self._chat(json.loads(raw), headers, writer)

    async def _chat(
        self, body: dict[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter
    ) -> bool:
        prompt = body["messages"][0]["content"]
        command, _, name = prompt.partition("|")
        steps = command.removeprefix("do:").split() if command.startswith("do:") else ["ok"]
        count = self.seen[prompt] = self.seen.get(prompt, 0) + 1
        step, _, value = steps[min(count, len(steps)) - 1].partition(":")
        entry = {"name": name.strip(), "at": time.time(), "body": body, "answered_at": None}
        self.log.append(entry)
        await asyncio.sleep(self.delay_s)
        if step == "hang":
            await asyncio.sleep(3600)
        if step == "drop":
            writer.transport.abort()
            return False
        if step == "slow":
            await asyncio.sleep(float(value))
        if step in ("429", "500", "503", "401", "402", "404"):
            extra = {"Retry-After": value} if value else {}
            error = {"message": f"status {step}", "type": "error", "code": step}
            if step == "401":
                error["message"] = KEY_ECHO.format(
                    key=headers.get("authorization", "").removeprefix("Bearer ")
                )
            _write(writer, int(step), {"error": error}, extra)
        elif step == "overflow":
            status, error = OVERFLOWS[value]
            _write(writer, status, {"error": error})
        elif step == "policy":
            error = {
                "message": "Your request was rejected by our content policy.",
                "code": "content_policy_violation",
            }
            _write(writer, 400, {"error": {"type": "invalid_request_error", **error}})
        elif step == "half":
            payload = json.dumps(_answer(body, "ok", "")).encode()
            writer.write(_head(200, len(payload), {}) + payload[: len(payload) // 2])
            await writer.drain()
            writer.close()
            return False
        elif step == "notjson":
            payload = b"<html>Bad gateway</html>"
            writer.write(_head(200, len(payload), {}) + payload)
        else:
            _write(writer, 200, _answer(body, step, value))
        await writer.drain()
        entry["answered_at"] = time.time()
        return True


def _answer(body: dict[str, Any], step: str, value: str) -> dict[str, Any]:
    text: str | None = "the answer is 42"
    if "response_format" in body or "JSON schema" in body["messages"][-1]["content"]:
        text = '{"verdict": "correct"}'
    finish, refusal, logprobs = "stop", None, None
    usage: dict[str, Any] | None = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    if step == "tokens":
        inputs, outputs = (int(part) for part in value.split(","))
        usage = {"prompt_tokens": inputs, "completion_tokens": outputs, "total_tokens": inputs + outputs}
    elif step == "nousage":
        usage = None
    elif step == "zerousage":
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    elif step == "reasoning":
        usage = {
            "prompt_tokens": 100,
            "completion_tokens": 90,
            "total_tokens": 190,
            "completion_tokens_details": {"reasoning_tokens": 70},
        }
    elif step == "reasoningbeside":
        usage = {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 190,
            "completion_tokens_details": {"reasoning_tokens": 70},
        }
    elif step == "cached":
        usage = {**usage, "prompt_tokens_details": {"cached_tokens": 64}} if usage else None
    elif step == "nulllength":
        text, finish = None, "length"
    elif step == "length":
        text, finish = "the answer is", "length"
    elif step == "cutjson":
        text, finish = '{"verdict": "corr', "length"
    elif step == "fenced":
        text = '```json\n{"verdict": "correct"}\n```'
    elif step == "prosefence":
        text = 'The candidate wrote:\n```json\n{"verdict": "correct"}\n```\nbut I cannot evaluate it.'
    elif step == "prose":
        text = "I think it is correct."
    elif step == "wrongkey":
        text = '{"verdict": "splendid"}'
    elif step == "empty":
        text = ""
    elif step == "refusal":
        text, refusal = None, "I cannot help with that."
    elif step == "filter":
        text, finish = "", "content_filter"
    elif step == "logprobs":
        logprobs = {
            "content": [
                {"token": "4", "logprob": -0.25, "bytes": [52], "top_logprobs": []},
                {"token": "2", "logprob": -0.75, "bytes": [50], "top_logprobs": []},
            ]
        }
    answer: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
                "finish_reason": finish,
                "logprobs": logprobs,
            }
        ],
    }
    if usage is not None:
        answer["usage"] = usage
    return answer


def _head(status: int, length: int, extra: dict[str, str]) -> bytes:
    headers = {"Content-Type": "application/json", "Content-Length": str(length), **extra}
    return (
        f"HTTP/1.1 {status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
    ).encode()


def _write(
    writer: asyncio.StreamWriter, status: int, payload: Any, extra: dict[str, str] | None = None
) -> None:
    raw = json.dumps(payload).encode()
    writer.write(_head(status, len(raw), extra or {}) + raw)


@dataclass(frozen=True)
class Server:
    """The client's side: where it is, and what it has received."""

    url: str

    def log(self) -> list[dict[str, Any]]:
        """Requests received so far, oldest first."""
        with urllib.request.urlopen(self.url + "/log") as response:
            entries: list[dict[str, Any]] = json.load(response)
        return entries

    def requests(self, name: str) -> list[dict[str, Any]]:
        """Requests received for prompts that end in ``name``."""
        return [entry for entry in self.log() if entry["name"] == name]


@contextlib.contextmanager
def running(delay_s: float = 0.0) -> Iterator[Server]:
    """The server in a process of its own, on a free port."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--delay", str(delay_s)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield Server(f"http://127.0.0.1:{int(process.stdout.readline())}/v1")
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


async def _main(delay_s: float) -> None:
    server = await asyncio.start_server(Misbehaving(delay_s).serve, "127.0.0.1", 0, limit=2**24)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    asyncio.run(_main(parser.parse_args().delay))
