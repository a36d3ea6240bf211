"""A host of the published Python package capdag: its CartridgeHost behind its RelaySlave.

    capdag_host.py [--version N] SOCKET PROGRAM NAME CAP...

Registers the program as a cartridge with that name that serves identity and the caps named, to be
started for its first request, and connects to the switch at the Unix socket. Ends, and its
cartridge with it, when the switch closes the socket.
"""

import socket
import threading

from capdag.bifaci.cartridge_repo import CartridgeChannel
from capdag.bifaci.host_runtime import CartridgeHost
from capdag.bifaci.io import FrameReader
from capdag.bifaci.relay import RelaySlave

from capdag_roles import arguments, cap_groups, end_with_parent, ends, speak


class LastReader(FrameReader):
    """Reads from the switch. The package's slave waits for the host when the socket has ended, and
    the host for the slave; so the end of the socket also ends what the slave writes to the host."""

    def __init__(self, reader: FrameReader, local: socket.socket):
        super().__init__(reader.reader)
        self.local = local

    def read(self):
        frame = None
        try:
            frame = super().read()
        finally:
            if frame is None:
                self.local.shutdown(socket.SHUT_WR)
        return frame


def main() -> None:
    parser = arguments()
    parser.add_argument("socket")
    parser.add_argument("program")
    parser.add_argument("name")
    parser.add_argument("caps", nargs="*")
    args = parser.parse_args()
    speak(args.version)
    end_with_parent()

    host = CartridgeHost()
    host.register_cartridge(
        args.program, args.name, "1.0.0", CartridgeChannel.RELEASE, None, cap_groups(args.caps))

    switch = socket.socket(socket.AF_UNIX)
    switch.connect(args.socket)
    local, far = socket.socketpair()
    reader, writer = ends(switch)
    slave = RelaySlave(*ends(local))
    threading.Thread(target=slave.run, args=(LastReader(reader, local), writer), daemon=True).start()
    host.run(far.makefile("rb"), far.makefile("wb"))


if __name__ == "__main__":
    main()
