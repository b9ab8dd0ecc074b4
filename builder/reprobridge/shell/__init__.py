"""Reading shell scripts as text, as far as text goes: nothing is run, and no file is looked at."""
