import TestSupport
import Testing

@testable import Store

@Suite("The journal's rows", .partOfSQLite(.journal))
struct JournalRowsTests {
    private func rows(_ count: Int, of bytes: Int = 100, bytes limit: Int = .max) -> JournalRows {
        var rows = JournalRows(Journal.Limits(rowBytes: limit))
        for _ in 0..<count { rows.append(rows.next, bytes: bytes) }
        return rows
    }

    @Test func `give nothing to delete or file if there are none`() {
        let rows = rows(0, bytes: 10)
        #expect(rows.count == 0 && rows.first == 1 && rows.next == 1 && rows.oldest == 1)
        #expect(rows.firstLeft(needed: nil, adding: 10) == 1)
        #expect(rows.firstLeft(needed: nil, adding: 0) == 1)
    }

    @Test func `are deleted two for each one added, a few more if there are many, and only obsolete ones`() {
        for (count, needed, left) in [
            (10, nil, 3), (10, 2, 2), (10, 1, 1), (1, nil, 2), (64, nil, 3), (96, nil, 4), (960, 65, 3), (960, nil, 31),
            (100_000, nil, 257),
        ] as [(Int, Int64?, Int64)] {
            #expect(rows(count).firstLeft(needed: needed, adding: 100) == left, "\(count), \(needed ?? 0)")
        }
    }

    @Test func `are deleted in larger numbers while none is added, within a bound`() {
        #expect(rows(200).firstLeft(needed: nil, adding: 0) == 201)
        #expect(rows(200).firstLeft(needed: 50, adding: 0) == 50)
        #expect(rows(1000).firstLeft(needed: nil, adding: 0) == Int64(CommitLimits.deletedRows) + 1)
        let large = CommitLimits.deletedBytes / 4
        #expect(rows(200, of: large).firstLeft(needed: nil, adding: 0) == 5)
        #expect(rows(200, of: large * 40).firstLeft(needed: nil, adding: 0) == Int64(CommitLimits.replacedRows) + 1)
    }

    @Test func `are deleted faster if they have too many bytes`() {
        let small = rows(1000, bytes: 99_999)
        #expect(small.firstLeft(needed: nil, adding: 100) == Int64(CommitLimits.deletedRows) + 1)
        let large = rows(1000, of: 1_000_000, bytes: 99_999_999)
        #expect(large.firstLeft(needed: nil, adding: 4_000_000) == 9)
    }

    @Test func `always have the last one within the bounds`() {
        #expect(rows(10, bytes: 1000).oldest == 1)
        #expect(rows(15, bytes: 1000).oldest == 6)
        #expect(rows(15, bytes: 99).oldest == 15)
        #expect(rows(15, bytes: 0).oldest == 15)
    }

    @Test func `may start at any number and have gaps`() {
        var rows = rows(0, bytes: 3)
        for number in [7, 8, 10, 20, 21] as [Int64] { rows.append(number, bytes: 1) }
        #expect(rows.count == 5 && rows.first == 7 && rows.next == 22 && rows.oldest == 10)
        #expect(rows.firstLeft(needed: 9, adding: 0) == 10)
        rows.removeAll(before: 10)
        #expect(rows.count == 3 && rows.first == 10 && rows.oldest == 10)
    }

    @Test(arguments: [1, 2, 3])
    func `are those added and not deleted, in any history`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var rows = rows(0, bytes: 5000)
        var model: [(number: Int64, bytes: Int)] = []
        for _ in 0..<3000 {
            let needed: Int64? =
                Int.random(in: 0..<9, using: &generator) == 0
                ? nil : .random(in: max(rows.oldest, rows.first)...rows.next, using: &generator)
            let added = Bool.random(using: &generator) ? Int.random(in: 1...900, using: &generator) : 0
            let left = rows.firstLeft(needed: needed, adding: added)
            #expect(left >= rows.first && left <= needed ?? rows.next)
            #expect(model.count { $0.number < left } <= CommitLimits.deletedRows)
            rows.removeAll(before: left)
            model.removeAll { $0.number < left }
            if added > 0 {
                model.append((rows.next, added))
                rows.append(rows.next, bytes: added)
            }
            #expect(rows.count == model.count && rows.first == model.first?.number ?? rows.next)
            let within = model.indices.first { index in
                model[index...].reduce(0) { $0 + $1.bytes } <= 5000
            }
            #expect(rows.oldest == within.map { model[$0].number } ?? rows.next)
        }
    }
}
