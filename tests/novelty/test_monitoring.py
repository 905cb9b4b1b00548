"""The recipe of the page `Watch a sensor` on a real signal: five minutes of an ECG."""

import numpy as np

from mercer import KernelNovelty


def test_windows_of_an_ecg(data_dir):
    raw = np.load(data_dir / "ecg_mitbih208.npz")["ecg_raw"]
    signal = (raw[::4] - 1024.0) / 200  # millivolt, 90 a second
    windows = np.lib.stride_tricks.sliding_window_view(signal, 60)
    model = KernelNovelty(random_state=0).fit(windows[:13_000:20])
    later = windows[13_060::7]
    # The second half of each window comes from another moment: every value is a normal one.
    spliced = np.hstack([later[:, :30], np.roll(later, 1000, axis=0)[:, 30:]])
    false, found = ((model.predict(rows) == -1).mean() for rows in (later, spliced))
    assert false <= 0.05
    assert found >= 4 * false
    assert found >= 0.07
