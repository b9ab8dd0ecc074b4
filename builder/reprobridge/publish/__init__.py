"""Publishing what was proven to work: the gate, moving an image to where readers find it, attestations."""
