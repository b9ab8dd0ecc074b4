"""What maintainer scripts would have made of all of an image's Debian packages together."""
