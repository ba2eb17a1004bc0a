"""From a wanted loss to the ε that gives it."""

from collections.abc import Callable

from syntf.mechanism import ExponentialMechanism

CLOSE = 0.002  # stop when the measured loss is within this share of the wanted one
TRIES = 16


def epsilon_for_loss(
    loss: float, measure: Callable[[float], ExponentialMechanism]
) -> ExponentialMechanism:
    """The mechanism of largest ε found whose *measured* loss is at most `loss`.

    ε = loss is always allowed, since the loss never exceeds ε by more than rounding (which
    the step below takes off again). From there, false position between the largest ε
    allowed and the smallest one refused: the loss is close to linear in ε, so a few
    measurements do.
    """
    best = measure(loss)
    while best.loss > loss:
        best = measure(best.epsilon * (loss / best.loss) * (1 - 1e-9))
    refused: ExponentialMechanism | None = None
    for _ in range(TRIES):
        if best.loss >= loss * (1 - CLOSE) or best.loss == 0:
            break
        if refused is None:
            guess = min(best.epsilon * loss / best.loss, 2 * best.epsilon)
        else:
            rise = (refused.loss - best.loss) / (refused.epsilon - best.epsilon)
            guess = best.epsilon + (loss * (1 - CLOSE / 4) - best.loss) / rise
        found = measure(round(guess, 6))
        if found.loss > loss:
            refused = found
        elif found.loss > best.loss:
            best = found
        else:
            break
    return best
