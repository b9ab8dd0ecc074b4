"""What the author wrote: reprobridge.yaml as frozen types."""
