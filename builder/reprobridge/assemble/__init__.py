"""From a plan to an image: converters, one module each, and the assembly that holds them together."""
