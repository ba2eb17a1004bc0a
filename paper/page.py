"""The page with the paper's tables, measured again; ``page.md`` is its template."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import minijinja
import numpy as np

from paper import published
from paper.corpus import Corpus
from paper.published import GRID, OPTIMUM
from paper.results import Result, Results, display_name
from paper.scenarios import Scenario

SYMBOLS = {"epsilon": "ε", "length": "*n*", "spelling": "*s*"}
"""The parameters, as the paper calls them."""


def page(corpus: Corpus, scenarios: Sequence[Scenario], results: Results, **names: str) -> str:
    """Return the page in Markdown; `names` are those of the tagger and the scrubber."""
    known = corpus.authors[corpus.train & (corpus.authors != "")]
    per_author = np.unique(known, return_counts=True)[1]
    ran = list(results.by_parameters)
    here = {name: sorted({getattr(one, name) for one in ran}) for name in GRID}
    values: dict[str, Any] = {
        "published": published,
        "scenarios": results.scenarios,
        "models": results.models,
        "attackers": results.attackers,
        "find": partial(results.find, parameters=OPTIMUM),
        "beta": partial(results.beta, parameters=OPTIMUM),
        "gain": lambda s, *key: results.gain(OPTIMUM._replace(spelling=s), *key),
        "loss": results.loss(OPTIMUM),
        "sizes": [one.row for one in scenarios],
        "authors": (f"{len(per_author):,}", int((per_author >= 20).sum())),
        "here": here,
        "ran": len(ran),
        "often": sorted(Counter(map(results.runs, ran)).items()),
        "best": {model: _most_often(results, model) for model in results.models},
        "effects": [_effect(results, name, value) for name in GRID for value in here[name]],
        "summary": summary(results),
        **names,
    }
    environment = minijinja.Environment(trim_blocks=True, undefined_behavior="strict")
    filters: dict[str, Callable[..., str]] = {
        "f1": _f1, "number": _number, "percent": _percent, "parameter": _parameter,
        "name": display_name, "symbol": lambda name: SYMBOLS.get(name) or str(name),
    }  # fmt: skip
    for name, write in filters.items():
        environment.add_filter(name, write)
    template = (Path(__file__).parent / "page.md").read_text(encoding="utf-8")
    return environment.render_str(template, **values)


def summary(results: Results) -> str:
    """Say what attacker and analyst keep at the paper's optimum, beside the paper's numbers."""
    kept = results.beta("syntf", "attack", "nb", "top10-any", OPTIMUM)
    gain = results.gain(OPTIMUM, "top10-any", "nb")
    return (
        f"At the paper's optimum, the attacker keeps {_percent(kept, 0)} of its score here, not "
        f"66 %, and the analyst's gain over it is {_percent(gain, 0)}, not 20 % (naive Bayes, "
        "Top 10/Any)."
    )


def _most_often(results: Results, model: str) -> list[dict[str, Any]]:
    """Describe the combinations that were run most often, those with the best gains first.

    The paper's optimum is compared with these alone: of hundreds that were run once, many are above
    it by luck.
    """
    most = max(map(results.runs, results.by_parameters))
    return [
        {
            "parameters": list(map(_parameter, one)),
            "runs": most,
            "loss": results.loss(one),
            "utility": results.beta("syntf", "utility", model, "", one),
            "gains": [results.gain(one, scenario, model) for scenario in results.scenarios],
            "smallest": results.smallest_gain(one, model),
            "published": one == OPTIMUM,
        }
        for one in results.ranked(model)
        if results.runs(one) == most
    ]


def _effect(results: Results, name: str, value: Any) -> dict[str, Any]:
    """Return means over all combinations with a value of a parameter, two for each model."""
    own = [one for one in results.by_parameters if getattr(one, name) == value]
    means = []
    for model in results.models:
        means.append(fmean(results.beta("syntf", "utility", model, "", one) for one in own))
        means.append(fmean(results.smallest_gain(one, model) for one in own))
    return {"name": name, "value": value, "count": len(own), "means": means}


def _f1(result: Result) -> str:
    return f"{result.f1:.3f}" + ("" if result.f1_std is None else f" ± {result.f1_std:.3f}")


def _number(value: float, digits: int = 3) -> str:
    return f"{value:z.{digits}f}".replace("-", "−")


def _percent(share: float, digits: int = 1) -> str:
    return f"{_number(100 * share, digits)} %"


def _parameter(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | str) else f"{value:g}"
