"""Rows: in memory as a kernel takes them, sparse or not, elsewhere as a source; and their tiles."""

from mercer.points.points import Columns, Objects, Points, Vectors, alike, as_points

__all__ = ["Columns", "Objects", "Points", "Vectors", "alike", "as_points"]
