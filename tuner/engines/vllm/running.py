"""What a running vLLM serves, put together from what it printed or from what its `/server_info` answers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from store.serving.verified import DECODE, KV_DTYPE, PAGE_SIZE, PREFILL, Found, Graphs, Quote, Start
from tuner.engines.vllm.printed import ARGUMENTS, CONFIG, INNER, MODES, WORDS, Printed, printed
from tuner.engines.vllm.rules import BLOCK_SIZE, TORCH_NAMES
from tuner.logs.fields import fields
from tuner.logs.lines import Line

INFO: tuple[str, ...] = ("/server_info?config_format=json",)  # VLLM_SERVER_DEV_MODE=1 alone offers it
__all__ = ["INFO", "WORDS", "start_of", "starts"]

NO_CHOICE = (
    'no "Using ... backend" line is there, which alone names what vLLM chose: give the older parts of the log too, and leave '
    "VLLM_LOGGING_LEVEL at INFO"
)
NOT_IN_INFO = 'it answers what was asked for and not what was chosen: the "Using ... backend" line of its log says that (--log)'
BY_ITSELF, BY_FLAG = "no flag named a backend: vLLM chose it by itself", "a flag named it"


def starts(lines: Iterable[Line]) -> tuple[Start, ...]:
    """In the order of the log, those of several servers among one another."""
    return tuple(map(_start, printed(lines)))


def _start(one: Printed) -> Start:
    arguments = _fields(one.arguments, ARGUMENTS)
    config = _fields(one.config, CONFIG)
    began = one.arguments or one.config
    backend = _backend(one)
    return Start(
        source=one.source,
        began=None if began is None else began.quote(""),
        settings=tuple(_settings(one, arguments, config, backend)),
        graphs=_graphs(one, arguments, config),
        missing=() if backend is not None else (NO_CHOICE,),
        notes=tuple(_notes(one, backend)),
        version=one.version,
        ready=one.ready,
    )


def _fields(line: Line | None, mark: Any) -> Mapping[str, Any]:
    return {} if line is None else fields(line.text[mark.search(line.text).end() :])


def _settings(one: Printed, arguments: Mapping[str, Any], config: Mapping[str, Any], backend: Found | None) -> Iterator[tuple[str, Found]]:
    if backend is not None:
        yield PREFILL, backend
        yield DECODE, backend
    size, written = one.last("block size"), arguments.get("block_size")
    if isinstance(written, int):
        yield PAGE_SIZE, Found(str(written), "--block-size says so")
    elif size is not None:
        yield PAGE_SIZE, Found(size[0]["size"], "vLLM set what its backend wants", size[1].quote())
    elif one.arguments is not None:
        yield PAGE_SIZE, Found(str(BLOCK_SIZE), "vLLM's default: no line and no flag says another")
    if (dtype := _kv_dtype(one, arguments, config)) is not None:
        yield KV_DTYPE, dtype


def _backend(one: Printed) -> Found | None:
    """Of several (kinds of layers, a draft, workers that differ) all, in the order in which they were printed."""
    lines = [found for kind in ("chosen", "overridden", "old name") for found in one.said.get(kind, ())]
    if not lines:
        return None
    names = dict.fromkeys(MODES.get(match["backend"], match["backend"]) for match, _ in lines)
    quote, precluded = lines[0][1].quote(), one.first("precluded")
    if precluded is not None:
        return Found(", ".join(names), "--block-size kept vLLM from the backend that it would have taken", precluded[1].quote())
    if "overridden" in one.said:
        return Found(", ".join(names), "vLLM overrode the backend by itself", one.said["overridden"][0][1].quote())
    return Found(", ".join(names), BY_ITSELF if "out of potential" in quote.text else BY_FLAG, quote)


def _kv_dtype(one: Printed, arguments: Mapping[str, Any], config: Mapping[str, Any]) -> Found | None:
    """ "auto" is the model's own dtype, unless the checkpoint declares another: that is not printed."""
    told = one.first("flashinfer")
    word = told[0]["dtype"] if told else config.get("kv_cache_dtype") or arguments.get("kv_cache_dtype")
    if word in (None, "auto"):
        return None
    word = str(word).removeprefix("torch.")
    return Found(TORCH_NAMES.get(word, word), f"--kv-cache-dtype is {arguments.get('kv_cache_dtype', 'not set')}", told and told[1].quote())


def _graphs(one: Printed, arguments: Mapping[str, Any], config: Mapping[str, Any]) -> Graphs:
    """FULL and its combinations replay decode whole; PIECEWISE leaves attention outside the graphs."""
    compilation = config.get("compilation_config")
    compiled = compilation if isinstance(compilation, dict) else config  # names and paths without quotes are no Python: read field by field
    mode, listed = compiled.get("cudagraph_mode"), compiled.get("cudagraph_capture_sizes")
    sizes = tuple(size for size in listed if isinstance(size, int)) if isinstance(listed, list) else ()
    if config.get("enforce_eager") is True or arguments.get("enforce_eager") is True or one.first("eager"):
        return Graphs(False, "--enforce-eager is set", _quoted(one, "eager"))
    if (changed := one.last("graph mode")) is not None:
        return _by_mode(changed[0]["mode"], "vLLM changed the mode by itself", changed[1].quote(), sizes)
    if mode is not None:
        return _by_mode(str(mode), "by its configuration", None, sizes)
    return Graphs(True, "vLLM captured them", _quoted(one, "capture"), sizes) if one.first("capture") else Graphs(None, "no line tells")


def _by_mode(mode: str, why: str, said: Quote | None, sizes: tuple[int, ...]) -> Graphs:
    full = mode.startswith("FULL")
    return Graphs(full, f"cudagraph_mode={mode}, {why}", said, sizes if full else (), sizes_by_arguments=True)


def _quoted(one: Printed, kind: str) -> Quote | None:
    found = one.first(kind)
    return None if found is None else found[1].quote(found[0][0])


def _notes(one: Printed, backend: Found | None) -> Iterator[str]:
    """A backend's name is not a kernel."""
    words = {
        "flash attention": "FlashAttention runs version {}",
        "flashinfer": "FlashInfer decodes through {}",
        "mla prefill": "MLA prefill runs {}",
    }
    for kind in INNER:
        for what in dict.fromkeys(match["what"] for match, _ in one.said.get(kind, ())):
            yield words[kind].format(what)
    if backend is not None and "," in backend.value:
        yield "several lines name a backend: kinds of layers, a draft or workers differ"


def start_of(info: Mapping[str, Any], where: str) -> Start | None:
    """From the body that `/server_info` answers; None for the body of something else."""
    config = info.get("vllm_config")
    if config is None:
        return None
    asked = config if isinstance(config, dict) else {}
    name = (asked.get("attention_config") or {}).get("backend")
    backend = Found(name, BY_FLAG) if isinstance(name, str) and set(name) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") else None
    size = (asked.get("cache_config") or {}).get("block_size")
    settings = [(side, backend) for side in (PREFILL, DECODE) if backend is not None]
    pages = [(PAGE_SIZE, Found(str(size), "by its configuration"))] if isinstance(size, int) else []
    eager = (asked.get("model_config") or {}).get("enforce_eager") is True
    graphs = _graphs(Printed(where), {"enforce_eager": eager}, {"compilation_config": asked.get("compilation_config")})
    missing = () if backend is not None else (NOT_IN_INFO,)
    return Start(where, Quote("", where), (*settings, *pages), graphs, missing, ready=True)
