"""Models behind one protocol: four wire formats over HTTP, a scripted one, a catalogue, retries."""
