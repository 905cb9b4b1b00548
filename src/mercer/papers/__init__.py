"""The papers: every table and figure that they print, with our number beside theirs."""
