"""From Debian packages to fragments, without running maintainer scripts."""
