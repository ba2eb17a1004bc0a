"""The compiled inner loops, optional: without a compiler the package runs on NumPy alone."""

import sys
from pathlib import Path

from setuptools import Extension, setup

# No fused multiply-add, whatever the processor: the integers must be the same everywhere.
exact = (
    []
    if sys.platform == "win32"
    else ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
)

setup(
    ext_modules=[
        Extension(
            f"syntf.native.{loops.stem}",
            [str(loops)],
            depends=sorted(str(shared) for shared in Path("src/syntf/native").glob("_*.h")),
            extra_compile_args=exact,
            py_limited_api=True,
            optional=True,
        )
        for loops in sorted(Path("src/syntf/native").glob("_*.c"))
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
