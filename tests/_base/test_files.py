"""What is a device, and what only looks unlike a file."""

import os

import pytest

from mercer._base.files import is_device


def test_a_pipe_is_a_device_and_a_file_is_not(tmp_path):
    (tmp_path / "file").touch()
    assert not is_device(tmp_path / "file")
    assert not is_device(tmp_path)
    assert not is_device(tmp_path / "missing")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert is_device(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["x" * 300, "file/below"])
def test_a_name_that_the_system_refuses_is_not_a_device(tmp_path, name):
    """Whoever writes there is told so; the question alone raises nothing."""
    (tmp_path / "file").touch()
    assert not is_device(tmp_path / name)
