"""The checks, a module for each group; each is a function of an image and a clean shell that gives a finding."""
