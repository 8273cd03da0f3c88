"""Building the site: in several processes, keeping what did not change."""
