"""What the configuration may hold: names, types, allowed words; a module a group. Hydra checks every YAML file and override against it.

The classes are mutable, since Hydra makes the node of a frozen one read-only for overrides; `tuner.settings` turns the
composed tree into frozen records. An Enum's members are the words a user writes.
"""

from typing import Any

MISSING: Any = "???"  # OmegaConf's mark for a value that a file must give
