"""Side-by-side measurements: ratios against named peers, one command, one table each."""
