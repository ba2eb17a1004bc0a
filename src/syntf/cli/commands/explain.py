"""`syntf explain`: what the mechanism makes of a text, or of single words."""

from collections.abc import Mapping
from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click

from syntf.cli import output
from syntf.cli.config import ConfiguredCommand
from syntf.cli.options import as_json, no_progress, option, setting_options, settings_from
from syntf.core.errors import SyntfError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from syntf.pipeline.anonymizer import Anonymizer
    from syntf.pipeline.document import DocumentAnonymizer, DocumentMechanism
    from syntf.pipeline.settings import Settings


@click.command("explain", cls=ConfiguredCommand)
@click.argument("words", nargs=-1, required=True)
@option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Output words to show for each word.",
)
@setting_options("preset", "document_loss", "codebook", "encoder", "loss", "epsilon", "neighbours")
@setting_options("language")
@setting_options("spelling", "morphology", "analyzer", "vocabulary", "max_size", "synsets")
@setting_options("vectors")
@as_json
@no_progress
def command(words: tuple[str, ...], top: int, as_json: bool, quiet: bool, **options: Any) -> None:
    """Show what becomes of a text or of single words.

    With a loss per document, WORDS are one text: the command shows which public topic or words fit
    it best, how likely they are released, and what is released otherwise. With a loss per word, it
    shows the likely output words of each of WORDS, and how well two words can be told apart.

    \b
    Examples:
      syntf explain the goalkeeper saved a penalty --document-loss 10
      syntf explain library bus --preset words
    """
    from syntf.core.exact import shown
    from syntf.pipeline.anonymizer import Anonymizer

    settings = settings_from(options)
    if settings.unit == "document":
        _explain_text(" ".join(words), settings, top, as_json=as_json, quiet=quiet)
        return
    with output.progress(quiet) as stages:
        anonymizer = Anonymizer.build(settings, stages=stages)
    terms = {word: anonymizer.term(word) for word in words}
    rows = {
        word: probabilities(anonymizer, term) for word, term in terms.items() if term is not None
    }
    if as_json and rows:
        output.emit(_record(anonymizer, terms, rows, top))
        return
    for word, term in terms.items():
        if term is not None:
            _show(word, anonymizer, term, rows[word], top)
        elif not as_json:
            name = output.escape(word)
            output.say(f"[bold]{name}[/]: left out of documents (unknown, or a stop word)\n")
    if not rows:
        raise SyntfError("the vocabulary knows none of these words: try other words")
    for first, second in combinations(rows, 2):
        loss, guessed = distinguish(rows[first], rows[second])
        output.say(
            f"[bold]{output.escape(first)}[/] and [bold]{output.escape(second)}[/]: one drawn word "
            f"tells them apart by a loss of at most {shown(loss, 2)}; the best guess from it is "
            f"right in {guessed:.1%} of cases"
        )
    loss_per_word = shown(anonymizer.mechanism.loss, 4)
    output.say(f"Loss per word: {loss_per_word}, the largest difference between any two words")


def _explain_text(text: str, settings: "Settings", top: int, *, as_json: bool, quiet: bool) -> None:
    """Show what the document unit makes of a text. Nothing is drawn."""
    from syntf.pipeline.document import DocumentAnonymizer

    with output.progress(quiet) as stages:
        anonymizer = DocumentAnonymizer.build(settings, stages=stages)
        found = text_record(anonymizer, text)
    if as_json:
        output.emit(found)
        return
    kind, answers = found["kind"], found["answers"]
    thing = "topic" if kind == "topics" else "word" if found["size"] == 1 else "set of words"
    if not found["known_words"]:
        output.say("The text has no known word. It is released with a fixed public target.")
    rows = []
    for target in found["targets"]:
        terms = list(target["terms"].items())[:top]
        profile = ", ".join(f"{output.escape(term)} {count}" for term, count in terms)
        rows += [
            ["fits best", f"[bold]{output.escape(target['label'])}[/]"],
            ["kept", f"{found['kept']:.2%}"],
            ["its words", profile + (", …" if len(target["terms"]) > top else "")],
        ]
    others = f"{1 - found['kept']:.2%}, any other {thing} of {answers:,}, all equally likely"
    pairs = [*rows, ["otherwise", others], ["loss per document", f"{found['loss_per_document']:g}"]]
    output.table(pairs)
    belongs = _list_owner(kind, near=anonymizer.encoder.codebook.is_near)
    output.say(
        f"The {found['entries']:,} {kind} are those of {belongs} The loss is the same for every "
        "text."
    )


def _list_owner(kind: str, *, near: bool) -> str:
    """Say which releases have the list that is shown, as the end of a sentence and another one."""
    from syntf.codebook.plan import MANY_DOCUMENTS

    if near:
        return "every release with this codebook."
    others = "syntf preview names the list of a release of your file."
    if kind == "words":
        return f"a release without a pilot; {others}"
    return f"a release of {MANY_DOCUMENTS:,} documents or more without a pilot; {others}"


def text_record(
    anonymizer: "DocumentAnonymizer", text: str, mechanism: "DocumentMechanism | None" = None
) -> dict[str, Any]:
    """Return what the document unit makes of a text: its targets, and their probability.

    mechanism : the mechanism whose general list is used; by default that of documents which are
        released one at a time.

    `terms` are the counts that a target adds to the released counts.
    """
    import numpy as np

    mechanism = mechanism or anonymizer.mechanism(None)
    listed, plan = mechanism.general, mechanism.plan
    encoded = anonymizer.read([text])
    targets = []
    for answer in listed.targets(encoded, anonymizer.encoder, plan.draws)[0]:
        sets = listed.entries(np.array([answer]))
        profiles = mechanism.profiles(listed, sets)
        counts = profiles.rows(sets, len(mechanism.terms))
        order = np.argsort(-counts.data, kind="stable")
        terms = {mechanism.terms[counts.indices[at]]: int(counts.data[at]) for at in order}
        label = profiles.described(sets)[0]
        targets.append({"prototypes": sets[0].tolist(), "label": label, "terms": terms})
    return {
        "loss_per_document": anonymizer.loss,
        "kind": plan.kind,
        "entries": len(listed),
        "size": listed.size,
        "answers": listed.answers,
        "known_words": int(np.sum(encoded.counts.data)),
        "kept": float(mechanism.response(listed).keep_probability),
        "targets": targets,
    }


def probabilities(anonymizer: "Anonymizer", term: int) -> "NDArray[np.float64]":
    """Return the probability of each output word, from the integer weights."""
    return anonymizer.mechanism.weights(term) / anonymizer.mechanism.total


def distinguish(p: "NDArray[np.float64]", q: "NDArray[np.float64]") -> tuple[float, float]:
    """Return the largest loss between two words, and how often the best guess is right.

    The guess is made from one drawn word, with both words equally likely.
    """
    import numpy as np

    loss = np.abs(np.log(p) - np.log(q)).max()
    return float(loss), float((1 + np.abs(p - q).sum() / 2) / 2)


def _show(
    word: str, anonymizer: "Anonymizer", term: int, chances: "NDArray[np.float64]", top: int
) -> None:
    """Print the most likely output words of a word, with bars."""
    import numpy as np

    outputs = list(anonymizer.vocabulary.outputs)
    own = anonymizer.vocabulary.inputs[term]
    stays = f"{chances[outputs.index(own)]:.2%}" if own in outputs else "never (not an output)"
    read_as = "" if own == word else f", read as {output.escape(own)}"
    output.say(f"[bold]{output.escape(word)}[/]{read_as}: stays itself {stays}")
    longest = min(40, max(4, output.screen().width - 40))
    rows = []
    for index in np.argsort(-chances, kind="stable")[:top]:
        bar = "█" * round(longest * chances[index] / chances.max())
        rows.append([f"  {output.escape(outputs[index])}", f"  {chances[index]:.2%}", f"  {bar}"])
    if top < len(outputs):
        others = np.sort(chances)[: len(outputs) - top].sum()
        rows.append([f"  any of {len(outputs) - top:,} others", f"  {others:.2%}", ""])
    output.table(rows)


def _record(
    anonymizer: "Anonymizer",
    terms: Mapping[str, int | None],
    rows: Mapping[str, "NDArray[np.float64]"],
    top: int,
) -> dict[str, Any]:
    """Return the figures for programs; the term of a word that is left out is None."""
    import numpy as np

    outputs = list(anonymizer.vocabulary.outputs)
    words: list[dict[str, Any]] = []
    for word, term in terms.items():
        if term is None:
            words.append({"word": word, "term": None})
            continue
        own, chances = anonymizer.vocabulary.inputs[term], rows[word]
        best = np.argsort(-chances, kind="stable")
        words.append(
            {
                "word": word,
                "term": own,
                "stays": float(chances[outputs.index(own)]) if own in outputs else None,
                "substitutes": [
                    {"term": outputs[index], "chance": float(chances[index])}
                    for index in best[:top]
                ],
                "others": {
                    "terms": len(best[top:]),
                    "chance": float(np.sort(chances)[: len(best[top:])].sum()),
                },
            }
        )
    pairs = []
    for first, second in combinations(rows, 2):
        loss, guessed = distinguish(rows[first], rows[second])
        pairs.append({"words": [first, second], "loss": loss, "best_guess": guessed})
    losses = asdict(anonymizer.guarantee().word_losses)
    return {"loss_per_word": losses, "words": words, "pairs": pairs}
