"""From a wanted loss to the ε that gives it."""

from collections.abc import Callable
from math import inf

from syntf.core.errors import SyntfError
from syntf.mechanism.exponential import ExponentialMechanism

CLOSE = 0.002  # stop when the measured loss is within this share of the wanted one
TRIES = 16


def epsilon_for_loss(
    loss: float, measure: Callable[[float], ExponentialMechanism]
) -> ExponentialMechanism:
    """The mechanism of largest ε found whose *measured* loss is at most `loss`.

    ε = loss is allowed, but for rounding to integers, since the loss does not exceed ε. From
    there, false position between the largest ε allowed and the smallest one refused: the
    loss is close to linear in ε, so a few measurements do.
    """
    best = measure(loss)
    if best.loss > loss:
        best = measure(loss / 2)
    if best.loss > loss:
        raise SyntfError(f"a loss of {loss:g} per word is below what whole numbers can express")
    refused: ExponentialMechanism | None = None
    for _ in range(TRIES):
        if best.loss >= loss * (1 - CLOSE) or best.loss == 0:
            break
        if refused is None:
            guess = min(best.epsilon * (loss / best.loss), 2 * best.epsilon)
        else:
            rise = (refused.loss - best.loss) / (refused.epsilon - best.epsilon)
            guess = best.epsilon + (loss * (1 - CLOSE / 4) - best.loss) / rise
        guess = float(f"{guess:.9g}")
        if not best.epsilon < guess < (refused.epsilon if refused else inf):
            break
        found = measure(guess)
        if found.loss > loss:
            refused = found
        elif found.loss > best.loss:
            best = found
        else:
            break
    return best
