import Chat
import Testing
import Wire

@Suite struct RequestTests {
    private func page(
        before: String? = nil, after: String? = nil, around: String? = nil, limit: String? = nil
    ) throws(Problem) -> PageRequest {
        try PageRequest.parse(before: before, after: after, around: around, limit: limit)
    }

    @Test func `a page is the newest one unless a place is given`() throws {
        #expect(try page() == PageRequest(anchor: .newest, limit: 30))
        #expect(try page(before: "5") == PageRequest(anchor: .before(.seq(5)), limit: 30))
        #expect(try page(after: "first", limit: "1") == PageRequest(anchor: .after(.first), limit: 1))
        #expect(try page(after: "unread") == PageRequest(anchor: .after(.unread), limit: 30))
        #expect(try page(around: "read", limit: "200") == PageRequest(anchor: .around(.read), limit: 200))
    }

    @Test func `an invalid place is refused with its parameter`() {
        #expect(problem { () throws(Problem) in try page(before: "x") }?.field == "before")
        #expect(problem { () throws(Problem) in try page(after: "-1") }?.field == "after")
        #expect(problem { () throws(Problem) in try page(around: "") }?.field == "around")
    }

    @Test func `two places are refused`() {
        for fault in [
            problem({ () throws(Problem) in try page(before: "1", after: "2") }),
            problem({ () throws(Problem) in try page(before: "1", around: "2") }),
            problem({ () throws(Problem) in try page(after: "1", around: "2") }),
            problem({ () throws(Problem) in try page(before: "1", after: "1", around: "1") }),
        ] {
            #expect(fault?.status == 400)
            #expect(fault?.code == .invalidCursor)
        }
    }

    @Test(arguments: ["0", "201", "-1", "", "ten", "1.5", "+5", " 5", "99999999999999999999"])
    func `a limit outside of 1 to 200 is refused`(limit: String) {
        #expect(problem { () throws(Problem) in try page(limit: limit) } == .invalidLimit(maximum: 200))
    }

    @Test func `changes begin at the given position, or at the start`() throws {
        #expect(try ChangesRequest.parse(since: nil, epoch: nil, limit: nil) == ChangesRequest())
        #expect(ChangesRequest().since.rev == 0)
        #expect(ChangesRequest().limit == 200)
        let request = try ChangesRequest.parse(since: "57", epoch: "E1", limit: "1000")
        #expect(request == ChangesRequest(since: SincePosition(epoch: "E1", rev: 57), limit: 1000))
        #expect(try ChangesRequest.parse(since: nil, epoch: "E1", limit: "1").since.epoch == "E1")
    }

    @Test(arguments: ["0", "1001", "x"])
    func `a limit of changes outside of 1 to 1000 is refused`(limit: String) {
        let fault = problem { () throws(Problem) in try ChangesRequest.parse(since: nil, epoch: nil, limit: limit) }
        #expect(fault == .invalidLimit(maximum: 1000))
    }
}
