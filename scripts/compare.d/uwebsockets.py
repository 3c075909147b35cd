"""uWebSockets, by way of PyPI's socketify: POST /pub/ROOM sends its body to every socket of /sub/ROOM.

The messages stay in C++: Python only passes each body on. PORT is the port to listen on, at 127.0.0.1. For TLS, TLS_CERT and
TLS_KEY name the files of a certificate.
"""

import os

from socketify import App, AppListenOptions, AppOptions, OpCode

certificate = os.environ.get("TLS_CERT")
app = App(AppOptions(cert_file_name=certificate, key_file_name=os.environ["TLS_KEY"]) if certificate else None)


def upgrade(response, request, context):
    response.upgrade(
        request.get_header("sec-websocket-key"), request.get_header("sec-websocket-protocol"),
        request.get_header("sec-websocket-extensions"), context, request.get_parameter(0))


def publish(response, request):
    room, chunks = request.get_parameter(0), []

    def take(response, chunk, is_end):
        chunks.append(chunk or b"")
        if is_end:
            app.publish(room, b"".join(chunks), OpCode.TEXT)
            response.end("{}")

    response.on_data(take)


app.ws("/sub/:room", {
    "upgrade": upgrade,
    "open": lambda socket: socket.subscribe(socket.get_user_data()),
    # Nobody is dropped for being idle, or for reading slowly.
    "idle_timeout": 0,
    "max_backpressure": 64 << 20,
})
app.post("/pub/:room", publish)
app.listen(AppListenOptions(port=int(os.environ["PORT"]), host="127.0.0.1"))
# Nothing here is asynchronous in Python, so uWebSockets has its loop to itself: app.run() would poll asyncio's beside it.
app.loop.uv_loop.run()
