"""From wheels to fragments: what `pip install` would have written, without installing."""
