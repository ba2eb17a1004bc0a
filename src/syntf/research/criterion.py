"""The paper's criterion for the best parameters: the largest smallest gain over all scenarios."""

from collections.abc import Iterable

from syntf.evaluation.experiment.results import Parameters, Results, analyst_gain


def smallest_gain(
    results: Results, parameters: Parameters, model: str, *, attacker: str = "writeprints"
) -> float | None:
    """Return the smallest gain over all scenarios; None if a scenario is missing."""
    gains = [
        analyst_gain(results, parameters, scenario, model, attacker=attacker)
        for scenario in results.scenarios
    ]
    return None if None in gains else min(gains, default=None)  # type: ignore[type-var]


def rank_parameters(
    results: Results, model: str, *, attacker: str = "writeprints"
) -> list[Parameters]:
    """Return all parameters, those with the largest smallest gain first, and equals as displayed.

    Parameters without results in some scenario are left out, since it may be their worst.
    """
    gains = {
        parameters: smallest_gain(results, parameters, model, attacker=attacker)
        for parameters in results.by_parameters
    }
    known = {parameters: gain for parameters, gain in gains.items() if gain is not None}
    return sorted(known, key=known.__getitem__, reverse=True)


def best_parameters(
    results: Results, model: str, *, attacker: str = "writeprints"
) -> Parameters | None:
    """Return the optimum by the paper's criterion, among the parameters with the most runs.

    Of many parameters with a single run, the first is rather lucky than good: its gain would be
    smaller in other runs.
    """
    ranked = rank_parameters(results, model, attacker=attacker)
    runs = {one: number_of_runs(results, one) for one in ranked}
    most = max(runs.values(), default=0)
    return next((one for one in ranked if runs[one] == most), None)


def number_of_runs(results: Results, parameters: Parameters) -> int:
    """Return how often these parameters were run."""
    return max((one.runs for one in results.by_parameters.get(parameters, ())), default=0)


def select_best(results: Results, candidates: Iterable[Parameters], count: int) -> list[Parameters]:
    """Return the `count` best of the candidates for each classifier, without repetitions."""
    among = set(candidates)
    chosen: dict[Parameters, None] = {}
    for model in results.models:
        ranked = [one for one in rank_parameters(results, model) if one in among]
        chosen.update(dict.fromkeys(ranked[:count]))
    return list(chosen)
