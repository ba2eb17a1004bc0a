"""The evaluation of the paper (Weggenmann & Kerschbaum, SIGIR 2018), repeated with syntf.

Run it in the clone with ``python -m paper --help``. Nothing in the product imports this package.
"""
