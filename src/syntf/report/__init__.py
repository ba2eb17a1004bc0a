"""``report.html``: a release for those who decide about it, in one file that needs no other."""
