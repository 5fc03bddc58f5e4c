"""How long processors would wait for the zone's lock, if there were several."""
