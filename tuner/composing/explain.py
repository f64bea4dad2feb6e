"""What Hydra and OmegaConf object to, said in one sentence with the nearest names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from yaml import YAMLError

from tuner.composing import names
from tuner.errors import UsageError
from tuner.suggest import instead

NO_SUCH_KEY = (ConfigKeyError, ConfigAttributeError)
EVERY_SETTING = "`attnpin tune --cfg job` prints every setting"
RENAMED = {"measure.timing.trial_limit_s": "patience.timing", "measure.timing.build_limit_s": "patience.building"}
ENTRY = re.compile(r"(?:Could not override '|Error merging override \+*)([\w.]+)")  # Hydra names the override that it was busy with
TUNE_S_HELP = "see `attnpin tune --help`"  # the only command that takes a --config-name


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turns what the configuration libraries raise inside into `UsageError`."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise UsageError(explain(error)) from error
    except ValueError as error:  # Hydra's own, about overrides such as model=null
        raise UsageError(f"The overrides cannot be used: {_flat(str(error))}") from error
    except AssertionError as error:  # OmegaConf's, about a key inside a node that is null
        raise UsageError("An override sets something inside what is null: gpu.simulated needs gpu=simulated or gpu=replay") from error
    except YAMLError as error:
        raise UsageError(f"A configuration file is not YAML: {_flat(str(error))}") from error


def explain(error: Exception) -> str:
    cause = error.__cause__ if isinstance(error.__cause__, OmegaConfBaseException) else error
    if isinstance(error, MissingConfigException):
        return _no_such_option(error)
    if isinstance(error, OverrideParseException):
        return _unreadable(error)
    if isinstance(cause, OmegaConfBaseException) and (setting := _of_entries(str(error), str(cause.full_key))):
        return _of_an_entry(cause, setting)
    if isinstance(cause, NO_SUCH_KEY):
        return no_such_key(str(cause.full_key))
    if several := re.match("Ambiguous value for argument '(.*)'$", str(error).partition("\n")[0]):
        return f"{several[1]} gives several values; give one, or a list as key=[a,b]; `attnpin tune --multirun` runs a scenario for each"
    if isinstance(cause, OmegaConfBaseException):
        return _bad_value(cause)
    return _flat(str(error))


def _of_entries(text: str, key: str) -> str | None:
    """The setting that Hydra was busy with, where ``key`` is not beside it in one path: then it lies in an entry of it."""
    found = ENTRY.search(text)
    return None if found is None or key.startswith(found[1]) or found[1].startswith(key) else found[1]


def _of_an_entry(cause: OmegaConfBaseException, setting: str) -> str:
    """``cause`` knows where in an entry of a list the fault is, and not which list: that is ``setting``."""
    if isinstance(cause, NO_SUCH_KEY) and isinstance(cause.object_type, type):
        return f"an entry of {setting} has no {str(cause.full_key)!r}; {instead(str(cause.full_key), names.keys(cause.object_type))}"
    return f"in {setting}: {_bad_value(cause)}"


def _no_such_option(error: MissingConfigException) -> str:
    group, _, name = str(error.missing_cfg_file).rpartition("/")
    options = error.options or names.groups().get(group, ())  # Hydra lists none for a name inside a list
    return f"There is no {group or 'configuration'} named {name!r}; {instead(name, options, '' if options else TUNE_S_HELP)}"


def _unreadable(error: OverrideParseException) -> str:
    word = str(error.override)
    for group, options in names.groups().items():
        if word in options:
            return f"{word!r} is not an override; did you mean {group}={word}?"
    if "=" not in word:
        return f"{word!r} is not an override; write key=value, for example model=qwen3_8b"
    key, _, value = word.partition("=")
    if value and '"' not in value and value[0] not in "[{'":
        return f"The override {word!r} cannot be read; put its value in quotes of its own: '{key}=\"{value}\"'"
    problem = str(error).splitlines()[0]
    return f"The override {word!r} cannot be read ({problem}); write key=value or key=[a,b], and quote what the shell would change"


def no_such_key(key: str) -> str:
    if key in RENAMED:
        return f"{key!r} is {RENAMED[key]} now, with a unit: {RENAMED[key]}=90s"
    return f"There is no setting or group named {key!r}; {instead(key, [*names.keys(), *names.groups()], EVERY_SETTING)}"


def _bad_value(cause: OmegaConfBaseException) -> str:
    text = str(cause).splitlines()[0]
    words = re.fullmatch(r"Invalid value '(.*)', expected one of \[(.*)\]", text)
    if words:
        value, allowed = words[1], words[2].split(", ")
        return f"{cause.full_key} cannot be {value!r}; {instead(value, allowed)}"
    if text.endswith("is not a ListConfig, list or tuple."):
        return f"{cause.full_key}={cause.value} is one value where a list is asked; write '{cause.full_key}=[{cause.value}]'"
    inside = filter(re.compile(rf"{re.escape(str(cause.full_key))}\.").match, names.keys())
    if "is not a subclass of" in text and (first := next(inside, None)):
        return f"{cause.full_key}={cause.value} is one value for a group of settings; set them one by one, such as {first}"
    if text.endswith("type hint 'str'"):
        return f"{cause.full_key}: {text[:1].lower()}{text[1:]}; put it in quotes"
    return f"{cause.full_key}: {text[:1].lower()}{text[1:]}; correct the value"


def _flat(text: str) -> str:
    return " ".join(line.strip() for line in text.splitlines() if line.strip())
