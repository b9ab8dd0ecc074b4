"""What differs between two images, as a typed tree."""
