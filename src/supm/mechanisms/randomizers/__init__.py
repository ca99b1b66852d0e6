"""Local randomizers, one file each: what an owner holds goes in, what may leave comes out."""
