"""Two environments side by side: what they are, how their processes take turns, what their differences say."""
