"""The mechanism that the parameters choose, remembered between runs."""

from syntf import cache, nearest
from syntf.calibration import epsilon_for_loss
from syntf.mechanism import ExponentialMechanism, Mechanism
from syntf.neighbourhood import NeighbourhoodMechanism
from syntf.rating import Rating, WithEmptyDocument
from syntf.stages import Stages, silent


def build(
    words: Rating,
    *,
    epsilon: float,
    loss: float | None = None,
    neighbours: int | None = None,
    device: str | None = None,
    keep: bool = True,
    stages: Stages = silent,
) -> Mechanism:
    """A mechanism for words rated so, with one more input for the document without any.

    With a wanted `loss`, ε is found for it: by search, or, with `neighbours`, as twice the loss.
    A `device` of PyTorch works out what the cache does not know: the same integers, sooner.
    Without `keep` nothing is asked of the cache or left there: whoever has the word vectors can
    tell most outputs from the numbers of neighbours, so those of private words are not for it.
    """
    if neighbours is not None:
        with stages("finding neighbours", words.shape[0]) as advance:
            find = cache.neighbours if keep else nearest.nearest
            found = find(words, int(neighbours), advance, device)
        return NeighbourhoodMechanism(
            found,
            outputs=words.shape[1],
            epsilon=epsilon if loss is None else 2 * loss,
            rating_digest=words.digest,
        )
    rating = WithEmptyDocument(words)

    def measure(epsilon: float) -> ExponentialMechanism:
        with stages("measuring the loss", rating.shape[0]) as advance:
            if keep:
                return cache.mechanism(rating, epsilon, advance, device)
            return ExponentialMechanism(rating, epsilon=epsilon, device=device, progress=advance)

    return measure(epsilon) if loss is None else epsilon_for_loss(loss, measure)
