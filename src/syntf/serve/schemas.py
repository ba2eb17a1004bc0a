"""Requests and responses of the API, as its OpenAPI description shows them."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Document(BaseModel):
    """One text. A ledger is charged for `id` and `author`; neither is released."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(examples=["The library was closed, so we took the bus home."])
    id: str | None = Field(default=None, description="Name of the document, for the ledger.")
    author: str | None = Field(default=None, description="Author of the text, for the ledger.")


class Documents(BaseModel):
    """Several texts. The ledger accepts all of them or refuses all of them."""

    model_config = ConfigDict(extra="forbid")

    documents: list[Document] = Field(min_length=1)


class Synthetic(BaseModel):
    """The synthetic document that replaces a text: n drawn words."""

    counts: dict[str, int] = Field(description="How often each word was drawn; the sum is n.")
    words: list[str] = Field(description="The same n words as a list, in vocabulary order.")


class Charged(BaseModel):
    """The run that was charged to the ledger. Store `head` in another place."""

    run: int
    head: str


class Release(BaseModel):
    """The synthetic documents in the order of the texts, and the guarantee for each."""

    documents: list[Synthetic]
    guarantee: dict[str, Any] = Field(description="The fields of guarantee.json.")
    charged: Charged | None = Field(description="Null without a ledger.")


class Substitute(BaseModel):
    word: str
    chance: float = Field(description="Probability of this word.")


class Others(BaseModel):
    words: int
    chance: float = Field(description="Probability of all these words together.")


class Explanation(BaseModel):
    """The words that replace a word. A word that is not in the vocabulary is ignored."""

    known: bool
    term: str | None = Field(default=None, description="Dictionary form that is counted.")
    stays: float | None = Field(default=None, description="Probability that it is not replaced.")
    substitutes: list[Substitute] = Field(default=[], description="Most probable first.")
    others: Others | None = None
    loss: float = Field(description="Loss per word: bounds how much one drawn word reveals.")


class Health(BaseModel):
    status: str
    version: str


class Problem(BaseModel):
    """One sentence about what is wrong. It never quotes the request."""

    detail: str


class PageDraw(BaseModel):
    """A request of the page: one or two texts, and parameters to try."""

    model_config = ConfigDict(extra="forbid")

    texts: list[str] = Field(min_length=1, max_length=2)
    loss: float = Field(ge=0.1, le=40, allow_inf_nan=False)
    neighbours: int = Field(ge=1, le=10)
    length: int = Field(ge=1, le=500)
