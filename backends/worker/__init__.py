"""The worker: a process on the serving machine that answers the controller's questions, and the guard beside it."""
