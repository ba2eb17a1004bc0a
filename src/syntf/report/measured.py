"""What an evaluation measured on the owner's texts: analyst and attackers, before and after."""

from collections.abc import Sequence

from syntf.core.exact import shown
from syntf.report import svg
from syntf.report.contents import Compared, Evaluated, Link, Scenario
from syntf.report.markup import Markup, element, score, section, table


def measured(found: Evaluated) -> Markup:
    runs = "one release" if found.runs == 1 else f"the mean of {found.runs} releases"
    parts = [
        element(
            "p",
            element("strong", "For the owner of the texts. "),
            "These figures are exact, so they depend on single documents in a way that no "
            "guarantee covers. They are no part of the release: publish them only if you would "
            "publish such statistics of the texts themselves.",
            kind="warn",
        ),
        element(
            "p",
            f"Scores are F1, from 0 to 1, on {runs}, drawn anew for this measurement at a loss "
            f"of {shown(found.loss_per_word, 4)} a word. Hollow: on the texts; filled: on the "
            "release. The dashed line is the floor: how far someone gets who knows the true topic "
            "of each document and nothing of its text. What lies above it, words gave away. "
            "Suspects are the authors with the most texts (Any), or of those only who write on "
            "two topics or more (Multi).",
        ),
        _legend(),
    ]
    if found.analyst:
        rows = [_row(one, None) for one in found.analyst]
        parts += [
            element("h3", "The analyst: what is a document about?"),
            element("ul", *rows, kind="rows"),
        ]
    for scenario in found.scenarios:
        parts.append(_scenario(scenario))
    if found.links:
        parts += _links(found.links)
    return section("measured", "What was measured", *parts)


def _scenario(scenario: Scenario) -> Markup:
    rows = [_row(one, scenario.floor) for one in scenario.attackers]
    lines = [
        element("h3", f"Attackers, {scenario.name}: which of {scenario.authors} authors wrote it?"),
        element("ul", *rows, kind="rows"),
    ]
    if scenario.floor is not None:
        told = f"The topic alone: {score(scenario.floor)}. {_verdict(scenario, scenario.floor)}"
        lines.append(element("p", told))
    return element("div", *lines, kind="block")


def _verdict(scenario: Scenario, floor: float) -> str:
    after = [one.after for one in scenario.attackers if one.after is not None]
    if not after:
        return ""
    best = max(after)
    told = f"The best attacker on the release reaches {score(best)}"
    if best <= floor:
        return f"{told}: no more than that."
    return f"{told}: {score(best - floor)} above it."


def _row(one: Compared, floor: float | None) -> Markup:
    numbers = f"{score(one.before)} → {score(one.after)}"
    told = f"{one.name}: {score(one.before)} on the texts, {score(one.after)} on the release"
    if floor is not None:
        told += f", {score(floor)} by the topic alone"
    if one.spread is not None:
        numbers += f" ± {score(one.spread)}"
    return element(
        "li",
        element("span", one.name),
        Markup(svg.track(one.before, one.after, floor, told)),
        element("span", numbers),
    )


def _legend() -> Markup:
    marks = {
        "on the texts": '<circle class="before" cx="9" cy="7" r="5"/>',
        "on the release": '<circle class="after" cx="9" cy="7" r="6"/>',
        "the topic alone": '<line class="floor" x1="9" x2="9" y1="0" y2="14"/>',
    }
    items = [
        element("li", Markup(f'<svg aria-hidden="true">{mark}</svg>'), name)
        for name, mark in marks.items()
    ]
    return element("ul", *items, kind="key")


def _links(links: Sequence[Link]) -> list[Markup]:
    rows = [(one.name, f"{one.auc:.3f}", _share(one)) for one in links]
    return [
        element("h3", "Linking: do two things belong together?"),
        element(
            "p",
            "By someone who knows the mechanism and holds texts. By chance the area is 0.500, "
            "and 1% are found.",
        ),
        table(["what is linked", "area under the curve", "found at 1% errors"], rows, "figures"),
    ]


def _share(link: Link) -> str:
    return "–" if link.found is None else f"{100 * link.found:.0f}%"
