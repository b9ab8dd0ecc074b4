"""A container registry by the distribution specification 1.1, over real sockets, that can misbehave on demand.

It imports nothing of ours, so that it and our client read the specification independently.
`server.py` shows how it is used, `faults.py` is the language of its faults.
"""
