"""What goes in and out, as the OpenAPI description tells it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Document(BaseModel):
    """One text; `id` and `author` say whom a ledger charges, and are not released."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(examples=["The library was closed, so we took the bus home."])
    id: str | None = Field(default=None, description="With a ledger: the document's name.")
    author: str | None = Field(default=None, description="With a ledger: who wrote it.")


class Documents(BaseModel):
    """Many texts, charged and drawn together or not at all."""

    model_config = ConfigDict(extra="forbid")

    documents: list[Document] = Field(min_length=1)


class Synthetic(BaseModel):
    """What stands for a document: n words, counted; and the same words one by one."""

    counts: dict[str, int] = Field(description="How often each word was drawn; n in all.")
    words: list[str] = Field(description="The same n words, in the order of the vocabulary.")


class Charged(BaseModel):
    """The run of the ledger; its head is worth keeping elsewhere."""

    run: int
    head: str


class Release(BaseModel):
    """The synthetic documents, in the order of the texts, and what is promised of each."""

    documents: list[Synthetic]
    guarantee: dict[str, Any] = Field(description="As guarantee.json of a release.")
    charged: Charged | None = Field(description="None without a ledger.")


class Substitute(BaseModel):
    word: str
    chance: float


class Others(BaseModel):
    words: int
    chance: float


class Explanation(BaseModel):
    """What a word becomes. A word that is not known is left out of documents."""

    known: bool
    term: str | None = Field(default=None, description="The dictionary form that it counts as.")
    stays: float | None = Field(default=None, description="The chance that it stays itself.")
    substitutes: list[Substitute] = Field(default=[], description="The likeliest first.")
    others: Others | None = None
    loss: float = Field(description="The most that any two words differ in any output.")


class Health(BaseModel):
    status: str
    version: str


class Problem(BaseModel):
    """What is wrong, in a sentence; never a word of the request."""

    detail: str


class Play(BaseModel):
    """What the page asks for: up to two texts, and parameters to try."""

    model_config = ConfigDict(extra="forbid")

    texts: list[str] = Field(min_length=1, max_length=2)
    loss: float = Field(ge=0.1, le=40, allow_inf_nan=False)
    neighbours: int = Field(ge=1, le=10)
    length: int = Field(ge=1, le=500)
