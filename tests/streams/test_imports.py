import subprocess
import sys


def _loaded_by(code):
    script = f"{code}\nimport sys\nprint(' '.join(sys.modules))"
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()


def test_importing_streams_loads_neither_torch_nor_numpy():
    loaded = _loaded_by("import trimtab.streams")
    assert "torch" not in loaded
    assert "numpy" not in loaded


def test_the_commands_help_does_not_load_torch():
    code = (
        "from trimtab.cli.main import main\n"
        "try:\n    main(['corrupt', '--help'])\nexcept SystemExit:\n    pass"
    )
    assert "torch" not in _loaded_by(code)


def test_every_public_name_can_be_had():
    from trimtab import streams

    for name in streams.__all__:
        assert getattr(streams, name) is not None
