"""Requests and responses of the API, as its OpenAPI description shows them."""

from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, create_model

from syntf.privacy.guarantee import CHECKSUM, Guarantee


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


EITHER = "send either text or documents"


def which_body(body: Any) -> str | None:
    """Tell which of the two kinds of request a body is; None if it is neither or both."""
    if isinstance(body, BaseModel):
        return type(body).__name__
    if not isinstance(body, dict) or ("text" in body) == ("documents" in body):
        return None
    return "Document" if "text" in body else "Documents"


Body = Annotated[
    Annotated[Document, Tag("Document")] | Annotated[Documents, Tag("Documents")],
    Discriminator(
        which_body, custom_error_type="either_text_or_documents", custom_error_message=EITHER
    ),
]
"""A request to anonymise: one text or several."""

_GUARANTEE_FIELDS: Any = {
    name: (hint, ...) for name, hint in [*get_type_hints(Guarantee).items(), (CHECKSUM, str)]
}
GuaranteeRecord: Any = create_model(
    "Guarantee", __doc__="The fields of guarantee.json.", **_GUARANTEE_FIELDS
)
"""The guarantee as JSON; its fields are declared in syntf.privacy.guarantee."""


class Synthetic(BaseModel):
    """The synthetic document that replaces a text: n drawn words."""

    counts: dict[str, int] = Field(description="How often each word was drawn; the sum is n.")
    words: list[str] = Field(description="The same n words as a list, in vocabulary order.")


class SyntheticDocument(BaseModel):
    """The release of a text in the document unit: the term profile of what was chosen for it."""

    counts: dict[str, int] = Field(description="How often each word of the profile counts.")
    words: list[str] = Field(description="The same words as a list, in vocabulary order.")
    prototypes: list[int] = Field(description="The released prototypes: numbers of the list.")
    labels: str = Field(
        description="The released prototypes in words.", examples=["orbit, spacecraft, earth"]
    )


class Charged(BaseModel):
    """The run that was charged to the ledger. Store `head` in another place."""

    run: int
    head: str


class Release(BaseModel):
    """The synthetic documents in the order of the texts, and the guarantee for each."""

    documents: list[Synthetic]
    guarantee: GuaranteeRecord
    charged: Charged | None = Field(description="Null without a ledger.")


class DocumentRelease(BaseModel):
    """The released documents in the order of the texts, and the guarantee for each."""

    documents: list[SyntheticDocument]
    guarantee: GuaranteeRecord
    charged: Charged | None = Field(description="Null without a ledger.")


class Prototypes(BaseModel):
    """The public list that every text answers from."""

    kind: str = Field(description="topics or words.", examples=["topics"])
    chosen: int = Field(description="Prototypes that are released for a text.")
    kept: float = Field(description="Probability that a text's own answer is released.")
    loss: float = Field(description="Loss per document.")
    prototypes: list[str] = Field(description="The label of each prototype, by its number.")


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


class DocumentPageDraw(BaseModel):
    """A request of the page in the document unit: one or two texts, and a loss to try."""

    model_config = ConfigDict(extra="forbid")

    texts: list[str] = Field(min_length=1, max_length=2)
    loss: float = Field(ge=0.01, le=1000, allow_inf_nan=False)


class PageDraw(BaseModel):
    """A request of the page: one or two texts, and parameters to try."""

    model_config = ConfigDict(extra="forbid")

    texts: list[str] = Field(min_length=1, max_length=2)
    loss: float = Field(ge=0.1, le=40, allow_inf_nan=False)
    neighbours: int = Field(ge=1, le=10)
    length: int = Field(ge=1, le=500)
