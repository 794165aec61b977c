"""Drives real SGLang releases on a CPU, one step at a time.

* `install` makes an environment for a release from the public package index.
* `node` is one scheduler of such a release, prefill or decode. It takes commands as JSON lines and tells what happens
  in pagefence's trace schema.

The program `pagefence` starts both; nothing here is meant to be called by hand.
"""
