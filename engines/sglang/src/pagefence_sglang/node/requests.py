"""Requests as the tokenizer would hand them to the scheduler."""

from __future__ import annotations

import contextlib
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pagefence_sglang.node import versions

if TYPE_CHECKING:
    from pagefence_sglang.node.ledger import Life

# Token numbers below this mean something, and those of the model end here.
FIRST, VOCABULARY = 3, 500


@dataclass(frozen=True)
class Wanted:
    """What the driver asks for: `max_new` tokens behind a prompt of `prompt` tokens."""

    rid: str
    room: int
    life: Life
    prompt: int
    max_new: int


def generate(wanted: Wanted, bootstrap_port: int) -> Any:
    """Return a request whose prompt begins as no other life's does."""
    structs = importlib.import_module("sglang.srt.managers.io_struct")
    sampling = importlib.import_module("sglang.srt.sampling.sampling_params")
    parameters = sampling.SamplingParams(max_new_tokens=wanted.max_new, temperature=0)
    with contextlib.suppress(Exception):
        parameters.normalize(None)
    first = [FIRST + number for number in wanted.life]
    ids = (first + [FIRST + (at * 7) % VOCABULARY for at in range(wanted.prompt)])[: wanted.prompt]
    kind = structs.TokenizedGenerateReqInput
    values = {
        "rid": wanted.rid,
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
        "bootstrap_room": wanted.room,
    }
    known = versions.field_names(kind)
    return kind(**{name: value for name, value in values.items() if name in known})


def abort(rid: str) -> Any:
    """Return the word that a client has gone."""
    structs = importlib.import_module("sglang.srt.managers.io_struct")
    return structs.AbortReq(rid=rid)
