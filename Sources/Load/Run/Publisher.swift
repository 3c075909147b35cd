import HTTP
import HTTPTypes
import Transport

/// One publisher: an HTTP connection with at most one request outstanding, made anew when the server has ended it.
final class Publisher: ConnectionHandler {
    /// A request from when it is due until its slot is free again.
    struct Outgoing {
        let room: Int
        let number: Int
        /// When it was due, or, in a closed loop, begun.
        let time: Int64
        /// When it was last sent.
        var sentAt: Int64 = 0
        var isAnswered = false
        /// How many loops have subscribers that the message has not reached.
        var loopsWaiting: Int
    }

    /// The publisher's number in the run.
    let id: Int
    /// How often in a row it had no luck.
    var failures = 0
    /// The request that occupies the slot.
    var outgoing: Outgoing?
    private(set) var connection: Connection?

    private unowned let publishers: Publishers
    private var parser = ResponseParser(limits: Publisher.limits, keeping: [])

    private static let noAnswer = "there was no connection, or it ended before the answer"

    /// A page of 200 messages of 16 KiB each fits.
    private static let limits: HTTPLimits = {
        var limits = HTTPLimits()
        limits.bodyBytes = 16 << 20
        return limits
    }()

    init(id: Int, publishers: Publishers) {
        self.id = id
        self.publishers = publishers
    }

    /// Writes a request, on a new connection if there is none.
    func transmit(_ request: [UInt8], by loop: Loop, to destination: Destination) {
        do throws(TransportError) {
            if connection == nil {
                parser = ResponseParser(limits: Self.limits, keeping: [])
                connection = try loop.connect(to: destination.address, tls: destination.tls) { _ in self }
            }
            guard let connection else { return publishers.cut(self, reason: Self.noAnswer, wasSent: false) }
            connection.write(request)
        } catch {
            publishers.cut(self, reason: error.description, wasSent: false)
        }
    }

    /// Ends the connection; the next request is sent on a new one.
    func disconnect() {
        connection?.abort()
        connection = nil
    }

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        guard connection === self.connection else { return }
        parser.append(bytes)
        do throws(ResponseRefusal) {
            while case .response(let response) = try parser.next() {
                if !response.keepAlive { disconnect() }
                publishers.answered(self, response)
                guard connection === self.connection else { return }
            }
        } catch {
            disconnect()
            publishers.cut(self, reason: "the answer cannot be understood: \(error)")
        }
    }

    func closed(_ connection: Connection) {
        guard connection === self.connection else { return }
        self.connection = nil
        // A response may last until the connection ends.
        if let response = try? parser.finish() {
            publishers.answered(self, response)
        } else {
            publishers.cut(self, reason: connection.failure ?? Self.noAnswer)
        }
    }

    func drained(_ connection: Connection) {}

    func deadlineReached(_ connection: Connection) {}

    func shuttingDown(_ connection: Connection) {}
}
