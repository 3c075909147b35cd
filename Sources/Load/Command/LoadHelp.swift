/// The text of `--help` besides the options. No line is longer than ``columns``, so that none is wrapped.
enum LoadHelp {
    /// Width of the help text.
    static let columns = 76

    static let abstract = "Load a server, and check that every subscriber gets every message."

    static let discussion = """
        Subscribers connect by WebSocket, publishers send by HTTP, and each message
        carries a mark that identifies it when it arrives. In its short form the
        tool loads Backscroll's own API, in rooms of the run's own. With --ws and
        --post it loads any server that takes messages by HTTP, or in a protocol of
        its own on TCP, and delivers them by WebSocket.

          backscroll-tools load http://127.0.0.1:8080 --subscribers 1000 --rooms 10
            … --rate 50                         latency at 50 messages a second
            … --subscribers 10000 --idle --pid P    memory of idle connections
            … --subscribers 0 --in-flight 64    sends alone
            … --reconnect --seconds 60          then kill -9 and start the server
            … --subscribers 10000 --rooms 1000 --active-rooms 1    few are active
            … --rate 50 --storm 10000 --back 100    clients come back at once
            … --rate 100 --stall 100            slow readers beside others
            … --room big --messages 1000000 --subscribers 0    fill a room, then
            … --room big --messages 1000000 --pages random     read its pages
          backscroll-tools load --ws 'ws://127.0.0.1:9000/sub/{run}-{room}' \\
            --post 'http://127.0.0.1:9000/pub/{run}-{room}' --subscribers 1000
          backscroll-tools load --ws ws://127.0.0.1:4223 --ws-stream \\
            --hello $'CONNECT {}\\r\\nSUB {run}.{room} 1\\r\\nPING\\r\\n' \\
            --ready $'PONG\\r\\n' --post tcp://127.0.0.1:4222 \\
            --tcp-hello $'CONNECT {"verbose":false}\\r\\n' \\
            --tcp-frame $'PUB {run}.{room} {length}\\r\\n{body}\\r\\nPING\\r\\n' \\
            --tcp-answer $'PONG\\r\\n' --any-order         NATS, from bash

        FIGURES
          sends/s    requests acknowledged, by 2xx or --tcp-answer, in the measured
                     time
          deliver/s  messages received by subscribers: one send to a room of 1000
                     subscribers is 1000 deliveries
          ack        time from when a request was due until its answer. Without
                     --rate a request is due when a publisher is free; with --rate
                     the clock decides, so that a stall of the server shows in
                     every request that it delays (no coordinated omission)
          delivery   time from when a message was due until a subscriber received
                     it, for each delivery
          p50 … max  half of the times are at most p50, 999 of 1000 are at most
                     p99.9. Everything that was due in the measured time counts,
                     even if it comes later
          began late requests of --rate that began over 2 ms after they were due:
                     the connections, or this tool, were busy
          still due  requests of --rate that had not begun at the end, because the
                     rate was too high
          each       with --pid: growth of the server's memory per subscriber,
                     measured after --settle
          storm      time until all clients of --storm were subscribed and had
                     received what they had missed; also for each client
          stall      number of subscribers that read nothing, and with --pid the
                     growth of the server's memory for each of them
          ack then   ack during the storm or stall; "ack" is measured before it
          meanwhile  delivery to the other subscribers during the storm or stall;
                     "delivery" is measured before it
          server     with --pid: CPU time of these processes and their descendants
                     as a share of one core, what was done for each second of it,
                     and their memory (proportional set size)
          tool       CPU time of this process. Near 100 % for each of --threads
                     the run measures the tool, not the server

        THE VERDICT
          All subscribers of a room must see the same messages in the same order
          (except with --any-order), each once, and every message that was
          acknowledged. Anything else is counted and listed: which subscriber,
          which room, which numbers. The exit status is then 1; it is 2 when the
          run could not begin, 64 when an option cannot be used. Warm-up and late
          deliveries count too. Every requested page must arrive, and with
          --idle every subscriber must have its connection at the end.
          With --reconnect, lost connections are made again: subscriptions resume
          after the last message seen, and sends are repeated with the same
          client_message_id until they are acknowledged. Killing the server
          meanwhile shows whether what it acknowledged survives.

        TEMPLATES
          {room} {conn} {pub} {seq}  numbers, from 0: of the room, the subscriber,
                                     the publisher, the message in its room
          {run}                      the run's number, another one each time
          {mark}                     identifies the message when it arrives
          {pad}                      fills a body up to --size
          {body} {length}            in --tcp-frame: the body, and its bytes
          {ts}                       nanoseconds since the run began
          {rand}                     a random number out of --rand
        """
}
