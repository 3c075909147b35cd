import HTTP
import HTTPTypes
import Testing
import Wire

@Suite("A page")
struct PageTests {
    private let messages = "/v1/rooms/lobby/messages"

    private func withMessages(_ count: Int, _ body: (HTTPClient) throws -> Void) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for index in 0..<count { try client.send("\(index + 1)") }
            try body(client)
        }
    }

    @Test func `has its fields in order, and the messages as their sends returned them`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let sent = try (1...3).map { try client.post(HTTPClient.draft("\($0)")).text }
            let response = try client.get(messages)
            #expect(response.status == .ok)
            #expect(response["Content-Type"] == "application/json")
            let page: ReceivedPage = try decode(response.body)
            #expect(
                response.text == #"{"messages":[\#(sent.joined(separator: ","))],"has_before":false,"has_after":false,"#
                    + #""head":3,"rev":3,"epoch":"\#(page.epoch)"}"#)
            #expect(!page.epoch.isEmpty)
            #expect(try client.read("/v1/rooms/other", as: ReceivedRoom.self).epoch == page.epoch)
        }
    }

    @Test func `has 30 messages, or a given limit of 1 to 200, and flags what lies beyond`() throws {
        try withMessages(35) { client in
            let page = try client.read(messages, as: ReceivedPage.self)
            #expect(page.seqs == Array(6...35))
            #expect(page.hasBefore && !page.hasAfter)
            #expect(try client.read("\(messages)?limit=1", as: ReceivedPage.self).seqs == [35])
            // A full page may still be the last one.
            let whole = try client.read("\(messages)?limit=35", as: ReceivedPage.self)
            #expect(!whole.hasBefore && !whole.hasAfter)
            #expect(try client.read("\(messages)?limit=200", as: ReceivedPage.self).seqs.count == 35)
            for limit in ["0", "201", "-1", "x", "", "1.0", "99999999999999999999", "+1"] {
                let response = try client.get("\(messages)?limit=\(limit)")
                #expect(response.status == .badRequest)
                let problem = try response.problem
                #expect(problem.code == "invalid_limit")
                #expect(problem.field == "limit")
                #expect(problem.limit == Limits.pageMessages)
            }
        }
    }

    @Test func `of an unused room is empty, at any place`() throws {
        try withMessages(0) { client in
            for query in ["", "?before=5", "?after=first", "?around=last", "?around=2026-01-01T00:00:00Z&limit=1"] {
                let response = try client.get(messages + query)
                let page: ReceivedPage = try decode(response.body)
                #expect(page.messages.isEmpty && !page.hasBefore && !page.hasAfter)
                #expect(page.head == 0 && page.rev == 0)
                #expect(response["Link"] == nil)
            }
        }
    }

    @Test func `around a message has half of its messages before it, and is filled up from the other side at an end`()
        throws
    {
        try withMessages(9) { client in
            let expected: [(String, [Int64])] = [
                ("around=5&limit=5", [3, 4, 5, 6, 7]), ("around=5&limit=4", [3, 4, 5, 6]), ("around=5&limit=1", [5]),
                ("around=1&limit=4", [1, 2, 3, 4]), ("around=9&limit=4", [6, 7, 8, 9]),
                ("around=100&limit=4", [6, 7, 8, 9]), ("around=0&limit=4", [1, 2, 3, 4]),
            ]
            for (query, seqs) in expected {
                let page = try client.read("\(messages)?\(query)", as: ReceivedPage.self)
                #expect(page.seqs == seqs)
            }
        }
    }

    @Test func `beyond an end flags what lies on the other side`() throws {
        try withMessages(5) { client in
            func page(_ query: String) throws -> ReceivedPage { try client.read("\(messages)?\(query)") }
            #expect(try page("before=100").seqs == [1, 2, 3, 4, 5])
            #expect(try page("after=0").seqs == [1, 2, 3, 4, 5])
            for query in ["before=1", "before=0", "before=first", "before=2000-01-01T00:00:00Z"] {
                let page = try page(query)
                #expect(page.messages.isEmpty && !page.hasBefore && page.hasAfter && page.head == 5)
            }
            for query in ["after=5", "after=99", "after=last", "after=2999-01-01T00:00:00Z"] {
                let page = try page(query)
                #expect(page.messages.isEmpty && page.hasBefore && !page.hasAfter && page.head == 5)
            }
        }
    }

    @Test func `accepts a time in every form of RFC 3339`() throws {
        try withMessages(2) { client in
            for time in [
                "2000-01-01T00:00:00Z", "2000-01-01t00:00:00z", "2000-01-01T00:00:00.123456Z",
                "2000-01-01T05:30:00%2B05:30", "2000-01-01T05:30:00+05:30", "1999-12-31T23:00:00-01:00",
            ] {
                let page = try client.read("\(messages)?after=\(time)", as: ReceivedPage.self)
                #expect(page.seqs == [1, 2])
            }
        }
    }

    @Test(arguments: ["x", "", "-1", "1.5", "2026-13-01T00:00:00Z", "2026-01-01", "First", "0x10", "1 "])
    func `at an invalid place is refused, with the parameter's name`(place: String) throws {
        try withMessages(0) { client in
            for parameter in ["before", "after", "around"] {
                let response = try client.get("\(messages)?\(parameter)=\(place.replacing(" ", with: "%20"))")
                #expect(response.status == .badRequest)
                #expect(try response.problem.code == "invalid_cursor")
                #expect(try response.problem.field == parameter)
            }
        }
    }

    @Test(arguments: [
        ("before=1&after=1", "invalid_cursor"), ("after=1&around=1", "invalid_cursor"),
        ("before=1&around=1", "invalid_cursor"), ("before=1&before=1", "bad_request"),
        ("limit=1&limit=1", "bad_request"),
    ])
    func `takes only one place`(query: String, code: String) throws {
        try withMessages(0) { client in
            let response = try client.get("\(messages)?\(query)")
            #expect(response.status == .badRequest)
            let problem = try response.problem
            #expect(problem.code == code)
            #expect(problem.field != nil)
        }
    }
}
