import Chat
import HTTP
import HTTPTypes
import WebSocket
import Wire

/// Benchmarks of the codecs, which process every byte.
enum CodecBenchmarks {
    static func all() throws -> [Benchmark] {
        try http() + json() + webSocket()
    }

    private static func http() throws -> [Benchmark] {
        let answer = try Samples.snapshot(1)
        let bytes = Samples.request
        return [
            Benchmark("http parse a send", per: "request") { calls in
                var parser = RequestParser()
                for _ in 0..<calls {
                    parser.append(bytes.span)
                    guard case .request(let request) = try parser.next() else { throw BenchError.wrongResult }
                    keep(request)
                }
            },
            Benchmark("http write its answer", per: "answer") { calls in
                var writer = ResponseWriter()
                var output: [UInt8] = []
                for _ in 0..<calls {
                    output.removeAll(keepingCapacity: true)
                    writer.write(
                        .created, contentType: "application/json",
                        fields: [HTTPField(name: .location, value: "/v1/rooms/lobby/messages/1")], body: answer.span,
                        to: ReplyContext(), at: 1_790_000_000, into: &output)
                    keep(output)
                }
            },
        ]
    }

    private static func json() throws -> [Benchmark] {
        let body = Samples.draft(0)
        let draft = try Draft.decode(body)
        return [
            Benchmark("json decode a send", per: "message") { calls in
                for _ in 0..<calls { keep(try Draft.decode(body)) }
            },
            Benchmark("json encode a message", per: "message") { calls in
                var output: [UInt8] = []
                for number in 0..<calls {
                    output.removeAll(keepingCapacity: true)
                    Message.encode(
                        room: Samples.room, seq: Int64(number), rev: Int64(number), sender: Samples.sender,
                        draft: draft, createdAt: Timestamp(milliseconds: 1_790_000_000_000), into: &output)
                    keep(output)
                }
            },
        ]
    }

    private static func webSocket() throws -> [Benchmark] {
        let message = try Samples.snapshot(1)
        var masked: [UInt8] = []
        Frame.append(.text, payload: message.span, maskingKey: MaskingKey(1, 2, 3, 4), into: &masked)
        let frame = masked
        return [
            Benchmark("websocket read a masked text", per: "message") { calls in
                var reader = MessageReader(role: .server, maxMessageBytes: 65_536)
                for _ in 0..<calls {
                    reader.append(frame.span)
                    guard case .text(let text) = try reader.next() else { throw BenchError.wrongResult }
                    keep(text)
                }
            },
            Benchmark("websocket frame a push", per: "message") { calls in
                var output: [UInt8] = []
                for _ in 0..<calls {
                    output.removeAll(keepingCapacity: true)
                    PushEncoding.appendFrame(message.span, to: &output)
                    keep(output)
                }
            },
            Benchmark("websocket compress a push", per: "message") { calls in
                let deflater = PushDeflater()
                var output: [UInt8] = []
                for _ in 0..<calls {
                    output.removeAll(keepingCapacity: true)
                    deflater.appendFrame(message.span, to: &output)
                    keep(output)
                }
            },
        ]
    }
}
