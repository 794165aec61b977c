"""Everything that differs from release to release, in one place."""

from __future__ import annotations

from array import array
from typing import Any


def publish(scheduler_module: Any, server_arguments: Any, role: str) -> None:
    """Make the server's arguments known to the process: from 0.5.20, with ranks from 0.5.21."""
    del role
    if hasattr(scheduler_module, "SpawnRanks"):
        ranks = scheduler_module.SpawnRanks(world_rank=0, dp_rank=None, gpu_id=0)
        scheduler_module.publish(server_arguments, role="scheduler", ranks=ranks)
    elif hasattr(scheduler_module, "publish"):
        scheduler_module.publish(server_arguments, role="scheduler")


def construct(scheduler_module: Any, server_arguments: Any, ports: Any) -> Any:
    """Return a scheduler: ranks are arguments of it before 0.5.21."""
    if hasattr(scheduler_module, "SpawnRanks"):
        return scheduler_module.Scheduler(server_arguments, ports)
    return scheduler_module.Scheduler(server_arguments, ports, 0, 0, 0, 0, 0, 0, None)


def intake(scheduler: Any, receive: Any) -> None:
    """Let the scheduler's loop ask `receive` for what has come in. From 0.5.20 the receiver is a class with slots."""
    receiver = getattr(scheduler, "request_receiver", None)
    if receiver is None:
        scheduler.recv_requests = receive
    else:
        type(receiver).recv_requests = lambda _self, *_arguments, **_options: receive()


def senders(scheduler: Any) -> list[Any]:
    """Return what the scheduler sends its results with."""
    channels = getattr(scheduler, "ipc_channels", scheduler)
    return [channels.send_to_tokenizer, channels.send_to_detokenizer]


def row_of(request: Any) -> int | None:
    """Return the request's row in the table of its token slots; none before it has pages."""
    row = request.req_pool_idx if hasattr(request, "req_pool_idx") else getattr(request.kv, "req_pool_idx", None)
    return None if row is None else int(row)


def token_ids(request_class: Any, ids: list[int]) -> Any:
    """Return a prompt as the release wants it: an array from 0.5.2x."""
    return array("q", ids) if "array" in str(request_class.__annotations__["input_ids"]) else ids


def field_names(request_class: Any) -> set[str]:
    """Return the fields of a message: structs in newer releases, dataclasses in older ones."""
    names = getattr(request_class, "__struct_fields__", None) or request_class.__dataclass_fields__
    return set(names)


def without_pinned_memory() -> None:
    """Turn off what wants a GPU's driver for host memory: decode's host pool, the sender's host indices (0.5.23)."""
    import importlib  # noqa: PLC0415

    try:
        pool: Any = importlib.import_module("sglang.srt.mem_cache.pool_host.common")
        pool._cuda_host_register = lambda *_arguments, **_options: None  # noqa: SLF001
    except ImportError:
        pass
    connection = importlib.import_module("sglang.srt.disaggregation.mooncake.conn")
    connection.MooncakeKVSender.supports_host_tensor_indices = False
