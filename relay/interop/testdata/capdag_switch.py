"""A switch of the published Python package capdag, its RelaySwitch, and an engine on it.

    capdag_switch.py [--version N] [--policy NETWORK] SOCKET HOSTS

Listens on the Unix socket, waits for that many hosts and makes a switch over them, which checks
the identity of each. Prints a line of JSON, {"caps": [...]}, and then serves one call after the
other, each a line of JSON on stdin and one on stdout:

    {"cap": URN, "media": URN, "body": BASE64, "piece": N, "cancel": true}
        Calls a cap with one argument in pieces of N bytes. With cancel, the argument gets no end
        and the request is cancelled, as by its user, at the first LOG.
    {"body": BASE64, "terminal": "end" | "err" | "cancelled", "code", "class", "message", "exit_code",
     "logs": [...], "chunks": N, "seqs": [N, ...], "credits": N}
        What came back. seqs are the distinct numbers of its frames.

The end of stdin ends it. What goes wrong in it is a line {"error": TEXT}.
"""

import base64
import json
import queue
import socket
import sys
import threading

import cbor2

from capdag.bifaci.credit import CreditGate, CreditRouter, CreditWindow
from capdag.bifaci.frame import (
    CancelReason, CreditDirection, Frame, FrameType, MessageId, compute_checksum, verify_chunk_checksum,
)
from capdag.bifaci.relay_switch import RelaySwitch, SocketPair, UnknownRequestError

from capdag_roles import arguments, end_with_parent, speak


def say(what: dict) -> None:
    print(json.dumps(what), flush=True)


class Engine:
    def __init__(self, switch: RelaySwitch):
        self.switch = switch
        self.router = CreditRouter()
        self.frames: queue.Queue = queue.Queue()
        threading.Thread(target=self.pump, daemon=True).start()

    def pump(self) -> None:
        try:
            while (frame := self.switch.read_from_masters()) is not None:
                if frame.frame_type == FrameType.CREDIT:
                    self.router.grant(frame)
                elif frame.frame_type != FrameType.RELAY_NOTIFY:
                    self.frames.put(frame)
            self.frames.put(EOFError("all hosts are gone"))
        except Exception as error:  # a defect of the switch ends its reading
            self.frames.put(error)

    def call(self, what: dict) -> dict:
        rid = MessageId.new_uuid()
        sender = threading.Thread(target=self.sender, args=(rid, what), daemon=True)
        sender.start()
        answer = Answer(self.switch, rid)
        while not answer.terminal:
            frame = self.frames.get(timeout=60)
            if isinstance(frame, Exception):
                raise frame
            if frame.id != rid:
                continue
            answer.take(frame)
            if frame.frame_type == FrameType.LOG and what.get("cancel"):
                self.switch.cancel_request(rid, CancelReason.user())
                summary = self.switch.recent_terminal_of_rid(rid)
                return {"terminal": summary.kind.value, "logs": answer.logs}
        sender.join()
        return answer.report()

    def sender(self, rid: MessageId, what: dict) -> None:
        try:
            self.send(rid, what)
        except UnknownRequestError:  # it has ended before its body, which then goes nowhere
            pass
        except Exception as error:
            self.frames.put(error)

    def send(self, rid: MessageId, what: dict) -> None:
        """Sends the request with its one argument, under credit."""
        send = self.switch.send_to_master
        body, piece = base64.b64decode(what.get("body", "")), what.get("piece", 1 << 18)
        gate = CreditGate(self.switch.limits().initial_credit)
        self.router.register(rid, "arg0", gate)
        send(Frame.req(rid, what["cap"], b"", "application/cbor"))
        send(Frame.stream_start(rid, "arg0", what["media"]))
        count = 0
        for start in range(0, len(body), piece):
            payload = cbor2.dumps(body[start:start + piece])
            gate.acquire(1)
            send(Frame.chunk(rid, "arg0", 0, payload, count, compute_checksum(payload)))
            count += 1
        if not what.get("cancel"):
            send(Frame.stream_end(rid, "arg0", count))
            send(Frame.end(rid, None))


class Answer:
    """The response of one request."""

    def __init__(self, switch: RelaySwitch, rid: MessageId):
        self.switch, self.rid = switch, rid
        self.window = CreditWindow(switch.limits().initial_credit)
        self.body, self.logs, self.seqs = bytearray(), [], set()
        self.chunks = self.credits = 0
        self.terminal: dict = {}

    def take(self, frame: Frame) -> None:
        self.seqs.add(frame.seq)
        if frame.frame_type == FrameType.CHUNK:
            self.chunk(frame)
        elif frame.frame_type == FrameType.LOG:
            self.logs.append(frame.log_message())
        elif frame.frame_type == FrameType.END:
            self.terminal = {"terminal": "end", "exit_code": frame.exit_code()}
        elif frame.frame_type == FrameType.ERR:
            self.terminal = {
                "terminal": "err", "code": frame.error_code(), "class": frame.attribution_class().as_str(),
                "message": frame.error_message(),
            }

    def chunk(self, frame: Frame) -> None:
        verify_chunk_checksum(frame)
        if not self.window.arrive():
            raise ValueError("a CHUNK beyond the window")
        value = cbor2.loads(frame.payload)
        self.body.extend(value.encode() if isinstance(value, str) else value)
        self.chunks += 1
        if grant := self.window.consumed():
            self.credits += 1
            try:
                self.switch.send_to_master(Frame.credit(self.rid, frame.stream_id, grant, CreditDirection.RESPONSE))
            except UnknownRequestError:  # it has ended, and its last frames are still to be read here
                pass

    def report(self) -> dict:
        return {
            **self.terminal, "body": base64.b64encode(self.body).decode(), "logs": self.logs,
            "chunks": self.chunks, "seqs": sorted(self.seqs), "credits": self.credits,
        }


def policy_of(network: str):
    from capdag.bifaci.policy import HostPolicy, NetworkPolicy

    return HostPolicy(NetworkPolicy(network))


def main() -> None:
    parser = arguments()
    parser.add_argument("--policy")
    parser.add_argument("socket")
    parser.add_argument("hosts", type=int)
    args = parser.parse_args()
    speak(args.version)
    end_with_parent()
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(args.socket)
            listener.listen()
            say({"listening": args.socket})
            links = [listener.accept()[0] for _ in range(args.hosts)]
        pairs = [SocketPair(str(n), link.makefile("rb"), link.makefile("wb")) for n, link in enumerate(links)]
        policy = [policy_of(args.policy)] if args.policy else []
        switch = RelaySwitch(pairs, *policy)
        say({"caps": json.loads(switch.routable_capabilities())})
        engine = Engine(switch)
        for line in sys.stdin:
            say(engine.call(json.loads(line)))
    except Exception as error:
        say({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
