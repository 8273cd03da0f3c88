"""Timings of the suite's kernels, always as ratios to something measured in the same run."""
