"""What the clients are told, taken as the scheduler says it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pagefence_sglang.node import versions

if TYPE_CHECKING:
    from pagefence_sglang.node.engine import Engine
    from pagefence_sglang.node.output import Output


def install(engine: Engine, output: Output) -> None:
    """Tell the driver of every result, in place of the processes that would bring it to the client."""

    def send_output(_: Any, result: Any, *_arguments: Any, **_options: Any) -> None:
        for answer in answers(result):
            output.say("answer", **answer)

    for kind in {type(sender) for sender in versions.senders(engine.scheduler)}:
        kind.send_output = send_output


def answers(result: Any) -> list[dict[str, Any]]:
    """Return the answers in a result: of a batch, or the word that a request is aborted. What goes on says nothing."""
    rids = getattr(result, "rids", None)
    if rids is None:
        rid, reason = getattr(result, "rid", None), getattr(result, "finished_reason", None)
        return [] if rid is None else [_answer(rid, reason or {"type": "abort"}, None)]
    reasons = getattr(result, "finished_reasons", None) or [None] * len(rids)
    prompts = getattr(result, "prompt_tokens", None) or [None] * len(rids)
    each = zip(rids, reasons, prompts, strict=True)
    return [_answer(rid, reason, prompt) for rid, reason, prompt in each if reason is not None]


def _answer(rid: str, reason: dict[str, Any], prompt_tokens: int | None) -> dict[str, Any]:
    return {
        "rid": rid,
        "verdict": verdict(reason),
        "prompt_tokens": prompt_tokens or 0,
        "reason": reason.get("message"),
    }


def verdict(reason: dict[str, Any]) -> str:
    """Return success, rejected, failed or aborted."""
    if reason.get("type") != "abort":
        return "success"
    status = reason.get("status_code")
    if status is None:
        return "aborted"
    return "rejected" if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR else "failed"
