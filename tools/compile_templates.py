"""Write the Python code of the report's templates, so that no run has to compile them.

    python tools/compile_templates.py

Run this after every change of a template. A stale file is not used: it only costs time.
"""

from pathlib import Path

from syntf.report import page

TARGET = Path(page.__file__).parent / "templates" / page.COMPILED_FILE


def main() -> None:
    """Write the file."""
    TARGET.write_text(page.compile_templates(), encoding="utf-8")


if __name__ == "__main__":
    main()
