import HTTP
import HTTPTypes
import Testing

@Suite("The links of a page")
struct PageLinkTests {
    private let messages = "/v1/rooms/lobby/messages"

    /// Returns the targets of a `Link` header by relation (RFC 8288, section 3).
    private func links(_ response: Response) throws -> [String: String] {
        var links: [String: String] = [:]
        for link in response["Link"]?.split(separator: ", ") ?? [] {
            guard let match = link.wholeMatch(of: /<([^>]*)>; rel="(prev|next)"/) else {
                throw Unexpected(String(link))
            }
            links[String(match.2)] = String(match.1)
        }
        return links
    }

    /// Follows the links of one relation from a page to the end.
    private func walk(_ relation: String, from target: String, _ client: HTTPClient) throws -> [[Int64]] {
        var pages: [[Int64]] = []
        var next: String? = target
        while let target = next {
            let response = try client.get(target)
            guard response.status == .ok else { throw Unexpected(response) }
            pages.append(try decode(response.body, as: ReceivedPage.self).seqs)
            next = try links(response)[relation]
        }
        return pages
    }

    @Test(arguments: [1, 3, 10, 47, 200])
    func `lead to every message exactly once, in both directions, from any place`(limit: Int) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for index in 0..<47 { try client.send("\(index)") }
            let all = Array(1...47 as ClosedRange<Int64>)
            func joined(_ pages: [[Int64]], then more: [[Int64]] = []) -> [Int64] { Array((pages + more).joined()) }
            #expect(joined(try walk("prev", from: "\(messages)?limit=\(limit)", client).reversed()) == all)
            #expect(joined(try walk("next", from: "\(messages)?after=0&limit=\(limit)", client)) == all)
            let older = try walk("prev", from: "\(messages)?around=20&limit=\(limit)", client)
            let newer = try walk("next", from: "\(messages)?around=20&limit=\(limit)", client)
            #expect(older[0] == newer[0])
            #expect(joined(older.dropFirst().reversed(), then: newer) == all)
            // From beyond an end back through the whole room.
            #expect(joined(try walk("prev", from: "\(messages)?after=last&limit=\(limit)", client).reversed()) == all)
            #expect(joined(try walk("next", from: "\(messages)?before=first&limit=\(limit)", client)) == all)
        }
    }

    @Test func `are relative, and keep only the limit of the query`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for index in 0..<9 { try client.send("\(index)") }
            let response = try client.get("\(messages)?around=5&limit=3&user=alice&access_token=secret")
            #expect(
                try links(response) == [
                    "prev": "\(messages)?before=4&limit=3", "next": "\(messages)?after=6&limit=3",
                ])
            #expect(try links(client.get(messages)) == [:])
            #expect(try links(client.get("\(messages)?limit=8")) == ["prev": "\(messages)?before=2&limit=8"])
        }
    }
}
