"""Look for released prototypes that the mechanism cannot have drawn, because noise is missing.

Nobody can prove that prototypes were drawn, but some could not have been. Whatever a document is,
randomised response releases every answer of the list with a probability of at least b/T. An answer
holds n of K entries, so each draw releases a given entry with a probability of at least q =
M·b/T · n/K, where M is the number of answers. Let N be the number of draws.

**Each entry.** The number of draws that hold an entry is at least as large, in distribution, as a
binomial number with N and q.

**All entries together.** Take one entry at random from each noisy draw: the draw gives a certain
entry with the probability q/n, or none. Such indicators are negatively associated, because at most
one of a draw is 1, and so are the indicators of entries that some draw gives, each of which has the
probability 1 − (1 − q/n)^N. Their sum keeps the bound of Chernoff and Hoeffding, and the number of
distinct entries that were released is at least as large.

Both bounds are P(share ≤ x) ≤ exp(−trials · KL(x, p)) for a share x below p. The first is divided
among K entries. A release fails if the chance is below 10⁻⁹. The test finds true topics passed off
as drawn; it says little if the loss is so large that noise is rare.
"""

from math import expm1, inf, log, log1p

import numpy as np
from numpy.typing import NDArray

from syntf.codebook.lists import EntryList
from syntf.core.errors import SyntfError
from syntf.mechanism.response import ResponseMechanism
from syntf.verification.plausibility import CERTAINTY
from syntf.verification.result import Finding


def check_noise(
    released: list[tuple[EntryList, ResponseMechanism, NDArray[np.int64]]],
) -> Finding:
    """Check, for each list, how often each of its entries was released."""
    tests = max(1, 2 * len(released))
    for entry_list, response, counts in released:
        chance = least_chance(entry_list, response)
        draws = int(counts.sum()) // entry_list.size
        if draws == 0:
            continue
        least = log_tail(draws, chance, int(counts.min())) + log(len(entry_list))
        seen = -expm1(draws * log1p(-chance / entry_list.size))
        distinct = log_tail(len(entry_list), seen, int(np.count_nonzero(counts)))
        if min(least, distinct) + log(tests) < -CERTAINTY:
            raise SyntfError(
                "these prototypes cannot have been drawn with the noise of this mechanism: the "
                "chance that so many prototypes of the list are so rare is below one in 10^9"
            )
    return Finding("no prototype is rarer than the noise of the mechanism allows")


def least_chance(entry_list: EntryList, response: ResponseMechanism) -> float:
    """Return the least probability that a draw releases a given entry."""
    noise = response.answers * response.background / response.total
    return noise * entry_list.size / len(entry_list)


def log_tail(trials: int, chance: float, hits: int) -> float:
    """Return a bound on the logarithm of the probability of at most so many hits.

    >>> round(log_tail(10, 0.5, 0), 6), log_tail(10, 0.5, 5)
    (-6.931472, 0.0)
    """
    share = hits / trials
    if share >= chance:
        return 0.0
    if chance >= 1:
        return -inf
    divergence = (1 - share) * (log1p(-share) - log1p(-chance))
    if share:
        divergence += share * log(share / chance)
    return -trials * divergence
