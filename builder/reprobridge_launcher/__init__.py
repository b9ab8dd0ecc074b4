"""What an artifact's image runs: lists, runs, measures and checks the tasks of one paper.

This package is copied into images and started there by whatever Python the image has.
So it uses the standard library only, runs on Python 3.6 and later, and imports nothing of the builder; the
builder imports from here what both sides need: the formats of manifest, inventory, extractors, intervals and
evidence.

Images ship no bytecode, hence every imported module is compiled at each start (about 0.1 s for `re` alone).
Modules here are imported where they are needed, and `cparts` takes the C halves of standard modules whose
Python halves are expensive.  `typing` is never imported: annotations are quoted.
"""
