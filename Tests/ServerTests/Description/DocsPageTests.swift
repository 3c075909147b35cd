import Chat
import HTTP
import HTTPTypes
import Testing
import WebSocket
import Wire

@testable import Server

@Suite("The page on frames")
struct DocsPageTests {
    private var page: String { String(decoding: DocsPage.content.bytes, as: UTF8.self) }

    @Test(arguments: [false, true])
    func `is served to everybody and loads nothing else`(wantsTokens: Bool) async throws {
        try await withServer(wantsTokens: wantsTokens) { server in
            let client = try HTTPClient(port: server.port)
            let response = try client.get("/docs")
            #expect(response.status == .ok && response["Content-Type"] == "text/html; charset=utf-8")
            #expect(response.text == page && page.contains("href=\"/openapi.json\""))
            for foreign in ["<script", "src=", "@import", "url(", "https://", "http://"] {
                #expect(!page.contains(foreign))
            }
            #expect(try client.get("/").text.contains("/docs"))
        }
    }

    @Test func `closes each of its tags`() {
        var open: [Substring] = []
        for match in page.matches(of: /<(\/?)([a-z][a-z0-9]*)[^>]*>/) where !["meta", "doctype"].contains(match.2) {
            if match.1.isEmpty {
                open.append(match.2)
            } else {
                #expect(open.popLast() == match.2)
            }
        }
        #expect(open.isEmpty)
    }

    @Test func `names every frame that the server sends`() {
        let types = DocsPage.Frame.ofServer.map(\.type)
        #expect(types == ["subscribed", "message", "live", "typing", "read", "block", "notify", "presence", "error"])
        // A new server frame also belongs in this list; the switch below does not compile without it.
        let frames: [ServerFrame] = [
            .subscribed(room: try! RoomID("lobby"), head: 0, rev: 0, epoch: "e"), .live(room: try! RoomID("a"), rev: 0),
            .error(.notSubscribed), .typing(room: try! RoomID("a"), user: try! UserID("b")),
            .read(room: try! RoomID("a"), user: try! UserID("b"), seq: 1), .presence(room: try! RoomID("a"), online: 1),
            .block(user: try! UserID("b"), blocked: true), .notify(room: try! RoomID("a"), NotifySettings()),
        ]
        for frame in frames {
            let type =
                switch frame {
                case .subscribed: "subscribed"
                case .live: "live"
                case .error: "error"
                case .typing: "typing"
                case .read: "read"
                case .block: "block"
                case .notify: "notify"
                case .presence: "presence"
                }
            #expect(page.contains("<b>\(type)</b>"))
        }
        #expect(page.contains("<b>message</b>"))
    }

    @Test func `shows server frames as the server writes them`() throws {
        let (room, user) = (try RoomID("lobby"), try UserID("bob"))
        let frames: [ServerFrame] = [
            .subscribed(room: room, head: 5, rev: 7, epoch: "RNmyYL9bWlAE2Ja9ThuN"), .live(room: room, rev: 7),
            .typing(room: room, user: user), .read(room: room, user: user, seq: 4), .presence(room: room, online: 3),
            .block(user: user, blocked: true),
            .notify(
                room: room, NotifySettings(level: .mentions, until: Timestamp(rfc3339: "2099-01-01T08:00:00Z"))),
            .error(.rateLimited(retryAfter: 3), room: "lobby"),
        ]
        for frame in frames {
            var bytes: [UInt8] = []
            frame.encode(into: &bytes)
            let shown = DocsPage.Frame.ofServer.first { $0.type == frame.type.description }
            #expect(shown?.examples == [String(decoding: bytes, as: UTF8.self)])
        }
    }

    @Test func `names every frame that clients send, with examples that the server accepts`() throws {
        for frame in DocsPage.Frame.ofClient {
            #expect(page.contains("<b>\(frame.type)</b>"))
            for example in frame.examples {
                let type =
                    switch try ClientFrame.decode(Array(example.utf8)) {
                    case .subscribe, .subscribeMine: "subscribe"
                    case .unsubscribe, .unsubscribeMine: "unsubscribe"
                    case .typing: "typing"
                    case .token: "token"
                    }
                #expect(type == frame.type && page.contains(DocsPage.escaped(example)))
            }
        }
        #expect(Set(DocsPage.Frame.ofClient.map(\.type)) == ["subscribe", "unsubscribe", "typing", "token"])
    }

    @Test func `names every close code that the server sends and counts`() {
        let named = Set(page.matches(of: /<b>(\d{4})<\/b>/).map { UInt16($0.1)! })
        let counted = CloseCounters.codes.map(CloseCode.init).filter(\.mayBeSent).map(\.rawValue)
        #expect(named.isSuperset(of: counted))
        let least: [CloseCode] = [.tokenExpired, .notMember, .noProgress, .tooManyFrames, .tryAgainLater]
        #expect(named.isSuperset(of: least.map(\.rawValue)))
    }

    @Test func `lists every operation`() {
        for operation in APIOperation.all {
            #expect(page.contains("<code>\(operation.route.method) \(operation.route.path)</code>"))
        }
    }
}
