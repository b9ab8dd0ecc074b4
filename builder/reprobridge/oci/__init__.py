"""The OCI image format: descriptors, manifests, canonical tar, gzip members, layouts and archives."""
