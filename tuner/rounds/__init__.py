"""Rounds of one run on several boards of one type at the same time. Which, and what comes of them, is `tuner.racing.beside`'s to say."""
