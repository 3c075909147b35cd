import Transport

/// A publisher: a connection with at most one outstanding request. It reconnects after the server ends the connection.
final class Publisher: ConnectionHandler {
    /// A request, from the time when it is due until its slot is free.
    struct Outgoing {
        let room: Int
        let number: Int
        /// The time when it was due; in a closed loop the time when it was begun.
        let time: Int64
        /// The time when it was last sent.
        var sentAt: Int64 = 0
        var isAnswered = false
        /// Number of loops with subscribers that the message has not reached.
        var loopsWaiting: Int
    }

    /// The publisher's number in the run.
    let id: Int
    /// Number of consecutive failures.
    var failures = 0
    /// The request that occupies the slot.
    var outgoing: Outgoing?
    private(set) var connection: Connection?

    private unowned let publishers: Publishers
    private var reader: any AnswerReader

    private static let noAnswer = "there was no connection, or it ended before the answer"

    init(id: Int, publishers: Publishers) {
        self.id = id
        self.publishers = publishers
        reader = publishers.publishing.answers.reader
    }

    /// Sends a request, on a new connection if there is none.
    func transmit(_ request: [UInt8], by loop: Loop, to destination: Destination) {
        do throws(TransportError) {
            if connection == nil {
                reader = publishers.publishing.answers.reader
                connection = try loop.connect(to: destination.address, tls: destination.tls) { _ in self }
            }
            guard let connection else { return publishers.cut(self, reason: Self.noAnswer, wasSent: false) }
            connection.write(request)
        } catch {
            publishers.cut(self, reason: error.description, wasSent: false)
        }
    }

    /// Ends the connection. The next request uses a new one.
    func disconnect() {
        connection?.abort()
        connection = nil
    }

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        guard connection === self.connection else { return }
        reader.append(bytes)
        while let answer = reader.next() {
            if answer.endsConnection { disconnect() }
            publishers.answered(self, answer)
            guard connection === self.connection else { return }
        }
    }

    func closed(_ connection: Connection) {
        guard connection === self.connection else { return }
        self.connection = nil
        if let answer = reader.finish() {
            publishers.answered(self, answer)
        } else {
            publishers.cut(self, reason: connection.failure ?? Self.noAnswer)
        }
    }

    func drained(_ connection: Connection) {}

    func deadlineReached(_ connection: Connection) {}

    func shuttingDown(_ connection: Connection) {}
}
