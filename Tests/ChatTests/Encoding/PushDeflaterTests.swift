import TestSupport
import Testing
import WebSocket
import Wire

@testable import Chat

@Suite("Messages for compressed sockets")
struct PushDeflaterTests {
    private let deflater = PushDeflater()

    private func deflated(_ snapshot: [UInt8]) -> [UInt8] {
        var frames: [UInt8] = []
        deflater.appendFrame(snapshot.span, to: &frames)
        return frames
    }

    private func plain(_ snapshot: [UInt8]) -> [UInt8] {
        var frames: [UInt8] = []
        PushEncoding.appendFrame(snapshot.span, to: &frames)
        return frames
    }

    /// Returns the messages that a client reads.
    private func read(_ frames: [UInt8]) throws -> [String] {
        var reader = MessageReader(role: .client, maxMessageBytes: 1 << 20, allowsCompression: true)
        reader.append(frames.span)
        var messages: [String] = []
        while case .text(let json) = try reader.next() { messages.append(String(decoding: json, as: UTF8.self)) }
        return messages
    }

    private func snapshot(_ text: String) -> [UInt8] {
        let json =
            #"{"room":"lobby","seq":7,"rev":7,"sender":"alice","text":"\#(text)","created_at":"2026-11-21T02:13:41.973Z"}"#
        return Array(json.utf8)
    }

    @Test func `carry the same messages in fewer bytes, one in each frame`() throws {
        let snapshots = ["hi", "Guten Morgen, schön dich zu sehen ❤️", String(repeating: "again ", count: 1000)].map(
            snapshot)
        for snapshot in snapshots {
            #expect(deflated(snapshot)[0] == 0xC1, "final, compressed, text")
            #expect(deflated(snapshot).count < plain(snapshot).count)
        }
        #expect(try read(snapshots.flatMap(deflated)) == read(snapshots.flatMap(plain)))
    }

    @Test func `stay uncompressed where compression would save little`() {
        let shortest = PushDeflater.minimumBytes - ServerFrame.messageOverhead
        #expect(
            deflated([UInt8](repeating: 0x61, count: shortest - 1))
                == plain([UInt8](repeating: 0x61, count: shortest - 1)))
        #expect(deflated([UInt8](repeating: 0x61, count: shortest)).count < shortest)
        var generator = SeededGenerator(seed: 1)
        let noise = (0..<200).map { _ in UInt8.random(in: 0...255, using: &generator) }
        #expect(deflated(noise) == plain(noise))
    }

    @Test func `are compressed once for all loops, with the end of each frame known`() throws {
        let snapshots = (1...5).map { snapshot("message \($0)") }
        let batch = EncodedBatch(Batch(room: try RoomID("lobby"), firstRev: 1, head: 5, messages: snapshots))
        let first = batch.deflated(by: deflater)
        let second = batch.deflated(by: PushDeflater())
        let places = [first.bytes, second.bytes].map { $0.withUnsafeBufferPointer { $0.baseAddress } }
        #expect(places[0] == places[1], "the same bytes, not just equal ones")
        #expect(first.bytes == snapshots.flatMap(deflated))
        var start = 0
        for (end, snapshot) in zip(first.ends, snapshots) {
            #expect(Array(first.bytes[start..<end]) == deflated(snapshot))
            start = end
        }
        #expect(start == first.bytes.count)
    }
}
