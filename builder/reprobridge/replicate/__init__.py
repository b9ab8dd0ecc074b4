"""The reviewer's side: pull, inspect, compare, verify and rebuild images."""
