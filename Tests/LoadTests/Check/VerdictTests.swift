import Testing

@testable import Load

@Suite struct VerdictTests {
    /// Returns records of loops that sent these messages to room 0, and whose subscribers received these numbers.
    static func records(sent: [[Fate]], got: [[[Int]]]) -> [LoopRecord] {
        zip(sent, got).enumerated().map { loop, work in
            var log = SendLog(loop: loop, loops: sent.count, rooms: 1)
            for fate in work.0 { log.note(fate, room: 0, number: log.nextNumber(in: 0)) }
            var ledger = Ledger(run: 1, rooms: 1)
            for (index, numbers) in work.1.enumerated() {
                _ = ledger.addSubscriber(id: index * sent.count + loop, room: 0)
                for number in numbers {
                    _ = ledger.enter(Mark(run: 1, room: 0, number: number, time: 0), subscriber: index)
                }
            }
            return LoopRecord(sent: log, ledger: ledger)
        }
    }

    static func verdict(_ fates: [Fate], _ got: [Int]...) -> Verdict {
        Verdict(records(sent: [fates], got: [got]))
    }

    static let three: [Fate] = [.acknowledged, .acknowledged, .acknowledged]

    @Test func `a run that delivers every message once and in one order passes`() {
        let verdict = Self.verdict(Self.three, [0, 2, 1], [0, 2, 1])
        #expect(verdict.isGood)
        #expect(verdict.expected == 6)
        #expect(
            verdict.lines == [
                "OK: each of 2 subscribers got every message of its room exactly once, all in the same order",
                "3 messages, 6 deliveries",
            ])
    }

    @Test func `if any order is allowed, reordering is counted but is not a fault`() {
        let records = Self.records(
            sent: [Self.three, [.acknowledged]], got: [[[0, 2, 1, 4], [0, 2, 4, 1]], [[4, 0, 1, 2]]])
        #expect(!Verdict(records).isGood)
        let verdict = Verdict(records, allowsAnyOrder: true)
        #expect(verdict.disordered > 0 && verdict.isGood && verdict.faults.isEmpty)
        #expect(verdict.lines.first?.hasSuffix("\(verdict.disordered) deliveries in another order than others") == true)
        let less = Verdict(Self.records(sent: [Self.three], got: [[[0, 1, 2], [2, 1]]]), allowsAnyOrder: true)
        #expect(!less.isGood && less.lines.count == 2)
        #expect(less.lines.first == "FAILED: 1 of 6 deliveries are missing")
    }

    @Test func `a message that only some subscribers have is missing`() {
        let verdict = Self.verdict(Self.three, [0, 1, 2], [0, 2], [0, 1])
        #expect(verdict.missing == 2)
        #expect(
            verdict.faults == [
                "subscriber 1 of room 0 misses 1 of 3 messages: 1", "subscriber 2 of room 0 misses 1 of 3 messages: 2",
            ])
        #expect(verdict.lines.first == "FAILED: 2 of 9 deliveries are missing")
    }

    @Test func `an acknowledged message that nobody got is missing`() {
        let verdict = Self.verdict(Self.three, [0], [0])
        #expect(verdict.missing == 4)
        #expect(verdict.faults.first == "subscriber 0 of room 0 misses 2 of 3 messages: 1-2")
    }

    @Test func `a send without an answer may be delivered or not, but the same to all`() {
        #expect(Self.verdict([.acknowledged, .unknown], [0], [0]).missing == 0)
        #expect(Self.verdict([.acknowledged, .unknown], [0, 1], [0, 1]).missing == 0)
        #expect(Self.verdict([.acknowledged, .unknown], [0, 1], [0]).missing == 1)
        let verdict = Self.verdict([.acknowledged, .pending], [0])
        #expect(verdict.unanswered == 1 && !verdict.isGood)
    }

    @Test func `a message that was refused or never sent must not be delivered`() {
        let refused = Self.verdict([.acknowledged, .refused], [0, 1])
        #expect(refused.foreign == 1 && refused.refused == 1)
        #expect(refused.faults == ["room 0 delivered what it had refused: 1"])
        let unsent = Self.verdict([.acknowledged], [0, 1, 5])
        #expect(unsent.foreign == 2)
        #expect(unsent.faults == ["room 0 delivered what was never sent: 1, 5"])
    }

    @Test func `duplicates and reordering are distinguished`() {
        let doubled = Self.verdict(Self.three, [0, 1, 2], [0, 1, 1, 2])
        #expect(doubled.duplicates == 1 && doubled.disordered == 0 && doubled.missing == 0)
        let swapped = Self.verdict(Self.three, [0, 1, 2], [0, 2, 1])
        #expect(swapped.duplicates == 0 && swapped.disordered == 1 && swapped.missing == 0)
        #expect(!doubled.isGood && !swapped.isGood)
    }

    @Test func `a lost subscriber is reported as a lost connection only`() {
        var records = Self.records(sent: [Self.three], got: [[[0, 1, 2], [0]]])
        records[0].lost[1] = "the server closed the socket: 1001"
        let verdict = Verdict(records)
        #expect(verdict.lost == 1 && verdict.subscribers == 1 && verdict.missing == 0 && verdict.expected == 3)
        #expect(
            verdict.faults == [
                "subscriber 1 of room 0 lost its connection after 1 message: the server closed the socket: 1001"
            ])
        #expect(!verdict.isGood)
    }

    @Test func `loops are compared with each other`() {
        let same = Self.records(sent: [Self.three, [.acknowledged]], got: [[[0, 1, 2, 4]], [[0, 1, 2, 4]]])
        #expect(Verdict(same).isGood)
        let other = Self.records(sent: [Self.three, [.acknowledged]], got: [[[0, 1, 2, 4]], [[0, 2, 1, 4]]])
        #expect(Verdict(other).disordered == 1)
        let less = Verdict(Self.records(sent: [Self.three, [.acknowledged]], got: [[[0, 1, 2, 4]], [[0, 1, 2]]]))
        #expect(less.missing == 1)
        #expect(less.faults == ["subscriber 1 of room 0 misses 1 of 4 messages: 4"])
    }

    @Test func `only the first faults are described`() {
        let got = Array(repeating: [0], count: 25) + [[0, 1, 2]]
        let verdict = Verdict(Self.records(sent: [Self.three], got: [got]))
        #expect(verdict.missing == 50)
        #expect(verdict.faults.count == Verdict.listedFaults)
        #expect(verdict.unlisted == 15)
        #expect(verdict.lines.last == "- and 15 more")
    }

    @Test func `a run without acknowledged messages fails`() {
        let verdict = Self.verdict([], [])
        #expect(!verdict.isGood)
        #expect(verdict.lines == ["FAILED: nothing was acknowledged"])
    }

    @Test func `sends without subscribers pass if all are acknowledged`() {
        #expect(Verdict(Self.records(sent: [Self.three], got: [[]])).lines == ["OK: each of 3 sends was acknowledged"])
        #expect(!Verdict(Self.records(sent: [[.acknowledged, .refused]], got: [[]])).isGood)
    }
}
