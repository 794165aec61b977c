"""One scheduler of a release, prefill or decode, stepped by commands."""
