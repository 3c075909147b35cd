import Testing

@testable import Transport

@Suite("The absence of a loop")
struct AbsenceTests {
    /// Returns the answers of an absence that notes each of these times, and is asked at it.
    private func answers(noting times: [Duration], from start: Duration = .zero) -> [Bool] {
        var absence = Absence()
        absence.note(at: start)
        return times.map { time in
            // Sockets are served before the timer notes that the loop runs.
            defer { absence.note(at: time) }
            return absence.isRecent(at: time)
        }
    }

    @Test func `is not noticed while the loop runs`() {
        #expect(answers(noting: (1..<20).map { Absence.interval * $0 }) == Array(repeating: false, count: 19))
    }

    @Test func `is recent as soon as the loop runs again, and forgotten after a while`() {
        let back = Duration.seconds(60)
        let times = (0...20).map { back + Absence.interval * $0 }
        #expect(answers(noting: times) == times.map { $0 < back + Absence.aftermath })
    }

    @Test func `is none before the loop has begun`() {
        var absence = Absence()
        let before = absence.isRecent(at: .seconds(1_000_000))
        #expect(!before)
        #expect(answers(noting: [.seconds(1_000_000)], from: .seconds(1_000_000)) == [false])
    }
}
