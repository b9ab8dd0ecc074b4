"""The local content-addressed store: blobs, results of recipes, references to images."""
