"""Forwards: what a batch reads and writes, and whether what it reads is its own.

The model itself is not run. Where it would write keys and values, a tag says whose token this is and which: `(life,
position)`. What a batch reads is looked at before it runs, so that a stale slot is measured, not inferred.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pagefence_sglang.node.hooks import pages
from pagefence_sglang.node.hooks.patch import around
from pagefence_sglang.node.ledger import KV_PAGE, METADATA_ROW

if TYPE_CHECKING:
    from collections.abc import Callable

    from pagefence_sglang.node.engine import Engine
    from pagefence_sglang.node.ledger import Ledger, Life

# Every slot that nobody has written to holds this.
NOBODY = -1.0
# Every token that is generated.
TOKEN = 7


class Tags:
    """The tags in the pages: the first two numbers of every key and value vector."""

    def __init__(self, engine: Engine) -> None:
        self._torch = importlib.import_module("torch")
        self._tensors = [tensor.flatten(1) for layer in engine.layers for tensor in layer]
        for tensor in self._tensors:
            tensor.fill_(NOBODY)

    def write(self, life: Life, slots: list[int], first: int) -> None:
        """Write the tags of the tokens `first..` of a life into `slots`."""
        tags = self._expected(life, first, len(slots))
        for tensor in self._tensors:
            tensor[slots, :2] = tags

    def strange(self, life: Life, slots: list[int]) -> int:
        """Return how many of the slots of tokens `0..` hold something else than they should, in any layer."""
        tags = self._expected(life, 0, len(slots))
        wrong = self._torch.zeros(len(slots), dtype=self._torch.bool)
        for tensor in self._tensors:
            wrong |= (tensor[slots, :2] != tags).any(1)
        return int(wrong.sum())

    def _expected(self, life: Life, first: int, count: int) -> Any:
        positions = self._torch.arange(first, first + count, dtype=self._torch.float32)
        # Exact in 32 bits: requests and generations are small.
        lives = self._torch.full((count,), float(life[0] * 256 + life[1]))
        return self._torch.stack([lives, positions], 1)


def install(engine: Engine, ledger: Ledger) -> list[str]:
    """Tell of what each batch reads and writes, and write tags in place of running the model."""
    tags = Tags(engine)

    def run_batch(original: Callable[..., Any], batch: Any, *arguments: Any, **options: Any) -> Any:
        if not _is_prebuilt(batch):
            for request, slots in pages.of_batch(engine, ledger, batch):
                _forward(ledger, tags, request, slots, _computed(batch, request))
        return original(batch, *arguments, **options)

    def committed(original: Callable[..., Any], queue: Any, waiting: Any, *arguments: Any, **options: Any) -> Any:
        life = ledger.life(waiting.req.rid)
        if life is not None:
            ledger.read(life, METADATA_ROW, [int(waiting.metadata_buffer_index)])
        return original(queue, waiting, *arguments, **options)

    decode = importlib.import_module("sglang.srt.disaggregation.decode")
    there = {
        "run_batch": around(engine.scheduler, "run_batch", run_batch),
        "_pre_alloc": around(decode.DecodePreallocQueue, "_pre_alloc", _reserved(engine, ledger)),
        "_commit_transfer_to_req": around(decode.DecodeTransferQueue, "_commit_transfer_to_req", committed),
        "forward_batch_generation": _without_model(engine),
    }
    return [f"forwards: no `{name}`" for name, found in there.items() if not found]


def _reserved(engine: Engine, ledger: Ledger) -> Callable[..., Any]:
    """D7: decode reserves pages for a whole prompt."""

    def hook(original: Callable[..., Any], queue: Any, request: Any, *arguments: Any, **options: Any) -> Any:
        result = original(queue, request, *arguments, **options)
        pages.given(engine, ledger, request, len(request.origin_input_ids))
        return result

    return hook


def _forward(ledger: Ledger, tags: Tags, request: Any, slots: list[int], computed: int) -> None:
    life = ledger.life(request.rid)
    if life is None:
        return
    before, new = slots[:-computed], slots[-computed:]
    if before:
        ledger.read(life, KV_PAGE, before, stale=tags.strange(life, before))
    ledger.write(life, KV_PAGE, new)
    tags.write(life, new, len(before))


def _computed(batch: Any, request: Any) -> int:
    """Return how many tokens of a request this forward computes: its chunk, or one."""
    if not batch.forward_mode.is_extend():
        return 1
    return int(batch.extend_lens[batch.reqs.index(request)])


def _is_prebuilt(batch: Any) -> bool:
    """Whether a batch only takes over what prefill has computed."""
    return bool(getattr(batch.forward_mode, "is_prebuilt", lambda: False)())


def _without_model(engine: Engine) -> bool:
    """Let every forward end at once with the same token."""
    worker = engine.scheduler.tp_worker
    utils = importlib.import_module("sglang.srt.managers.utils")
    logits = importlib.import_module("sglang.srt.layers.logits_processor")
    torch = importlib.import_module("torch")

    def forward(_: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        batch: Any = arguments[0] if arguments else options.get("batch") or options.get("model_worker_batch")
        tokens = torch.full((len(batch.seq_lens),), TOKEN, dtype=torch.int64)
        return utils.GenerationBatchResult(
            logits_output=logits.LogitsProcessorOutput(next_token_logits=None),
            next_token_ids=tokens,
            can_run_cuda_graph=False,
        )

    return around(worker, "forward_batch_generation", forward)
