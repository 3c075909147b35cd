import HTTP
import HTTPTypes
import Testing
import Wire

@Suite("Changes")
struct ChangesTests {
    private let changes = "/v1/rooms/lobby/changes"

    private func withMessages(_ count: Int, _ body: (HTTPClient) throws -> Void) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let sends = (0..<count).flatMap { HTTPClient.bytes(sending: HTTPClient.draft("\($0)")) }
            try client.write(sends)
            for _ in 0..<count { _ = try client.response() }
            try body(client)
        }
    }

    @Test func `are the messages changed after a revision, in ascending order, with the next position`() throws {
        try withMessages(25) { client in
            var since: Int64 = 0
            var revs: [Int64] = []
            var hasMore = true
            while hasMore {
                let answer = try client.read("\(changes)?since=\(since)&limit=10", as: ReceivedChanges.self)
                #expect(answer.rev == answer.messages.last?.rev)
                revs += answer.messages.map(\.rev)
                since = answer.rev
                hasMore = answer.hasMore
            }
            #expect(revs == Array(1...25))
            let rest = try client.read("\(changes)?since=25", as: ReceivedChanges.self)
            #expect(rest.messages.isEmpty && rest.rev == 25 && !rest.hasMore)
        }
    }

    @Test func `are 200 at a time, or 1 to 1000`() throws {
        try withMessages(201) { client in
            let answer = try client.read(changes, as: ReceivedChanges.self)
            #expect(answer.messages.count == 200 && answer.hasMore && answer.rev == 200)
            let all = try client.read("\(changes)?limit=1000", as: ReceivedChanges.self)
            #expect(all.messages.count == 201 && !all.hasMore && all.rev == 201)
            #expect(try client.read("\(changes)?limit=201", as: ReceivedChanges.self).hasMore == false)
            for limit in ["0", "1001", "x"] {
                let response = try client.get("\(changes)?limit=\(limit)")
                #expect(response.status == .badRequest)
                #expect(try response.problem.code == "invalid_limit")
                #expect(try response.problem.limit == Limits.changedMessages)
            }
        }
    }

    @Test func `of an unused room are empty`() throws {
        try withMessages(0) { client in
            let response = try client.get("/v1/rooms/unused/changes")
            let answer: ReceivedChanges = try decode(response.body)
            #expect(response.text == #"{"messages":[],"rev":0,"has_more":false,"epoch":"\#(answer.epoch)"}"#)
        }
    }

    @Test func `take a revision with its epoch, as a prefix or as a parameter`() throws {
        try withMessages(3) { client in
            let epoch = try client.read(changes, as: ReceivedChanges.self).epoch
            for query in ["since=\(epoch):2", "since=2&epoch=\(epoch)", "since=\(epoch):2&epoch=\(epoch)", "since=2"] {
                #expect(try client.read("\(changes)?\(query)", as: ReceivedChanges.self).messages.map(\.rev) == [3])
            }
        }
    }

    @Test(arguments: [
        "since=4", "since=9223372036854775807", "since=other:1", "since=1&epoch=other",
        "since=99999999999999999999",
    ])
    func `since another history, or after the latest revision, get 410`(query: String) throws {
        try withMessages(3) { client in
            let response = try client.get("\(changes)?\(query)")
            #expect(response.status == .gone)
            #expect(try response.problem.code == "cursor_unknown")
            #expect(try response.problem.field == "since")
        }
    }

    @Test(arguments: [
        ("since=x", "since"), ("since=", "since"), ("since=-1", "since"), ("since=:1", "since"),
        ("since=a:", "since"),
        ("since=a:1&epoch=b", "epoch"), ("since=1&epoch=%20", "epoch"), ("since=1&since=2", "since"),
    ])
    func `since an invalid position are refused`(query: String, field: String) throws {
        try withMessages(0) { client in
            let response = try client.get("\(changes)?\(query)")
            #expect(response.status == .badRequest)
            #expect(try response.problem.field == field)
        }
    }
}
