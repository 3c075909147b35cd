import ArgumentParser
import Testing
import Transport
import Wire

@testable import Load

@Suite struct PlanBuilderTests {
    static func plan(_ options: String...) throws -> Plan {
        try PlanBuilder(try LoadCommand.parse(options)).plan(run: 42)
    }

    static func error(_ options: String...) -> String { error(options) }

    static func error(_ options: [String]) -> String {
        do {
            _ = try PlanBuilder(try LoadCommand.parse(options)).plan(run: 42)
            return ""
        } catch {
            return LoadCommand.message(for: error)
        }
    }

    static func request(_ plan: Plan) throws -> String {
        var bytes: [UInt8] = []
        var scratch: [UInt8] = []
        let values = Template.Values(run: 42, room: 1, publisher: 2, number: 3, time: 4)
        try #require(plan.publishing).request.append(values, to: &bytes, scratch: &scratch)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `an address alone loads Backscroll's own API`() throws {
        let plan = try Self.plan("http://127.0.0.1:8080")
        #expect(plan.subscribers == 100 && plan.rooms == 1 && plan.activeRooms == 1 && plan.threads == 1)
        let subscribing = try #require(plan.subscribing)
        let values = Template.Values(run: 42, room: 1, subscriber: 5)
        #expect(subscribing.target.text(values) == "/v1/rooms/load-42-1/live?user=load-42-s5")
        #expect(subscribing.ready == Array(#""type":"live""#.utf8))
        let publishing = try #require(plan.publishing)
        #expect(publishing.pacing == .closed(awaitsDeliveries: true) && publishing.inFlight == 32)
        let request = try Self.request(plan)
        #expect(request.hasPrefix("POST /v1/rooms/load-42-1/messages?user=load-42-p2 HTTP/1.1\r\nHost: 127.0.0.1:8080"))
        #expect(request.contains("\r\nContent-Length: 256\r\n"))
        #expect(request.contains(#"{"client_message_id":"42-1-3","text":"BSL:42:1:3:4;xx"#))
    }

    @Test func `a server may have a path prefix`() throws {
        let plan = try Self.plan("http://h/chat/")
        #expect(plan.subscribing?.endpoint.target.hasPrefix("/chat/v1/rooms/") == true)
        #expect(plan.publishing?.endpoint.target.hasPrefix("/chat/v1/rooms/") == true)
    }

    @Test func `a token names the user`() throws {
        let plan = try Self.plan("http://h", "--header", "Authorization: Bearer x")
        #expect(plan.subscribing?.endpoint.target.contains("user=") == false)
        #expect(plan.subscribing?.headers.text(Template.Values()) == "Authorization: Bearer x\r\n")
        #expect(try Self.request(plan).contains("/messages HTTP/1.1\r\n"))
    }

    @Test func `a rate makes an open loop with more connections`() throws {
        let publishing = try #require(try Self.plan("http://h", "--rate", "50").publishing)
        #expect(publishing.pacing == .open(perSecond: 50))
        #expect(publishing.inFlight == 128)
    }

    @Test func `without subscribers there are only sends`() throws {
        let plan = try Self.plan("http://h", "--subscribers", "0", "--until", "ack")
        #expect(plan.subscribing == nil)
        #expect(plan.publishing?.sendsMessages == true)
        #expect(plan.publishing?.pacing == .closed(awaitsDeliveries: false))
    }

    @Test func `idle connections need no requests`() throws {
        let plan = try Self.plan("http://h", "--idle", "--subscribers", "10000", "--pid", "1,2")
        #expect(plan.publishing == nil)
        #expect(plan.processes == [1, 2])
        #expect(plan.descriptors == 10_000 + Plan.spareDescriptors)
    }

    @Test func `templates load any server`() throws {
        let plan = try Self.plan(
            "--ws", "ws://h:1/sub/{room}", "--post", "http://h:2/pub/{room}", "--ws-protocol", "a", "--ws-protocol",
            "b",
            "--hello", "SUB {room}", "--subscribers", "3", "--rooms", "2", "--active-rooms", "1", "--drain", "2")
        let subscribing = try #require(plan.subscribing)
        #expect(subscribing.protocols == ["a", "b"])
        #expect(subscribing.hello.map { $0.text(Template.Values(room: 1)) } == ["SUB 1"])
        #expect(subscribing.ready == nil)
        #expect(plan.activeRooms == 1)
        #expect(plan.schedule.drain == .seconds(2))
        #expect(try Self.request(plan).contains("\r\n\r\n{\"text\":\"BSL:42:1:3:4;xxx"))
    }

    @Test func `templates load a server with a send protocol of its own`() throws {
        let plan = try Self.plan(
            "--ws", "ws://h:1", "--ws-stream", "--any-order", "--url", "tcp://h:2", "--tcp-hello", "HI {pub}\n",
            "--tcp-frame", "PUB {room} {length}\n{body}\n", "--tcp-answer", "OK\n", "--size", "20")
        #expect(plan.server == "tcp://h:2")
        #expect(plan.subscribing?.isStream == true && plan.allowsAnyOrder)
        let publishing = try #require(plan.publishing)
        #expect(publishing.answers == .text(Array("OK\n".utf8)))
        #expect(publishing.hello?.text(Template.Values(publisher: 3)) == "HI 3\n")
        #expect(try Self.request(plan) == "PUB 1 24\n{\"text\":\"BSL:42:1:3:4;\"}\n")
        let usual = try Self.plan("--ws", "ws://h:1", "--url", "http://h:2")
        #expect(usual.subscribing?.isStream == false && usual.publishing?.answers == .responses)
        #expect(usual.publishing?.hello == nil)
    }

    @Test func `pages are read without subscribers`() throws {
        let plan = try Self.plan("--method", "GET", "--url", "http://h/m?before={rand}", "--rand", "31:40")
        #expect(plan.subscribers == 0)
        #expect(plan.publishing?.sendsMessages == false)
        #expect(plan.publishing?.random == 31...40)
        #expect(try Self.request(plan) == "GET /m?before=0 HTTP/1.1\r\nHost: h\r\n\r\n")
    }

    @Test func `a room with a given name is filled, and its pages are read`() throws {
        let filling = try Self.plan("http://h", "--room", "big", "--messages", "1000", "--subscribers", "0")
        #expect(filling.publishing?.count == 1000)
        #expect(filling.schedule.warmup == .zero)
        #expect(try Self.request(filling).hasPrefix("POST /v1/rooms/big/messages?user="))
        let random = try Self.plan("http://h", "--room", "big", "--pages", "random", "--messages", "1000")
        #expect(random.subscribers == 0 && random.publishing?.count == nil)
        #expect(random.publishing?.random == 31...1001)
        #expect(try Self.request(random).hasPrefix("GET /v1/rooms/big/messages?limit=30&before=0 HTTP/1.1\r\n"))
        let deepest = try Self.plan("http://h", "--room", "big", "--pages", "deepest")
        #expect(try Self.request(deepest).hasPrefix("GET /v1/rooms/big/messages?limit=30&before=31 HTTP/1.1\r\n"))
    }

    @Test func `an https address makes subscribers use TLS, with the given certificates`() throws {
        let plan = try Self.plan("https://h", "--tls-ca", "a.pem")
        #expect(plan.subscribing?.endpoint.isSecure == true && plan.publishing?.endpoint.isSecure == true)
        #expect(plan.subscribing?.endpoint.port == 443)
        #expect(plan.trust == .file("a.pem"))
        #expect(try Self.plan("https://h").trust == .system)
        #expect(try Self.plan("https://h", "--insecure").trust == .anyone)
    }

    @Test func `a storm and a stall are planned`() throws {
        let storm = try Self.plan("http://h", "--rate", "9", "--storm", "50", "--back", "7")
        #expect(storm.disturbance == .storm(clients: 50, back: 7))
        #expect(storm.descriptors == 100 + 50 + 128 + Plan.spareDescriptors)
        let stall = try Self.plan("http://h", "--rate", "9", "--stall", "5", "--stall-seconds", "2")
        #expect(stall.disturbance == .stall(subscribers: 5, .seconds(2)))
    }

    @Test func `there are no more threads than work`() throws {
        #expect(try Self.plan("http://h", "--threads", "8", "--subscribers", "2", "--in-flight", "1").threads == 2)
    }

    @Test func `only loops with a publisher send`() throws {
        #expect(try Self.plan("http://h", "--threads", "4", "--in-flight", "2").sendingLoops == 2)
        #expect(try Self.plan("http://h", "--threads", "4", "--in-flight", "9").sendingLoops == 4)
        #expect(try Self.plan("http://h", "--threads", "4", "--idle").sendingLoops == 4)
    }

    @Test func `a rate of connections adds the time it takes to the patience`() throws {
        let plan = try Self.plan("http://h", "--connect-rate", "0.5")
        #expect(plan.patience(toConnect: 100) == .seconds(200) + Plan.connectPatience)
        #expect(try Self.plan("http://h").patience(toConnect: 100) == Plan.connectPatience)
        let slowest = try Self.plan("http://h", "--connect-rate", "0.001", "--subscribers", "1000000")
        #expect(slowest.patience(toConnect: slowest.subscribers).nanoseconds > 0)
    }

    @Test func `the loops that subscribe to a room are counted`() throws {
        let plan = try Self.plan("http://h", "--threads", "2", "--subscribers", "6", "--rooms", "3")
        #expect((0..<3).map(plan.loopsListening) == [2, 2, 2])
        let even = try Self.plan("http://h", "--threads", "2", "--subscribers", "5", "--rooms", "2")
        #expect((0..<2).map(even.loopsListening) == [1, 1])
        #expect(try Self.plan("http://h", "--subscribers", "1", "--rooms", "2").loopsListening(to: 1) == 0)
    }

    @Test(arguments: [
        (["--pid=x"], "--pid"), (["--insecure", "--tls-ca=x"], "--tls-ca"),
        (["--room=r", "--rooms=2"], "--room"), (["--pages=newest"], "--room"),
        (["--pages=random", "--room=r"], "--messages"), (["--storm=5"], "--rate"), (["--stall=5"], "--rate"),
        (["--storm=5", "--rate=5", "--subscribers=0"], "--subscribers"),
        (["--storm=5", "--rate=5", "--room=r"], "--room"), (["--stall=100", "--rate=5"], "--stall must be 1 to 99"),
        (["--stall=5", "--storm=5", "--rate=5"], "one at a time"),
        (["--stall=5", "--rate=5", "--reconnect"], "--reconnect"), (["--rand=5"], "--rand"), (["--rand=5:1"], "--rand"),
        (["--body=x"], "--body"), (["--header=x"], "--header"),
        (["--method=GET", "--subscribers=1"], "--method"), (["--subscribers=0", "--idle"], "nothing to do"),
    ])
    func `an impossible combination is refused with the option's name`(options: [String], name: String) {
        #expect(Self.error(["http://h"] + options).contains(name))
    }

    @Test func `options that depend on each other are checked`() {
        #expect(Self.error().contains("say which server"))
        #expect(Self.error("--post", "http://h/", "--subscribers", "1").contains("--ws is missing"))
        #expect(Self.error("--ws", "ws://h/", "--post", "http://h/", "--reconnect").contains("--reconnect"))
        for option in ["--ws-stream", "--any-order"] {
            #expect(Self.error("http://h", option) == "\(option): only with --ws")
        }
        #expect(Self.error("--method", "HEAD", "--url", "http://h/").contains("HEAD"))
        #expect(Self.error("--ws", "ws://h/{pub}").contains("{pub}"))
        let frame = ["--tcp-frame={body}", "--tcp-answer=OK"]
        #expect(Self.error(["--url=tcp://h:1", frame[0]]).contains("--tcp-answer is missing"))
        #expect(Self.error(["--url=tcp://h:1", frame[1]]).contains("--tcp-frame is missing"))
        #expect(Self.error(["--url=tcp://h:1", frame[0], "--tcp-answer", ""]).contains("--tcp-answer is missing"))
        #expect(Self.error(["--url=tcp://h:1", "--tcp-frame=PUB", frame[1]]).contains("--tcp-frame lacks {body}"))
        #expect(Self.error(["--url=tcp://h:1", "--method=GET"] + frame).contains("--method GET"))
        #expect(Self.error(["--url=tcp://h:1", "--tcp-hello={seq}"] + frame).contains("--tcp-hello: {seq}"))
        for option in frame + ["--tcp-hello=x"] {
            let error = Self.error(["--url=http://h", option])
            #expect(error.hasPrefix(option.prefix { $0 != "=" }) && error.contains("only with --post tcp://"))
        }
    }

    @Test func `no line of the help exceeds its width`() {
        for line in LoadHelp.discussion.split(separator: "\n") { #expect(line.count <= LoadHelp.columns, "\(line)") }
    }
}
