"""Divide documents into those to learn from and those to test on.

Random splits flatter: a thread or an author on both sides is recognised by its own words, and the
past is predicted from the future. So documents can also be divided by groups and by time. Every
division is the same each time it is made.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from syntf.core.errors import SyntfError

Names = NDArray[np.str_]


def divide(groups: Names, share: float) -> tuple[NDArray[np.bool_], list[str]]:
    """Choose training documents; each group keeps its share where the groups allow it."""
    _check(len(groups), share)
    names, counts = np.unique(groups, return_counts=True)
    single = {name for name, count in zip(names, counts, strict=True) if count < 2}
    notices = []
    if single:
        have = "has" if len(single) == 1 else "have"
        notices.append(
            f"{len(single):,} of {len(names):,} groups {have} a single text, which is never tested"
        )
    several = np.flatnonzero(~np.isin(groups, sorted(single)))
    train = np.ones(len(groups), dtype=bool)
    kinds = len(names) - len(single)
    possible = kinds and min(share, 1 - share) * len(several) >= kinds
    among, stratify = (several, groups[several]) if possible else (np.arange(len(groups)), None)
    _, tested = train_test_split(among, test_size=share, stratify=stratify, random_state=0)
    train[tested] = False
    return train, notices


def divide_by_group(groups: Names, share: float) -> NDArray[np.bool_]:
    """Choose training documents so that no group is on both sides.

    Groups are taken for testing in the order of the hashes of their names, as long as the test
    documents stay within their share. A document without a group is a group of its own.

    >>> divide_by_group(np.array(["a", "a", "b", "b"]), 0.5).tolist()
    [True, True, False, False]
    """
    _check(len(groups), share)
    members = _members(groups)
    if len(members) < 2:
        raise SyntfError("the column of --group needs two different groups at least")
    order = sorted(members, key=lambda name: sha256(name.encode("utf-8", "surrogatepass")).digest())
    most = min(max(round(share * len(groups)), 1), len(groups) - 1)
    train = np.ones(len(groups), dtype=bool)
    tested = 0
    for name in order:
        if tested + len(members[name]) <= most:
            train[members[name]] = False
            tested += len(members[name])
    if not tested:  # all groups are too large: the smallest one is tested
        train[min(members.values(), key=len)] = False
    return train


def divide_by_time(times: Names, groups: Names | None, share: float) -> NDArray[np.bool_]:
    """Choose the earlier documents for training and the later ones for testing.

    Documents of the same time are on the same side, and so are those of a group, whose time is
    that of its first document. Documents without a time are for training. The cut is where the
    share of test documents is nearest to the wanted one.

    >>> divide_by_time(np.array(["1999", "2001", "2000", "2001", ""]), None, 0.4).tolist()
    [True, False, True, False, True]
    """
    _check(len(times), share)
    key = time_order(times.tolist())
    values: Sequence[str] = times.tolist()
    if groups is not None:
        first = list(values)
        for own in _members(groups).values():
            known = [values[place] for place in own if values[place]]
            for place in own:
                first[place] = min(known, key=key) if known else ""
        values = first
    distinct = sorted({value for value in values if value}, key=key)
    if len(distinct) < 2:
        raise SyntfError(
            "a split by time needs documents of two different times at least: check --time"
        )
    rank = {value: place for place, value in enumerate(distinct)}
    ranks = np.array([rank.get(value, -1) for value in values])
    later = np.cumsum(np.bincount(ranks[ranks >= 0], minlength=len(distinct))[::-1])[::-1]
    cut = 1 + int(np.argmin(np.abs(later[1:] - share * len(times))))
    return np.asarray(ranks < cut)


def check_groups(groups: Names, train: NDArray[np.bool_]) -> None:
    """Refuse a given division that has documents of a group on both sides."""
    both = set(groups[train].tolist()) & set(groups[~train].tolist()) - {""}
    if both:
        raise SyntfError(
            f"{len(both):,} groups of --group have both train and test rows in the column of "
            "--split: leave one of the two options out"
        )


def time_order(values: Sequence[str]) -> Callable[[str], Any]:
    """Return the key by which times are sorted.

    Times are ordered as numbers if all of them are numbers, otherwise as text, which suits dates
    such as 2024-05-17.

    >>> sorted(["10", "9"], key=time_order(["10", "9"]))
    ['9', '10']
    """
    try:
        numbers = {value: float(value) for value in values if value}
    except ValueError:
        return str
    return lambda value: (numbers[value], value)


def _members(groups: Names) -> dict[str, list[int]]:
    """Return the places of the documents of each group; empty names are groups of their own."""
    members: dict[str, list[int]] = {}
    for place, name in enumerate(groups.tolist()):
        members.setdefault(name or f"\0{place}", []).append(place)
    return members


def _check(documents: int, share: float) -> None:
    if not 0 < share < 1:
        raise SyntfError(f"the share of test texts must be between 0 and 1, not {share!r}")
    if documents < 2:
        raise SyntfError("at least two texts are needed: one for training and one for testing")
