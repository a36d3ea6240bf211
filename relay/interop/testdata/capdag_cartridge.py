"""A cartridge of the published Python package capdag, on stdin and stdout.

    capdag_cartridge.py [--version N] NAME CAP...

NAME is its name in its manifest. It serves identity, as each cartridge of the package does, and
those of these caps that are named:

    invert   gives back its input with the bits of each byte turned over, piece by piece
    fail     fails
    die      ends the process
    forward  calls invert elsewhere with its whole input and gives back what that gives back
    orphan   calls a cap that nobody has
    wait     says so in a LOG and waits for input that never comes, until it is cancelled; says
             "wait ended" to the file that COSIM_INTEROP_SAYS names
"""

import os

from ops import Op, OpMetadata

from capdag.bifaci.cartridge_runtime import (
    WET_KEY_REQUEST, CartridgeRuntime, ClassifiedError, Request, demux_peer_response,
)
from capdag.bifaci.frame import AttributionClass
from capdag.bifaci.manifest import CapManifest
from capdag.cap.caller import CapArgumentValue

from capdag_roles import MEDIA, arguments, cap, cap_groups, speak

# Held open as long as this lives, and told what only a cartridge sees. Without a reader of the pipe
# this fails at once.
says = os.fdopen(os.open(os.environ.get("COSIM_INTEROP_SAYS", os.devnull), os.O_WRONLY | os.O_NONBLOCK), "w")

TURNED = bytes(255 - byte for byte in range(256))


def pieces(request: Request):
    """The contents of all argument streams, as they come."""
    package = request.take_input()
    while (stream := sound(package.recv())) is not None:
        while (item := sound(stream.recv())) is not None:
            yield item[0]


def sound(what):
    """What the package returns as an error, raised."""
    if isinstance(what, Exception):
        raise what
    return what


def invert(request: Request) -> None:
    for piece in pieces(request):
        request.emitter().emit_cbor(piece.translate(TURNED))


def fail(request: Request) -> None:
    for _ in pieces(request):
        pass
    raise ClassifiedError("INTEROP_REFUSED", AttributionClass.INPUT, "refused as it was asked to")


def die(request: Request) -> None:
    os._exit(3)


def call(request: Request, name: str) -> None:
    body = b"".join(pieces(request))
    frames = request.peer().invoke(cap(name), [CapArgumentValue(MEDIA, body)])
    answer = demux_peer_response(frames).collect_bytes_forwarding(request.emitter(), 0.0, 1.0)
    request.emitter().emit_cbor(answer)


def forward(request: Request) -> None:
    call(request, "invert")


def orphan(request: Request) -> None:
    call(request, "nobody")


def wait(request: Request) -> None:
    request.emitter().emit_log("info", AttributionClass.INTERNAL, "waiting")
    try:
        for _ in pieces(request):
            pass
    finally:
        says.write("wait ended\n")
        says.flush()


def op(work) -> type[Op]:
    class Work(Op):
        async def perform(self, dry, wet) -> None:
            work(wet.get_required(WET_KEY_REQUEST))

        def metadata(self) -> OpMetadata:
            return OpMetadata.builder(work.__name__).build()

    return Work


def main() -> None:
    parser = arguments()
    parser.add_argument("name")
    parser.add_argument("caps", nargs="*")
    args = parser.parse_args()
    speak(args.version)
    runtime = CartridgeRuntime.with_manifest(CapManifest.from_dict({
        "name": args.name, "version": "1.0.0", "channel": "release", "registry_url": None,
        "description": "a cartridge of the interoperability tests", "cap_groups": cap_groups(args.caps),
    }))
    works = {work.__name__: work for work in (invert, fail, die, forward, orphan, wait)}
    for name in args.caps:
        runtime.register_op_type(cap(name), op(works[name]))
    runtime.run_cbor_mode()


if __name__ == "__main__":
    main()
