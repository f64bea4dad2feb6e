"""The stories, top to bottom: settings, limits, plan, probe, race, decide, pin, check.

A module that lies here tells the story of a command, or of a step of one, and what it is made of lies in a package of the same verb; or all
use it: `errors`, `suggest`, `progress`, `clock`, `spans`, `version`.

The command line: `command_line`, `commands`.
From it to settings: `schema`, `composing`, `sanity`; `hf` for a model, `traffic` for its requests.
What would be served: `workload`, `step_model`; `engines`, by which rules; `limiting`, which arms; `planning`, `budgeting`, `search`.
Where it is measured: `device`, `workers`, `rounds` on several boards, `executors` for a `sweep`.
What times say: `arithmetic`, `verdicts`; `racing`, `deciding`, `calibrating`; `pinning` what comes of it, `past` over many runs.
A pin and what changed: `checking`, `unmeasured`, `diffing`; `comparing`, `bisecting`, `attributing`; `auditing`, `drifting`.
An environment: `doctor`; `image`, by its list of packages.
A pin and a server: `exporting`, `launching`, `verifying`, `confirming`, `triaging`, with `logs`.
Without a GPU: `demo`.
"""
