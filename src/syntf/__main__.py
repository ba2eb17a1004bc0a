"""`python -m syntf` is `syntf`."""

from syntf.cli import main

if __name__ == "__main__":
    main()
