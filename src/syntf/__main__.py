"""The program `syntf`, also run by `python -m syntf`."""

from syntf.cli import main

if __name__ == "__main__":
    main()
