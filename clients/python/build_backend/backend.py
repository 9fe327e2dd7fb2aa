"""
Builds the wheel and the source archive with the standard library only (PEP 517, 660), so that `pip install` of a checkout needs nothing
from a registry. The same sources give the same bytes.
"""

import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import zipfile
from pathlib import Path

root = Path(__file__).resolve().parent.parent
#: The earliest date of a ZIP archive.
timestamp = (1980, 1, 1, 0, 0, 0)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = root / "src" / "quartermaster"
    return _wheel(wheel_directory, {f"quartermaster/{path.name}": path.read_bytes() for path in _sources(package)})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {"quartermaster.pth": f"{root / 'src'}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = f"quartermaster-{_project()['version']}"
    files = {"PKG-INFO": _metadata().encode()}
    for path in [root / "pyproject.toml", root / "README.md", Path(__file__), *_sources(root / "src" / "quartermaster")]:
        files[path.relative_to(root).as_posix()] = path.read_bytes()
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    Path(sdist_directory, f"{name}.tar.gz").write_bytes(gzip.compress(archive.getvalue(), mtime=0))
    return f"{name}.tar.gz"


def _wheel(folder, files):
    name = f"quartermaster-{_project()['version']}"
    info = f"{name}.dist-info"
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: quartermaster\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = "".join(f"{path},sha256={_hash(content)},{len(content)}\n" for path, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    file = f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, file), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, timestamp)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return file


def _sources(folder):
    return sorted(path for path in folder.iterdir() if path.suffix == ".py" or path.name == "py.typed")


def _project():
    """The texts of [project]. Python has a parser of TOML only since 3.11."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    section = text.split("[project]\n", 1)[1].split("\n[", 1)[0]
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', section, re.MULTILINE))


def _metadata():
    project = _project()
    readme = (root / "README.md").read_text(encoding="utf-8")
    return (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\nSummary: {project['description']}\n"
        f"License: {project['license']}\nRequires-Python: {project['requires-python']}\nClassifier: Typing :: Typed\n"
        f"Description-Content-Type: text/markdown; charset=UTF-8\n\n{readme}"
    )


def _hash(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
