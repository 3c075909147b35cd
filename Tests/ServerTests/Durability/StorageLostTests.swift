import Glibc
import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing

@Suite("A server whose database is deleted")
struct StorageLostTests {
    /// Asks until readiness has this status.
    private func waitForReadiness(_ status: HTTPResponse.Status, _ client: HTTPClient) throws {
        try waitUntil { try client.get("/readyz").status == status }
    }

    @Test(.onSQLite(.files))
    func `reports it to senders, readers and /readyz until the file is back`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1", id: "1")
            let path = server.configuration.database
            #expect(rename(path, path + ".away") == 0)
            // The server checks the files once a second.
            try waitForReadiness(.serviceUnavailable, client)
            let answers = try [
                client.get("/readyz"), client.post(HTTPClient.draft("2", id: "2")),
                client.get("/v1/rooms/lobby/messages"),
            ]
            for answer in answers {
                #expect(answer.status == .serviceUnavailable && answer["Retry-After"] == "5")
                #expect(try answer.problem.code == "storage_lost")
                #expect(!answer.text.contains(path))
            }
            #expect(try client.get("/healthz").status == .ok)
            #expect(rename(path + ".away", path) == 0)
            try waitForReadiness(.ok, client)
            #expect(try client.send("2", id: "2").seq == 2)
        }
    }
}
