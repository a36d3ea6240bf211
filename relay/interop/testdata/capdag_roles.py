"""What the programs of the other roles share: capdag_cartridge.py, capdag_host.py and
capdag_switch.py, which make a cartridge, a host and a switch of the published Python package
capdag. Every decision about a frame is the package's; these programs only put its parts
together, as its own documentation does, and report.
"""

import argparse
import os
import socket
import threading
import time

from capdag.bifaci import frame as capdag_frame
from capdag.bifaci import io as capdag_io
from capdag.bifaci.io import FrameReader, FrameWriter
from capdag.cap.definition import CapArg

MEDIA = "media:interop"
IDENTITY = "cap:effect=none"


def cap(name: str) -> str:
    """The URN of the cap of the tests with that name."""
    return f"cap:in={MEDIA};op={name};out={MEDIA}"


def definition(name: str) -> dict:
    """A cap as a manifest has it. The newer release wants an input and an output with names, the
    older one refuses names."""
    urn, media = (IDENTITY, "media:") if name == "identity" else (cap(name), MEDIA)
    what = {"urn": urn, "version": 0, "title": name, "aliases": [name]}
    if "name" in CapArg.__dataclass_fields__:
        what["args"] = [{"media_urn": media, "name": "input", "required": True, "sources": [{"stdin": media}]}]
        what["outputs"] = [{"media_urn": media, "name": "output", "output_description": "what comes out"}]
    return what


def cap_groups(names: list[str]) -> list[dict]:
    return [{"name": "default", "caps": [definition(name) for name in ["identity", *names]]}]


def arguments() -> argparse.ArgumentParser:
    """The arguments that all have."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--version", type=int, help="the version of the protocol to speak, if not the release's own")
    return parser


def end_with_parent() -> None:
    """Ends this process when the one that started it has ended, however that came: the one whose
    id is in COSIM_INTEROP_PARENT."""
    parent = os.environ.get("COSIM_INTEROP_PARENT")
    if parent is None:
        return

    def watch():
        while os.getppid() == int(parent):
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def speak(version: int | None) -> None:
    """Makes the package say that it speaks a version. Its codec does not look at the version of
    a frame, so what else it does is what its release does."""
    if version is None:
        return
    capdag_frame.PROTOCOL_VERSION = version
    capdag_io.PROTOCOL_VERSION = version
    write = FrameWriter.write

    def with_version(self, frame):
        frame.version = version
        write(self, frame)

    FrameWriter.write = with_version


def ends(link: socket.socket) -> tuple[FrameReader, FrameWriter]:
    return FrameReader(link.makefile("rb")), FrameWriter(link.makefile("wb"))
