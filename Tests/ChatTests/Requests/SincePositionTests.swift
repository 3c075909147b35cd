import Chat
import Testing
import Wire

@Suite struct SincePositionTests {
    @Test(
        arguments: [
            ("0", nil, nil, 0), ("57", nil, nil, 57), ("E1:57", nil, "E1", 57), ("57", "E1", "E1", 57),
            ("E1:57", "E1", "E1", 57), ("9223372036854775808", nil, nil, Int64.max), ("5:6", nil, "5", 6),
        ] as [(String, String?, String?, Int64)])
    func `a position is a revision, with or without an epoch`(
        since: String, beside: String?, epoch: String?, rev: Int64
    ) throws {
        #expect(try SincePosition(parsing: since, epoch: beside) == SincePosition(epoch: epoch, rev: rev))
    }

    @Test func `an epoch has 1 to 64 letters and digits`() throws {
        let longest = String(repeating: "e", count: 64)
        #expect(try SincePosition(parsing: longest + ":1").epoch == longest)
        #expect(problem { () throws(Problem) in try SincePosition(parsing: longest + "e:1") } != nil)
        #expect(problem { () throws(Problem) in try SincePosition(parsing: "1", epoch: longest + "e") } != nil)
    }

    @Test func `of another history lies beyond every revision, unless it names none`() {
        for (epoch, rev) in [(nil, 5), ("E1", 5), ("E2", .max), ("e1", .max)] as [(String?, Int64)] {
            #expect(SincePosition.isOfHistory(epoch, current: "E1") == (rev == 5))
            #expect(SincePosition(epoch: epoch, rev: 5).rev(inHistory: "E1") == rev)
        }
    }

    @Test(
        arguments: [
            ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil), ("x", nil), (":", nil), (":1", nil), ("E1:", nil),
            ("E1:x", nil), ("E1:-1", nil), ("E 1:1", nil), ("É:1", nil), ("a:b:1", nil), ("1:2:3", nil), ("1", ""),
            ("1", "E-1"), ("E1:1", "E2"), ("E1:1", "e1"),
        ] as [(String, String?)])
    func `other text is refused, and so are two epochs that differ`(since: String, epoch: String?) {
        let fault = problem { () throws(Problem) in try SincePosition(parsing: since, epoch: epoch) }
        #expect(fault?.status == 400)
        #expect(fault?.code == .invalidCursor)
    }
}
