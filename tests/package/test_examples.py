"""The examples are NumPy programs: with the one import line changed they compute what NumPy computes."""

from __future__ import annotations

import struct
import zlib
from functools import partial
from pathlib import Path

import numpy
import pytest

import gpunumpy
from gpunumpy.__main__ import main
from gpunumpy.core import extras
from gpunumpy.core.runtime.device import default_device
from gpunumpy.demo import load, names
from gpunumpy.information import info

ROOT = Path(__file__).parents[2]
# name -> (size, steps, relative tolerance). With + - * and comparisons alone, results equal NumPy's to the bit.
CASES = {
    "black_scholes": (64, 3, 1e-12),
    "heat": (64, 20, 0.0),
    "image_subtraction": (64, 2, 1e-9),
    "kmeans": (10, 5, 1e-12),
    "lattice_boltzmann": (32, 10, 1e-11),
    "life": (64, 10, 0.0),
    "mandelbrot": (64, 30, 0.0),
    "nbody": (64, 5, 1e-11),
}


def test_every_example_has_a_case() -> None:
    assert names() == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_matches_numpy(name: str, device: str) -> None:
    size, steps, tolerance = CASES[name]
    reference = load(name, "numpy")
    expected = reference.run(size, steps)
    with gpunumpy.Device(device):
        example = load(name)
        result = example.run(size, steps)
        drawn = example.picture(result)
        assert isinstance(result, gpunumpy.ndarray)
        assert str(result.device) == device
    scale = numpy.abs(expected).max()
    for array, expected_array in ((result, expected), (drawn, reference.picture(expected))):
        values = numpy.asarray(array)
        assert values.dtype == expected_array.dtype
        numpy.testing.assert_allclose(
            values, expected_array, rtol=max(tolerance, 1e-14 * (array is drawn)), atol=tolerance * scale
        )


@pytest.mark.parametrize("name", CASES)
def test_prints_what_numpy_prints(name: str, device: str, capsys: pytest.CaptureFixture[str]) -> None:
    size, steps, _ = CASES[name]
    printed = []
    with gpunumpy.Device(device):
        for library in ("numpy", "gpunumpy"):
            example = load(name, library)
            vars(example)["run"] = partial(example.run, size, steps)
            example.main()
            printed.append(capsys.readouterr().out)
    assert printed[1] == printed[0]
    assert printed[0].count("\n") >= 1


@pytest.mark.parametrize("name", CASES)
def test_reports_each_step(name: str) -> None:
    seen: list[int] = []

    def progress(steps: int) -> list[int]:
        seen.append(steps)
        return list(range(steps))

    load(name, "numpy").run(10, 2, progress)
    assert seen == [2]


def test_the_default_answers_are_right() -> None:
    """Values known from elsewhere, so that the programs themselves are right and not only equal."""
    calls = load("black_scholes", "numpy")
    # Hull, Options, Futures and Other Derivatives: S=42, K=40, r=0.1, volatility 0.2, half a year: 4.76.
    calls.STRIKE, calls.RATE = 40.0, 0.1  # type: ignore[attr-defined]
    assert calls.call(42.0, 0.2, 0.5) == pytest.approx(4.7594, abs=1e-4)

    stars = load("nbody", "numpy")
    before, after = stars.energy(*stars.disc(64)), stars.energy(*stars.simulate(64, 40))
    assert after == pytest.approx(before, rel=1e-3)

    count = load("mandelbrot", "numpy").run(101, 50)
    assert count[50, 75] == 50  # c = 0
    assert count[0, 0] == 1  # |c| > 2

    field = load("image_subtraction", "numpy")
    score, matching = field.subtract(*field.exposures(512), 1)
    rows, columns = field.star_places(512)
    found = numpy.stack(field.found(score), axis=1)
    distance = numpy.abs(numpy.stack([rows, columns], axis=1)[:, None] - found).max(axis=2)
    assert len(found) == field.STARS
    assert distance.min(axis=1).max() <= 1
    assert field.spread(score) == pytest.approx(1.0, abs=0.02)
    assert matching[0, 0].real == pytest.approx(field.EXPOSURE, rel=1e-3)

    labels, _ = load("kmeans", "numpy").assign(numpy.eye(64)[:3], numpy.eye(64)[[2, 0, 1]])
    assert labels.tolist() == [1, 2, 0]


def read_png(path: Path) -> numpy.ndarray:
    """Decode a PNG of unfiltered 8-bit rows of red, green and blue, with every checksum verified."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length) == (zlib.crc32(body),)
        chunks[body[:4]] = body[4:]
        at += 12 + length
    width, height, *form = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert form == [8, 2, 0, 0, 0]
    rows = numpy.frombuffer(zlib.decompress(chunks[b"IDAT"]), numpy.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, 3)


def test_demo_draws_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "heat.png"
    assert main(["demo", "heat", "--size", "32", "--steps", "5", "--device", "cpu", "--output", str(picture)]) == 0
    out, bar = capsys.readouterr()
    assert "heat on cpu" in out
    assert "largest difference between the two results: 0\n" in out
    assert bar.count("#") == 80
    pixels = read_png(picture)
    assert pixels.shape == (512, 512, 3)
    assert pixels[0, 0].min() > 200  # the hot edge
    assert pixels[-1, -1].max() < 50  # a cold corner


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["demo", "nothing"], "invalid choice: 'nothing'"),
        (["demo", "heat", "--size", "0"], "0 is not a positive number"),
        ([], "the following arguments are required: a script"),
    ],
)
def test_wrong_words_are_refused(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(words)
    assert message in capsys.readouterr().err


def test_wrong_device_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "heat", "--device", "abacus"]) == 1
    assert "abacus" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["no/folder.png", ".", "file/picture.png"])
def test_an_unwritable_picture_is_refused_at_once(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gpunumpy.demo.load", lambda name: pytest.fail("it was run"))
    (tmp_path / "file").touch()
    path = str(tmp_path / place)
    assert main(["demo", "life", "--device", "cpu", "--output", path]) == 1
    assert path in capsys.readouterr().err


def test_info_names_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPUNUMPY_CACHE_DIR", str(tmp_path))
    text = "\n".join(info())
    assert str(tmp_path) in text
    assert f"NumPy {numpy.__version__}".lower() in text
    assert "cpu" in text
    for line in info():
        if line.endswith(" missing") and "(cu" in line:
            assert line.removesuffix("missing").strip() in text.rpartition("pip install ")[0]
    assert info()[-1].startswith(f"Programs run on {default_device()} here: ")


def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def load_without(name: str) -> None:
        raise ModuleNotFoundError("No module named 'skimage'", name="skimage")

    monkeypatch.setattr("gpunumpy.demo.load", load_without)
    assert main(["demo", "image_subtraction", "--output", str(tmp_path / "out.png")]) == 1
    told = capsys.readouterr().err
    assert "skimage" in told
    assert f"pip install -e '{ROOT}[examples]'" in told


def test_commands_that_install_extras(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert extras.install_command("cu13") == f"pip install -e '{ROOT}[cu13]'"
    monkeypatch.setattr(extras, "_FOLDER", str(tmp_path))
    assert extras.install_command("cu13") == "pip install 'gpunumpy[cu13]'"
