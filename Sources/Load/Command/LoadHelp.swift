/// What `--help` says beyond the options.
enum LoadHelp {
    static let abstract = "Load a server, and check that every subscriber gets every message exactly once and in order."

    static let discussion = """
        Subscribers connect by WebSocket, publishers send by HTTP, and each message carries a mark by which it is \
        recognised in whatever arrives. In its short form it loads Backscroll's own API, in rooms of the run's own; \
        with --ws and --post it loads any server that takes messages by HTTP and delivers them by WebSocket.

          backscroll load http://127.0.0.1:8080 --subscribers 1000 --rooms 10
          backscroll load http://127.0.0.1:8080 --subscribers 1000 --rate 50        (latency)
          backscroll load http://127.0.0.1:8080 --subscribers 10000 --idle --pid P  (memory)
          backscroll load http://127.0.0.1:8080 --subscribers 0 --in-flight 64      (sends alone)
          backscroll load http://127.0.0.1:8080 --reconnect --seconds 60            (then kill -9 the server)
          backscroll load --method GET --rand 31:1000000 \\
            --post 'http://127.0.0.1:8080/v1/rooms/big/messages?before={rand}&limit=30'
          backscroll load --ws 'ws://127.0.0.1:9000/sub/{run}-{room}' \\
            --post 'http://127.0.0.1:9000/pub/{run}-{room}' --subscribers 1000

        WHAT THE FIGURES MEAN
          sends/s     Requests acknowledged with 2xx, in the measured time (--seconds, after --warmup).
          deliver/s   Messages received by subscribers: one send in a room of 1000 is 1000 deliveries.
          ack         From when a request was due to its answer. In a closed loop a request is due when its slot is \
        free; with --rate it is due by the clock, so that time spent waiting for a slow server counts, and a stall \
        shows in every request it delayed (no coordinated omission).
          delivery    From when a message was due to be sent to when a subscriber had it, for every delivery.
          p50 … max   Of all those times: half are no longer than p50, 999 in 1000 no longer than p99.9. Answers and \
        deliveries after the measured time count for messages that were due in it.
          began late  With --rate: requests that began over 2 ms after they were due; all connections were busy.
          still due   With --rate: requests that were due and had not begun at the end: the rate was not held.
          server      With --pid: CPU time of these processes and their descendants, as a share of one core, and \
        what they did for each second of it; memory is their proportional set size.
          each        With --pid: the server's memory after --settle, less that before, by the subscribers.
          tool        CPU time of this process. Near 100 % for each of --threads, it is the tool that is measured.

        THE VERDICT
          All subscribers of a room must see the same messages in the same order, each once, and every message that \
        was acknowledged; anything else is counted and listed (which subscriber, which room, which numbers), and \
        the exit status is 1. It is 2 when the run could not begin. Warm-up and late deliveries are judged too.
          With --reconnect lost connections are made again: subscriptions resume after the last message seen, sends \
        are repeated with the same client_message_id until they are acknowledged, and the verdict is on every \
        acknowledged message. Killing the server while it runs shows whether acknowledged messages survive.

        TEMPLATES
          {room} {conn} {pub} {seq}  numbers of the room, subscriber, publisher, message in its room; from 0
          {run}                      the run's number, another one each time
          {mark}                     what messages are recognised by: BSL:run:room:seq:time;
          {pad}                      fills a body up to --size
          {ts} {rand}                time in nanoseconds since the run began; a random number out of --rand
        """
}
