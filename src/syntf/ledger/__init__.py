"""A ledger limits the loss of documents and authors over all releases."""
