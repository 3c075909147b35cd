import Testing
import Wire

@testable import Store

@Suite("The hash of a client message id")
struct ClientMessageKeyTests {
    private func hash(_ sender: String, _ id: String) throws -> UInt64 {
        ClientMessageKey(sender: try UserID(sender), id: id).hash
    }

    @Test(arguments: 1...40)
    func `is computed from its bytes, wherever they are`(length: Int) throws {
        let id = String(repeating: "é", count: length / 2) + String(repeating: "x", count: length % 2)
        let padded = "[" + id + "]"
        let slice = String(padded.dropFirst().dropLast())
        var grown = ""
        for character in id { grown.append(character) }
        let first = try hash("alice", id)
        #expect(try hash("alice", slice) == first && hash("alice", grown) == first)
        let (sender, bytes) = (Array("alice".utf8), Array(id.utf8))
        #expect(ClientMessageKey.hash(sender: sender.span, id: bytes.span) == first)
        // All have the same length, so that the bytes decide.
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1
            #expect(ClientMessageKey.hash(sender: sender.span, id: other.span) != first, "\(index)")
        }
    }

    @Test func `distinguishes sender and id, canonically equivalent strings, and one more byte`() throws {
        #expect(try hash("ab", "c") != hash("a", "bc"))
        #expect(try hash("alice", "\u{E9}") != hash("alice", "e\u{301}"))
        #expect(try hash("\u{E9}", "x") != hash("e\u{301}", "x"))
        var zeros: Set<UInt64> = []
        for count in 0...32 {
            let (sender, id) = ([UInt8(97)], [UInt8](repeating: 0, count: count))
            zeros.insert(ClientMessageKey.hash(sender: sender.span, id: id.span))
        }
        #expect(zeros.count == 33)
    }

    @Test func `differs between rooms`() throws {
        let key = ClientMessageKey(sender: try UserID("alice"), id: "1")
        #expect(Set((1...1000).map { key.hash(in: $0) }).count == 1000)
        #expect(ClientMessageKey.hash(key.hash, in: 7) == key.hash(in: 7))
    }
}
