"""The engine of a node: its environment, its arguments, its scheduler."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagefence_sglang import stand_in_modules
from pagefence_sglang.node import sizes, versions

if TYPE_CHECKING:
    from pagefence_sglang.node.options import Options

# Small enough that a forward takes a millisecond: what it computes doesn't matter, where it writes does.
MODEL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "num_hidden_layers": 2,
    "vocab_size": 512,
    "max_position_embeddings": 1 << 20,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
    "bos_token_id": 1,
    "eos_token_id": 2,
    "attention_bias": False,
    "mlp_bias": False,
}

LOOPBACK = "127.0.0.1"
ENVIRONMENT = {
    "SGLANG_USE_CPU_ENGINE": "1",
    "MC_FORCE_TCP": "1",
    "MOONCAKE_PROTOCOL": "tcp",
    "SGLANG_LOCAL_IP_NODE": LOOPBACK,
    "SGLANG_HOST_IP": LOOPBACK,
    "HOST_IP": LOOPBACK,
    # 0.5.11 has no allocator for CPUs but its Triton kernels, interpreted.
    "TRITON_INTERPRET": "1",
    # One worker, so that chunks are taken in the order in which they were queued.
    "SGLANG_DISAGGREGATION_QUEUE_SIZE": "1",
    # Admission to decode keeps nothing back for tokens that are yet to be generated: the cell does neither.
    "SGLANG_CLIP_MAX_NEW_TOKENS_ESTIMATION": "0",
}


@dataclass(frozen=True)
class Engine:
    """A scheduler that has been made, and what the hooks need of it."""

    version: str
    scheduler: Any
    # `PrefillBootstrapQueue` or `DecodePreallocQueue`.
    queue: Any
    manager: Any
    allocator: Any
    # The table of the token slots of each request.
    rows: Any
    # Tensors of keys and values, a pair a layer.
    layers: list[Any]


def prepare(options: Options | None) -> None:
    """Set the environment and the stand-ins. To be called before anything of the engine is imported."""
    os.environ.update(ENVIRONMENT)
    os.environ.update(options.environment if options else {})
    stand_in_modules.install()


def load() -> Any:
    """Import the engine; return its scheduler module."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.cuda.Event = _Event
    scheduler_module = importlib.import_module("sglang.srt.managers.scheduler")
    importlib.import_module("sglang.srt.models.llama")
    versions.without_pinned_memory()
    return scheduler_module


def start(options: Options, scheduler_module: Any) -> Engine:
    """Make the scheduler of a node."""
    arguments_module = importlib.import_module("sglang.srt.server_args")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(MODEL))
        server_arguments = arguments_module.ServerArgs(model_path=folder, **_arguments(options))
        ports = arguments_module.PortArgs.init_new(server_arguments)
        versions.publish(scheduler_module, server_arguments, options.role)
        scheduler = versions.construct(scheduler_module, server_arguments, ports)
    prefill = options.role == "prefill"
    queue = scheduler.disagg_prefill_bootstrap_queue if prefill else scheduler.disagg_decode_prealloc_queue
    allocator = scheduler.token_to_kv_pool_allocator
    sizes.shrink(scheduler, queue, options)
    pool = allocator.get_kvcache()
    version = importlib.import_module("sglang.version").__version__
    layers = list(zip(pool.k_buffer, pool.v_buffer, strict=True))
    return Engine(version, scheduler, queue, queue.kv_manager, allocator, scheduler.req_to_token_pool, layers)


def _arguments(options: Options) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "device": "cpu",
        "load_format": "dummy",
        "dtype": "float32",
        "skip_tokenizer_init": True,
        "attention_backend": "torch_native",
        "sampling_backend": "pytorch",
        "disable_overlap_schedule": True,
        "disable_cuda_graph": True,
        "grammar_backend": "none",
        "log_level": "warning",
        "mem_fraction_static": 0.5,
        "max_running_requests": 16,
        # A batch of prefill is a chunk of one request, as in the cell.
        "prefill_max_requests": 1,
        "max_total_tokens": sizes.made(options) * options.page_size,
        "page_size": options.page_size,
        "context_length": sizes.made(options) * options.page_size,
        "chunked_prefill_size": options.chunk,
        "disable_radix_cache": not options.prefix_cache,
        "disaggregation_mode": options.role,
        "disaggregation_transfer_backend": "mooncake",
        "disaggregation_bootstrap_port": options.bootstrap_port,
        "nccl_port": options.group_port,
        "host": LOOPBACK,
        "port": 30_000 + os.getpid() % 9_000,
    }
    if options.role == "decode":
        # Tokens that admission keeps back for each running request, beside what it is going to generate.
        arguments["num_reserved_decode_tokens"] = 0
    return arguments


class _Event:
    """A CUDA event on a CPU: everything before it has happened."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def record(self, *_: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def wait(self, *_: Any) -> None:
        pass
