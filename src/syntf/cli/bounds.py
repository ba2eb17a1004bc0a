"""`syntf bounds`: what given parameters cost."""

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from syntf import bounds, figures
from syntf.anonymizer import Anonymizer, Settings
from syntf.arithmetic import shown
from syntf.cli import console


def run(settings: Settings, documents: int, folder: Path | None) -> None:
    with console.progress() as stages:
        anonymizer = Anonymizer.build(settings, stages=stages)
    guarantee = anonymizer.guarantee()
    losses = guarantee.loss_per_word
    length = settings.length
    table = Table(box=None, padding=(0, 2, 0, 0), title_justify="left")
    for name in ("bound", "per word", f"document of {length}", f"author of {documents} documents"):
        table.add_column(name, justify="left" if name == "bound" else "right")
    for name, loss in (
        ("standard", losses.standard),
        ("improved", losses.improved),
        ("tight (promised)", losses.tight),
    ):
        table.add_row(
            name,
            shown(loss, 4),
            shown(bounds.document_loss(loss, length), 2),
            shown(bounds.author_loss(loss, length, documents), 2),
        )
    size = guarantee.vocabulary_size
    console.out.print(
        f"ε = {guarantee.epsilon:g}, {guarantee.input_size:,} inputs, {size:,} outputs"
    )
    console.out.print(table)
    good = guarantee.neighbours or 1
    needed = bounds.necessary_epsilon(0.5, good, size - good)
    one = "One good substitute" if good == 1 else f"One of {good} good substitutes"
    console.out.print(f"{one} in half of all draws needs ε of at least {needed:.2f}.")
    if guarantee.neighbours is not None:
        chance, _ = bounds.utility_bounds(guarantee.epsilon, good, size - good, gap=1.0)
        nearest = "its nearest" if good == 1 else f"one of its {good} nearest"
        console.out.print(f"A word is replaced by {nearest} in {chance:.1%} of draws.")
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        drawn = {
            "loss-bounds": figures.loss_bounds(guarantee.epsilon, losses.tight),
            "necessary-epsilon": figures.necessary_epsilon(),
        }
        for name, figure in drawn.items():
            for suffix in (".png", ".svg"):
                figures.save(figure, folder / f"{name}{suffix}")
        console.out.print(f"Figures written to {escape(str(folder))}", soft_wrap=True)
