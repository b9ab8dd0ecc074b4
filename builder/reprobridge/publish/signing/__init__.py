"""Signing statements and checking what others signed: keys, DSSE envelopes, sigstore bundles, cosign's tag."""
