import HTTP
import HTTPTypes
import Testing

/// Integers with so many zeros that their count just fits an `Int`.
@Suite("A number that is too large")
struct NumberTests {
    static let numbers = ["1e9223372036854775807", "-12e9223372036854775806", "1e99999999999999999999"]

    @Test(arguments: numbers)
    func `is refused wherever an integer is expected`(number: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("x")
            let image = #"{"type":"image","url":"https://example.com/a.jpg","width":\#(number),"height":1}"#
            for (method, path, body) in [
                (.post, "messages", #"{"text":"x","reply_to":\#(number)}"#),
                (.post, "messages", #"{"attachments":[\#(image)]}"#),
                (.patch, "messages/1", #"{"attachments":[\#(image)]}"#), (.put, "read", #"{"seq":\#(number)}"#),
            ] as [(HTTPRequest.Method, String, String)] {
                let response = try client.request(
                    method, "/v1/rooms/lobby/\(path)?user=alice", body: Array(body.utf8))
                #expect(response.status == .badRequest)
                #expect(try response.problem.code == "invalid_field")
            }
        }
    }

    @Test(arguments: numbers)
    func `is refused in frames`(number: String) throws {
        try withServer { server in
            let socket = try WebSocketClient.forRooms(port: server.port)
            try socket.send(#"{"type":"subscribe","room":"lobby","since":\#(number)}"#)
            #expect(try socket.frame().errorCode != nil)
            try socket.join("lobby")
        }
    }

    @Test(arguments: numbers)
    func `is kept unchanged in data`(number: String) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let body = #"{"text":"x","client_message_id":"1","data":{"n":\#(number)}}"#
            for status in [HTTPResponse.Status.created, .ok] {
                let response = try client.post(body)
                #expect(response.status == status)
                #expect(String(decoding: response.body, as: UTF8.self).contains(#""data":{"n":\#(number)}"#))
            }
        }
    }
}
