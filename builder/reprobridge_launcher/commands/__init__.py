"""The launcher's commands, one module each: SUMMARY, USAGE, FLAGS, VALUED, and `execute`."""
