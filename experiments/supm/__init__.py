"""Papers 000 and 001 reproduced: every printed number beside ours."""
