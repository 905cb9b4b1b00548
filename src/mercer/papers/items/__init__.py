"""The items: what to run for each table and figure, the bars, and the picture."""
