import Server
import TestSupport
import Testing

@Suite("Nodes on one database", .partOfPostgreSQL)
struct NodeNoticeTests {
    private func withNode(_ url: String, _ body: (LiveServer) throws -> Void) throws {
        try withServer(
            {
                $0.database = url
                $0.presence = true
                $0.presenceInterval = .milliseconds(100)
                $0.readNoticeInterval = .milliseconds(100)
            }, body)
    }

    private func waits(_ client: WebSocketClient, for isMeant: (ReceivedFrame.Content) -> Bool) throws {
        while try !isMeant(client.frame().content) {}
    }

    @Test func `notify subscribers of typing and read marks on another node, and count the subscribers of all nodes`()
        throws
    {
        let database = try TestPostgres.shared()
        let url = database.url(of: try database.createDatabase())
        try withNode(url) { first in
            try HTTPClient(port: first.port).send("1")
            let alice = try WebSocketClient(port: first.port, "/v1/rooms/lobby/live?user=alice")
            try withNode(url) { second in
                let bob = try WebSocketClient(port: second.port, "/v1/rooms/lobby/live?user=bob")
                // Alice has a second device there.
                let also = try WebSocketClient(port: second.port, "/v1/rooms/lobby/live?user=alice")
                while try bob.frame().online != 2 {}
                while try alice.frame().online != 2 {}
                let presence = try HTTPClient(port: first.port).get("/v1/rooms/lobby/presence")
                #expect(presence.text == #"{"room":"lobby","online":2,"users":["alice","bob"]}"#)

                try alice.send(#"{"type":"typing"}"#)
                try waits(bob, for: { if case .typing("lobby", user: "alice") = $0 { true } else { false } })
                _ = try HTTPClient(port: first.port).read(to: 1, as: "alice")
                try waits(bob, for: { if case .read("lobby", user: "alice", seq: 1) = $0 { true } else { false } })
                try waits(also, for: { if case .read("lobby", user: "alice", seq: 1) = $0 { true } else { false } })
            }
            // The node has stopped.
            while try alice.frame().online != 1 {}
        }
    }
}
