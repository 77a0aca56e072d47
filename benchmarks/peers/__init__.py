"""Ours against other packages: wall time to a true relative suboptimality. Run `python -m benchmarks.peers --help`."""
