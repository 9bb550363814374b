"""What importing the engine must not load, and what it does without numba."""

from __future__ import annotations

import subprocess
import sys


def test_heavy_packages_wait_until_they_are_needed():
    code = (
        "import sys, pkgutil, importlib, apportion.allocation as a\n"
        "for m in pkgutil.iter_modules(a.__path__):\n"
        "    if m.name != 'kernels': importlib.import_module(f'apportion.allocation.{m.name}')\n"
        "import apportion.bootstrap, apportion.evaluation.bootstrap_path\n"
        "loaded = {'numba', 'scipy', 'sklearn', 'pyarrow', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(loaded)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (0, "")


def test_without_numba_the_numpy_way_is_taken():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np\n"
        "from apportion.allocation.compiled import kernels\n"
        "from apportion.allocation.path import allocation_path\n"
        "rng = np.random.default_rng(0)\n"
        "gains, costs = rng.normal(size=(30000, 3)), rng.integers(1, 99, (30000, 3))\n"
        "assert kernels(True) is None\n"
        "print(len(allocation_path(gains, costs)))"
    )
    without = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    import numpy as np

    from apportion.allocation.path import allocation_path

    rng = np.random.default_rng(0)
    gains, costs = rng.normal(size=(30000, 3)), rng.integers(1, 99, (30000, 3))
    assert int(without.stdout) == len(allocation_path(gains, costs))
