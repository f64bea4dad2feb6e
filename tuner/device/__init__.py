"""The machine that arms run on: waited for, locked, asked about itself, its workers begun, and what is measured of it apart from arms."""
