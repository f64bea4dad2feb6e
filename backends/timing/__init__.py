"""How long a call takes: clocks of three kinds, their pace, warm-up, what surrounds the call and what bounds it."""
