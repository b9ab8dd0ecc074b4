"""Running a command in the root of an image that is made from its layers and nothing else."""
