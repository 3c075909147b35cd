import HTTP
import HTTPTypes
import Testing
import Wire

@testable import Faults

@Suite("The faults of a request")
struct FaultPlanTests {
    /// Returns the plan of a request with these headers and this query.
    private func faults(_ headers: String..., query: String = "") throws(Problem) -> FaultPlan {
        var parser = RequestParser()
        let lines = headers.map { "Backscroll-Fault: \($0)\r\n" }.joined()
        parser.append("GET /v1/live?\(query) HTTP/1.1\r\nHost: h\r\n\(lines)\r\n".utf8.span)
        guard case .request(let request)? = try? parser.next() else { preconditionFailure("the test's request") }
        return try FaultPlan(request.head)
    }

    @Test func `are read from the header, from the query, or from both if they agree`() throws {
        #expect(try faults().faults == [])
        let expected = [Fault(name: .lateAnswer, value: 2000), Fault(name: .doublePush, value: 0)]
        #expect(try faults("late-answer=2000, double-push").faults == expected)
        #expect(try faults("late-answer=2000", "double-push").faults == expected)
        #expect(try faults(query: "fault=late-answer=2000,double-push").faults == expected)
        #expect(try faults(query: "fault=late-answer%3D2000,%20double-push").faults == expected)
        #expect(
            try faults("late-answer=2000,double-push", query: "fault=late-answer=2000,double-push").faults == expected)
        let error = #expect(throws: Problem.self) { try faults("delay", query: "fault=status") }
        #expect(error?.code == .invalidFault && error?.status == 400)
        #expect(throws: Problem.self) { try faults(query: "fault=delay&fault=delay") }
        // The server refuses what cannot be decoded.
        #expect(try faults(query: "fault=delay&x=%zz").faults == [])
    }

    @Test(arguments: [
        ("/x?fault=delay", "/x"), ("/x?a=1&fault=delay&b=fault", "/x?a=1&b=fault"),
        ("/x?default=1", "/x?default=1"), ("/x", "/x"),
    ])
    func `do not reach the server`(sent: String, passed: String) {
        #expect(FaultPlan.removed(from: sent) == passed)
    }

    @Test(arguments: Fault.Name.allCases)
    func `each have a default value`(name: Fault.Name) throws {
        let plan = try faults(name.rawValue)
        #expect(plan[name] == name.argument?.usual ?? 0)
        if let argument = name.argument { #expect(argument.allows(argument.usual)) }
    }

    @Test(arguments: Fault.Name.allCases)
    func `are accepted up to their bounds`(name: Fault.Name) throws {
        guard let argument = name.argument else {
            #expect(throws: Problem.self) { try faults("\(name.rawValue)=1") }
            return
        }
        for value in [argument.range.lowerBound, argument.range.upperBound] {
            #expect(try faults("\(name.rawValue)=\(value)")[name] == value)
        }
        for text in ["\(argument.range.lowerBound - 1)", "\(argument.range.upperBound + 1)", "", "x", "+5", "1=1"] {
            let error = #expect(throws: Problem.self) { try faults("\(name.rawValue)=\(text)") }
            #expect(error?.code == .invalidFault)
            #expect(error?.limit == (argument.choice == nil ? argument.range.upperBound : nil))
        }
    }

    @Test func `can be limited to the first requests, or to every Nth one`() throws {
        #expect(try faults("status=503:2").fault(.status)?.occasions == .first(2))
        #expect(try faults("status=503/5, delay").fault(.status)?.occasions == .every(5))
        #expect(try faults("status:2").fault(.status) == Fault(name: .status, value: 503, occasions: .first(2)))
        #expect(try faults("lost-answer:1").fault(.lostAnswer)?.occasions == .first(1))
        #expect(try faults("lost-answer/3").fault(.lostAnswer)?.occasions == .every(3))
        #expect((1...6).filter(Fault.Occasions.first(2).contains) == [1, 2])
        #expect((1...6).filter(Fault.Occasions.every(3).contains) == [3, 6])
        for text in [
            "status=503:", "status=503:0", "status=503/x", "status=503:1000001", "drop-frame=2:1", "delay=5:1:2",
        ] {
            let error = #expect(throws: Problem.self) { try faults(text) }
            #expect(error?.code == .invalidFault, "\(text)")
        }
    }

    @Test func `count requests separately for each method, path and fault`() throws {
        let counts = FaultCounts()
        let plan = try faults("status=503:2, late-answer=5/2")
        let due = (1...4).map { _ in plan.due(.get, "v1/rooms", counts).faults.map(\.name) }
        #expect(due == [[.status], [.status, .lateAnswer], [], [.lateAnswer]])
        #expect(plan.due(.post, "v1/rooms", counts).faults.map(\.name) == [.status])
        #expect(plan.due(.get, "v1/rooms/a", counts).faults.map(\.name) == [.status])
        let other = try faults("status=503:3")
        #expect(other.due(.get, "v1/rooms", counts).refusal?.status == 503)
        // Above the maximum all counters restart; the table does not grow.
        for number in 0..<FaultCounts.maximum { _ = other.due(.get, "v1/\(number)", counts) }
        #expect(plan.due(.get, "v1/rooms", counts).refusal?.status == 503)
    }

    @Test func `are listed when an unknown one is refused`() throws {
        for (text, name) in [("late-anser", "\"late-anser\""), ("DELAY", "\"DELAY\""), ("=5", "\"\"")] {
            let error = #expect(throws: Problem.self) { try faults(query: "fault=\(text)") }
            #expect(error?.code == .invalidFault)
            #expect(error?.field == "fault")
            for known in [name] + Fault.Name.allCases.map(\.rawValue) {
                #expect(error?.detail.contains(known) == true)
            }
        }
        #expect(#expect(throws: Problem.self) { try faults("x") }?.field == "Backscroll-Fault")
        // An empty list is a mistake that must not go unnoticed.
        #expect(throws: Problem.self) { try faults("") }
        #expect(throws: Problem.self) { try faults(query: "fault") }
        #expect(throws: Problem.self) { try faults("status=504") }
    }

    @Test func `may occur once, except faults of single frames`() throws {
        #expect(throws: Problem.self) { try faults("delay=1, delay=2") }
        let plan = try faults("drop-frame=2, drop-frame=5, double-frame, double-frame=3")
        #expect(plan.has(.dropFrame, 2) && plan.has(.dropFrame, 5) && !plan.has(.dropFrame, 3))
        #expect(plan.has(.doubleFrame, 1) && plan.has(.doubleFrame, 3))
    }

    @Test func `are bounded in number`() throws {
        let most = (1...FaultPlan.maximumFaults).map { "drop-frame=\($0)" }.joined(separator: ",")
        #expect(try faults(most).faults.count == FaultPlan.maximumFaults)
        let error = #expect(throws: Problem.self) { try faults(most + ",delay") }
        #expect(error?.limit == FaultPlan.maximumFaults)
    }

    @Test func `refuse a request with the requested status`() throws {
        #expect(try faults("delay").refusal == nil)
        for (status, code, wait) in [(429, "rate_limited", 1), (500, "internal_error", nil), (503, "unavailable", 1)] {
            let refusal = try #require(try faults("status=\(status)").refusal)
            #expect(refusal.status == status && refusal.code.string == code && refusal.retryAfter == wait)
        }
    }
}
