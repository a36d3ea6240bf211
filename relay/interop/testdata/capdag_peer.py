"""A peer of another make for the interoperability tests: the relay code of the published
Python package capdag, behind a command line. Every decision about a frame is the package's;
this program only moves bytes and prints.

    capdag_peer.py facts
        Prints what the package says of the protocol, as one JSON object.
    capdag_peer.py frames
        Reads frames from stdin, each behind its length, and writes them re-encoded to stdout.
    capdag_peer.py verdicts
        Reads bodies of frames from stdin, each behind its length. Prints for each one line of
        JSON: {"frame": HEX, "checksum": N}, the re-encoded body and the checksum of its payload,
        or {"error": KIND, "text": TEXT}.
    capdag_peer.py reorder MAX
        Reads as verdicts does and offers each frame to a ReorderBuffer that holds MAX frames a
        flow, and forgets a flow whose END or ERR it delivers. Prints for each frame one line of
        JSON: {"deliver": [SEQ, ...]} or {"error": KIND, "text": TEXT}.
    capdag_peer.py slave SOCKET [--manifest JSON] [--version N]
        Runs a RelaySlave between the host on stdin and stdout and the switch at the Unix
        socket, which has to be listening. --manifest makes it announce itself first.
    capdag_peer.py master SOCKET [--version N]
        Connects a RelayMaster to the slave at the Unix socket and prints what it reads, one
        line of JSON each: {"frame": HEX, "type": NAME, "manifest": TEXT, "limits": {...}},
        where the first line has no frame and {"end": true} is the last. Frames on stdin,
        each behind its length, go to the slave, the payload of a RELAY_STATE by send_state.
        The end of stdin closes the writing half of the socket.

Errors go to stderr, as one line of JSON like that of verdicts, with exit status 1.

The newest releases of the package speak a later version of the protocol, but neither their
codec nor their relays look at the version of a frame. --version N writes N into the frames
that go into the socket, which matters for those that the slave or master makes itself.
"""

import argparse
import importlib.metadata
import json
import socket
import sys
import threading

from capdag.bifaci import frame as capdag_frame
from capdag.bifaci import io as capdag_io
from capdag.bifaci.frame import FlowKey, Frame, FrameType, Keys, Limits, ReorderBuffer
from capdag.bifaci.io import FrameReader, FrameWriter, decode_frame, encode_frame
from capdag.bifaci.relay import RelayError, RelayMaster, RelaySlave

ERROR_KINDS = {
    capdag_io.EncodeError: "encode",
    capdag_io.DecodeError: "decode",
    capdag_io.InvalidFrameError: "invalid_frame",
    capdag_io.FrameTooLargeError: "frame_too_large",
    capdag_io.UnexpectedEofError: "unexpected_eof",
    capdag_io.ProtocolError: "protocol",
    capdag_io.HandshakeError: "handshake",
    RelayError: "relay",
    capdag_io.CborError: "other",
}


def failure(error: Exception) -> dict:
    """An error of the package as JSON; any other is a defect of it or of this program."""
    kind = ERROR_KINDS.get(type(error), type(error).__name__)
    return {"error": kind, "text": str(error)}


def say(what: dict) -> None:
    print(json.dumps(what), flush=True)


class VersionWriter(FrameWriter):
    """Writes frames with a version of its own choice."""

    version = capdag_frame.PROTOCOL_VERSION

    def write(self, frame: Frame) -> None:
        frame.version = self.version
        super().write(frame)


def connect(args) -> tuple[socket.socket, FrameReader, FrameWriter]:
    link = socket.socket(socket.AF_UNIX)
    link.connect(args.socket)
    writer = VersionWriter(link.makefile("wb"))
    if args.version is not None:
        writer.version = args.version
    return link, FrameReader(link.makefile("rb")), writer


def limits_of(limits: Limits) -> dict:
    names = "max_frame", "max_chunk", "max_reorder_buffer", "initial_credit"
    return {name: getattr(limits, name) for name in names}


def facts(args) -> None:
    say({
        "package": importlib.metadata.version("capdag"),
        "version": capdag_frame.PROTOCOL_VERSION,
        "hard_max_frame": capdag_io.MAX_FRAME_HARD_LIMIT,
        "limits": limits_of(Limits.default()),
        "types": {
            t.as_str(): {"number": int(t), "flow": t.is_flow(), "terminal": t.is_terminal()}
            for t in FrameType.all()
        },
        "keys": {name.lower(): key for name, key in vars(Keys).items() if name.isupper()},
    })


def frames(args) -> None:
    reader, writer = FrameReader(sys.stdin.buffer), FrameWriter(sys.stdout.buffer)
    while (frame := reader.read()) is not None:
        writer.write(frame)


def each_body(judge) -> None:
    """Prints what judge makes of each body on stdin."""
    while prefix := sys.stdin.buffer.read(4):
        body = sys.stdin.buffer.read(int.from_bytes(prefix, "big"))
        try:
            verdict = judge(decode_frame(body))
        except capdag_io.CborError as error:
            verdict = failure(error)
        say(verdict)


def verdicts(args) -> None:
    def judge(frame: Frame) -> dict:
        payload = frame.payload if isinstance(frame.payload, bytes) else b""
        return {"frame": encode_frame(frame).hex(), "checksum": capdag_frame.compute_checksum(payload)}

    each_body(judge)


def reorder(args) -> None:
    buffer = ReorderBuffer(args.max)

    def judge(frame: Frame) -> dict:
        ready = buffer.accept(frame)
        for delivered in ready:
            if delivered.frame_type.is_terminal():
                buffer.cleanup_flow(FlowKey.from_frame(delivered))
        return {"deliver": [delivered.seq for delivered in ready]}

    each_body(judge)


def slave(args) -> None:
    _, reader, writer = connect(args)
    notify = None
    if args.manifest is not None:
        notify = args.manifest.encode(), Limits.default()
    local = FrameReader(sys.stdin.buffer), FrameWriter(sys.stdout.buffer)
    RelaySlave(*local).run(reader, writer, notify)


def master(args) -> None:
    link, reader, writer = connect(args)
    relay = RelayMaster.connect(reader)
    say_master(relay, {})
    threading.Thread(target=pass_on, args=(relay, link, writer), daemon=True).start()
    while (frame := relay.read_frame(reader)) is not None:
        say_master(relay, {"frame": encode_frame(frame).hex(), "type": frame.frame_type.as_str()})
    say({"end": True})


def say_master(relay: RelayMaster, what: dict) -> None:
    say({**what, "manifest": relay.manifest.decode(), "limits": limits_of(relay.limits)})


def pass_on(relay: RelayMaster, link: socket.socket, writer: FrameWriter) -> None:
    local = FrameReader(sys.stdin.buffer)
    while (frame := local.read()) is not None:
        if frame.frame_type == FrameType.RELAY_STATE:
            relay.send_state(writer, frame.payload)
        else:
            writer.write(frame)
    link.shutdown(socket.SHUT_WR)


def main() -> int:
    parser = argparse.ArgumentParser()
    modes = parser.add_subparsers(required=True)
    for mode in facts, frames, verdicts, reorder, slave, master:
        command = modes.add_parser(mode.__name__)
        command.set_defaults(run=mode)
        if mode is reorder:
            command.add_argument("max", type=int)
        if mode in (slave, master):
            command.add_argument("socket")
            command.add_argument("--version", type=int)
        if mode is slave:
            command.add_argument("--manifest")
    args = parser.parse_args()
    try:
        args.run(args)
    except capdag_io.CborError as error:
        print(json.dumps(failure(error)), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
