"""`syntf verify`: check a release that was received."""

from pathlib import Path

import click

from syntf.cli import console, ends
from syntf.cli.options import FILE, Command, as_json, option, quiet
from syntf.core.errors import printable

STYLES = {"passed": "green", "FAILED": "bold red", "not checked": "yellow"}
VERDICTS = {
    "verified": "[green]Verified.[/] What is listed as unverifiable is the sender's word.",
    "failed": "[bold red]Not verified:[/] do not rely on this release.",
    "not checked": "[yellow]Not checked:[/] another version of syntf, or data that is not here, "
    "is needed.",
}


@click.command("verify", cls=Command, configured=False)
@click.argument("folder", type=FILE)
@option("--vectors", type=FILE, help="Word vectors of the release, if they are not embedded.")
@option("--codebook", type=FILE, help="Codebook of the release, if it is not embedded.")
@option("--language", metavar="CODE|FOLDER", help="Language pack, if it is not installed.")
@quiet
@as_json
def command(
    folder: Path,
    vectors: Path | None,
    codebook: Path | None,
    language: str | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Check the release in FOLDER without the texts and without trusting its sender.

    The public answers are derived again, and everything that follows from them is compared. What
    nobody can check is listed: that the draws were fresh and made once, and what kept columns hold.
    """
    from syntf.release.verify import verify

    with console.progress(quiet or as_json):
        result = verify(folder, vectors=vectors, codebook=codebook, language=language)
    promise = result.guarantee
    if as_json:
        console.emit(
            {
                "verdict": result.verdict,
                "private": promise and promise.private,
                "loss_per_document": promise and promise.loss_per_document,
                "checks": [vars(one) for one in result.checks],
            }
        )
    elif not quiet:
        rows = []
        for check in result.checks:
            status = f"[{STYLES.get(check.status, 'dim')}]{check.status}[/]"
            rows.append([status, console.escape(check.name), console.escape(check.detail)])
        console.table(rows)
        for caveat in promise.caveats if promise else ():
            console.warn(printable(caveat))
        console.say(VERDICTS[result.verdict])
    if result.verdict == "failed":
        return ends.Exit.REFUSED
    return ends.Exit.DONE if result.ok else ends.Exit.NOT_CHECKED
