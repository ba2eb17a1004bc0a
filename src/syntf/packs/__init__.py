"""Make language packs from word vectors, lemmas and word lists of other projects."""
