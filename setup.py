"""Build the compiled inner loops. They are optional: without a compiler, NumPy does the same."""

import sys
from pathlib import Path

from setuptools import Extension, setup

# Forbid fused multiply-add: the integers must be the same on every processor.
compile_args = (
    []
    if sys.platform == "win32"
    else ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
)

setup(
    ext_modules=[
        Extension(
            f"syntf.native.{source.stem}",
            [str(source)],
            depends=sorted(str(header) for header in Path("src/syntf/native").glob("_*.h")),
            extra_compile_args=compile_args,
            py_limited_api=True,
            optional=True,
        )
        for source in sorted(Path("src/syntf/native").glob("_*.c"))
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
