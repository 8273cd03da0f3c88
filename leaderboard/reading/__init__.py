"""Reading what the site shows: records and judgements, checked before anything is shown."""
