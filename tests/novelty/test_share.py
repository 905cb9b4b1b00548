"""What the rule says is what it does."""

from mercer.novelty import ShareUpTo


def test_the_cap_by_rows_is_said():
    rule = ShareUpTo(0.95, 64)
    assert rule.guess(150) == 37
    assert "one per four rows" in rule.describe()
