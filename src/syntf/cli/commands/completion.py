"""`syntf completion`: what a shell needs to complete commands and options."""

import click
from click.shell_completion import ShellComplete, get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", short_help="Let a shell complete commands and options.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print what makes SHELL complete commands, options and files of syntf.

    \b
    bash: eval "$(syntf completion bash)"     in ~/.bashrc
    zsh:  eval "$(syntf completion zsh)"      in ~/.zshrc, after compinit
    fish: syntf completion fish | source      in ~/.config/fish/config.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click knows no completion for {shell}", context)
    made = kind(context.find_root().command, {}, "syntf", "_SYNTF_COMPLETE")
    click.echo(ShellComplete.source(made))  # without running the shell for its version
