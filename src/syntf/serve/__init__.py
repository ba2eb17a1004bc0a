"""A local service: texts in, synthetic counts out; and a page that shows how.

Needs the extra ``syntf[serve]``; started by ``syntf serve``.
"""

__all__: list[str] = []
