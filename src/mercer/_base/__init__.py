"""What everything stands on: numbers, threads, memory, progress, names. It knows no kernel."""
