"""What an image says about itself: manifest, references, guide, list of changes, SBOM. Pure functions."""
