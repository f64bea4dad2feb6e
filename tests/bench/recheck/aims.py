"""What a check is to stay under."""

UNTOUCHED_SHARE, UNTOUCHED_S, TOUCHED_SHARE = 0.02, 60.0, 0.15  # shares of the tune that made the pin
