"""Pools as small as a script wants them.

An engine does not start with a pool of three pages, so it is cut down afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagefence_sglang.node.options import Options

# With fewer tokens a scheduler finds that it can run no request.
LEAST_TOKENS = 1024
LIMIT = "max_total_num_tokens"
# Admission to prefill wants a page more than a chunk needs, and strictly so: with two more, it admits what fits.
SLACK = 2
UNBOUNDED = 1 << 20


def made(options: Options) -> int:
    """Return the pool that the engine is made with, in pages."""
    return max(options.pages, LEAST_TOKENS // options.page_size)


def shrink(scheduler: Any, queue: Any, options: Options) -> None:
    """Cut the free list, and everything that has taken note of its length, down to what was asked for."""
    allocator = scheduler.token_to_kv_pool_allocator
    pages = options.pages + (SLACK if options.role == "prefill" else 0)
    tokens = pages * options.page_size
    allocator.free_pages = allocator.free_pages[:pages]
    allocator.size = tokens
    if hasattr(allocator, "num_pages"):
        allocator.num_pages = pages
    for each in (scheduler, queue, *vars(scheduler).values()):
        if hasattr(each, LIMIT):
            # Some are frozen.
            object.__setattr__(each, LIMIT, tokens)
    # The engine keeps a handful of tokens back in what it accepts, which are constants and not rules.
    scheduler.max_req_input_len = options.longest_prompt + 1
    scheduler.max_req_len = UNBOUNDED
    if hasattr(scheduler, "invariant_checker"):
        # From 0.5.18 it clips what is to be generated so that a page is left over. What looks for leaks has its own
        # number since then; in older releases it has this one.
        scheduler.max_total_num_tokens = UNBOUNDED
