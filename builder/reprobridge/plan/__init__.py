"""What has to be made: (spec, lock) -> a graph of layer recipes. Pure: no clock, file, process or network."""
