"""The executable guide: finding its blocks, running them in one session, comparing what they print."""
