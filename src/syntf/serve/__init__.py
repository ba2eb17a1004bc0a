"""A local HTTP service that anonymises texts, and a page that shows how the method works.

Needs the extra ``syntf[serve]``. Started by ``syntf serve``.
"""

__all__: list[str] = []
