"""Requests as the tokenizer would hand them to the scheduler."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING, Any

from pagefence_sglang.node import versions

if TYPE_CHECKING:
    from pagefence_sglang.node.ledger import Life

# Token numbers below this mean something, and those of the model end here.
FIRST, VOCABULARY = 3, 500


def generate(rid: str, room: int, life: Life, prompt: int, max_new: int, bootstrap_port: int) -> Any:
    """Return a request for `max_new` tokens behind a prompt of `prompt` tokens, which no other life's prompt begins with."""
    structs = importlib.import_module("sglang.srt.managers.io_struct")
    sampling = importlib.import_module("sglang.srt.sampling.sampling_params")
    parameters = sampling.SamplingParams(max_new_tokens=max_new, temperature=0)
    with contextlib.suppress(Exception):
        parameters.normalize(None)
    first = [FIRST + life[0], FIRST + life[1]]
    ids = (first + [FIRST + (at * 7) % VOCABULARY for at in range(prompt)])[:prompt]
    kind = structs.TokenizedGenerateReqInput
    wanted = {
        "rid": rid,
        "input_text": "",
        "input_ids": versions.token_ids(kind, ids),
        "input_embeds": None,
        "mm_inputs": None,
        "token_type_ids": None,
        "sampling_params": parameters,
        "return_logprob": False,
        "logprob_start_len": -1,
        "top_logprobs_num": 0,
        "token_ids_logprob": None,
        "stream": False,
        "bootstrap_host": "127.0.0.1",
        "bootstrap_port": bootstrap_port,
        "bootstrap_room": room,
    }
    known = versions.field_names(kind)
    return kind(**{name: value for name, value in wanted.items() if name in known})


def abort(rid: str) -> Any:
    """Return the word that a client has gone."""
    structs = importlib.import_module("sglang.srt.managers.io_struct")
    return structs.AbortReq(rid=rid)
