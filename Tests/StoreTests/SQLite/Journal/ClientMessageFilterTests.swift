import TestSupport
import Testing

@testable import Store

@Suite("The filter of client message ids", .partOfSQLite(.journal))
struct ClientMessageFilterTests {
    @Test(arguments: [8, 64, 4096, 100_000, 1_000_000])
    func `may contain everything that was added, and hardly anything else`(bytes: Int) {
        let filter = ClientMessageFilter(bytes: bytes)
        var random = SeededGenerator(seed: UInt64(bytes))
        var added: [UInt64] = []
        for _ in 0..<filter.capacity {
            let hash = random.next()
            filter.insert(hash)
            added.append(hash)
            #expect(filter.mayContain(hash))
        }
        #expect(filter.number == 1 && added.allSatisfy { filter.mayContain($0) })
        let wrong = (0..<10_000).count { _ in filter.mayContain(random.next()) }
        #expect(bytes < 4096 || wrong < 330, "\(wrong)")
    }

    @Test(arguments: [
        (0, 4), (8, 4), (15, 4), (16, 8), (1000, 256), (64 * 1024, 32 * 1024), (191 * 1024, 32 * 1024),
        (192 * 1024, 96 * 1024), (8 * 1024 * 1024, 127 * 32 * 1024),
    ])
    func `holds a key in two bytes, if each filter is twice as large as the one before`(bytes: Int, keys: Int) {
        #expect(ClientMessageFilter(bytes: bytes).capacity == keys)
    }

    @Test func `takes no more bytes than its keys need`() {
        let filter = ClientMessageFilter(bytes: Journal.Limits().filterBytes)
        var random = SeededGenerator(seed: 1)
        #expect(filter.byteCount == ClientMessageFilter.firstBytes)
        for _ in 0..<32 * 1024 { filter.insert(random.next()) }
        #expect(filter.byteCount == ClientMessageFilter.firstBytes)
        filter.insert(random.next())
        #expect(filter.byteCount == ClientMessageFilter.firstBytes * 3)
        for _ in 0..<filter.capacity { filter.insert(random.next()) }
        #expect(filter.number == 2)
        #expect(filter.byteCount < Journal.Limits().filterBytes)
    }

    @Test func `above its maximum starts anew under another number, with the new key`() {
        let filter = ClientMessageFilter(bytes: 1024)
        var random = SeededGenerator(seed: 1)
        let first = (0..<filter.capacity).map { _ in random.next() }
        for hash in first { filter.insert(hash) }
        let more = random.next()
        filter.insert(more)
        #expect(filter.number == 2)
        #expect(filter.mayContain(more))
        #expect(first.count { filter.mayContain($0) } < 20)
    }
}
