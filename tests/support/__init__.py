"""Services and material that many tests use: a container engine, a file server, small wheels and debs.

Everything here is a real part or makes real files; fakes of our own Protocols are in tests/fakes.
"""
