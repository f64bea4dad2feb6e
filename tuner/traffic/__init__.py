"""From traffic to cells: a log or a data set is read, a server's steps are simulated, and the steps are gathered to a few."""
