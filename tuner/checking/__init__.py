"""A pin measured again where something under it changed: which arms to measure, what their code and times say, what to do."""
