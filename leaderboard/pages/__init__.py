"""What the page of one entry shows, ready for its template."""
