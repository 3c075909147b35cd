import Glibc
import HTTPTypes
import Signatures

@testable import Chat
@testable import HTTP
@testable import Store
@testable import Tokens
@testable import Transport
@testable import WebSocket
@testable import Wire

// A fuzz target for each parser of bytes from outside. A crash, a report of the sanitizer or a broken rule ends the program, and
// libFuzzer keeps the input.

/// The start of libFuzzer, which is linked with the program.
@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Feeds one input to the target that the environment names.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ pointer: UnsafePointer<UInt8>?, _ length: Int) -> CInt {
    // libFuzzer's bytes are valid during the call, and are copied.
    target(Array(UnsafeBufferPointer(start: pointer, count: length)))
    return 0
}

private let target: @Sendable ([UInt8]) -> Void = {
    guard let name = getenv("BACKSCROLL_FUZZ_TARGET").map({ String(cString: $0) }), let target = targets[name] else {
        fatalError("BACKSCROLL_FUZZ_TARGET must be one of \(targets.keys.sorted())")
    }
    return target
}()

private let targets: [String: @Sendable ([UInt8]) -> Void] = [
    "http": http, "websocket": webSocket, "json": json, "tokens": tokens, "proxy": proxy, "since": since,
    "imports": imports,
]

private func check(_ rule: Bool, _ text: StaticString) {
    if !rule { fatalError("\(text)") }
}

/// Returns the input without its first byte, which is the place of a cut, and that cut into two pieces, and into single bytes as
/// far as the longest head of a request.
private func cut(_ input: [UInt8]) -> (whole: [UInt8], pieces: [[[UInt8]]]) {
    guard let first = input.first else { return ([], []) }
    let bytes = Array(input.dropFirst())
    let place = min(Int(first), bytes.count)
    return (
        bytes,
        [
            [Array(bytes[..<place]), Array(bytes[place...])],
            bytes.prefix(512).map { [$0] } + [Array(bytes.dropFirst(512))],
        ]
    )
}

/// Checks that a parser reads the same from an input however it is cut. Returns what it reads from the whole.
private func checkCuts<Result: Equatable>(_ input: [UInt8], _ rule: StaticString, _ read: ([[UInt8]]) -> Result)
    -> Result
{
    let (whole, pieces) = cut(input)
    let result = read([whole])
    for pieces in pieces { check(read(pieces) == result, rule) }
    return result
}

// MARK: Requests

private func http(_ input: [UInt8]) {
    var limits = HTTPLimits()
    limits.headBytes = 400
    limits.bodyBytes = 64
    _ = checkCuts(input, "requests are the same, however they are cut") { pieces in
        var parser = RequestParser(limits: limits)
        var events: [String] = []
        for piece in pieces {
            parser.append(piece.span)
            reading: while true {
                do throws(RequestRefusal) {
                    switch try parser.next() {
                    case .needMoreBytes: break reading
                    case .sendContinue: continue
                    case .request(let request):
                        check(request.body.count <= limits.bodyBytes, "a body within its bound")
                        events.append(text(of: request))
                    }
                } catch {
                    events.append(error.description)
                    return events
                }
            }
        }
        return events
    }
}

/// Returns all that a request says.
private func text(of request: Request) -> String {
    let head = request.head
    let fields = head.headerFields.map { field in
        "\(field.name.rawName): \(field.withUnsafeBytesOfValue { Array($0) })"
    }
    return """
        \(head.method) \(head.path ?? "") of \(head.authority ?? "") in 1.\(request.minorVersion), \(request.keepAlive)
        \(fields) \(request.body)
        """
}

// MARK: Frames

private func webSocket(_ input: [UInt8]) {
    _ = checkCuts(input, "messages are the same, however they are cut") { pieces in
        var reader = MessageReader(role: .server, maxMessageBytes: 1024, allowsCompression: true)
        var events: [String] = []
        for piece in pieces {
            reader.append(piece.span)
            reading: while true {
                do throws(WebSocketError) {
                    let event = try reader.next()
                    switch event {
                    case .needMoreBytes: break reading
                    case .text(let bytes):
                        check(String(validating: bytes, as: UTF8.self) != nil, "a text is UTF-8")
                        check(bytes.count <= 1024, "a message within its bound")
                    case .binary(let bytes): check(bytes.count <= 1024, "a message within its bound")
                    default: break
                    }
                    events.append("\(event)")
                } catch {
                    events.append(error.reason)
                    return events
                }
            }
        }
        return events
    }
    let lines = String(decoding: input.dropFirst(), as: UTF8.self).split(separator: "\n").map(String.init)
    _ = try? ServerHandshake(
        .init(
            method: "GET", httpMinorVersion: 1, host: ["x"], upgrade: ["websocket"], connection: ["upgrade"],
            version: ["13"], key: ["dGhlIHNhbXBsZSBub25jZQ=="], subprotocols: lines, extensions: lines),
        supporting: ["chat"], deflatingWithin: 9...12)
}

// MARK: JSON

private func json(_ input: [UInt8]) {
    let canonical = CanonicalJSON.bytes(of: input)
    check(CanonicalJSON.bytes(of: canonical) == canonical, "a canonical text is its own")
    if let draft = try? Draft.decode(input) {
        var first: [UInt8] = []
        draft.encode(into: &first)
        guard let again = try? Draft.decode(first) else { fatalError("a draft is decoded again") }
        var second: [UInt8] = []
        again.encode(into: &second)
        check(first == second, "a draft is the same when it is decoded again")
    }
    // Snapshots are the server's own: the encoder relies on the room's id.
    if let message = try? Message(decoding: input), (try? RoomID(message.room.string)) != nil {
        var first: [UInt8] = []
        message.encode(into: &first)
        guard let again = try? Message(decoding: first) else { fatalError("a message is decoded again") }
        var second: [UInt8] = []
        again.encode(into: &second)
        check(first == second, "a message is the same when it is decoded again")
    }
    if let frame = try? ClientFrame.decode(input) {
        check(
            (try? ClientFrame.decode(bytes(of: frame))) == frame,
            "a client's frame is the same when it is decoded again")
    }
}

/// Returns a frame as a client writes it.
private func bytes(of frame: ClientFrame) -> [UInt8] {
    let members: [(name: String, value: String?)]
    switch frame {
    case .subscribe(let room, let since, let epoch):
        let position = since.map { ($0.epoch.map { $0 + ":" } ?? "") + String($0.rev) }
        members = [("type", "subscribe"), ("room", room.string), ("since", position), ("epoch", epoch)]
    case .subscribeMine(let epoch): members = [("type", "subscribe"), ("rooms", "mine"), ("epoch", epoch)]
    case .unsubscribe(let room): members = [("type", "unsubscribe"), ("room", room.string)]
    case .unsubscribeMine: members = [("type", "unsubscribe"), ("rooms", "mine")]
    case .typing(let room): members = [("type", "typing"), ("room", room?.string)]
    case .token(let token): members = [("type", "token"), ("token", token)]
    }
    var json: [UInt8] = []
    for (name, value) in members {
        guard let value else { continue }
        json.append(UInt8(ascii: json.isEmpty ? "{" : ","))
        json.append(quoted: name)
        json.append(UInt8(ascii: ":"))
        json.append(quoted: value)
    }
    return json + [UInt8(ascii: "}")]
}

// MARK: Tokens

/// The key that `Tests/Fuzz/tokens/signed` is signed with.
private let secret = Array("a secret of the fuzz targets only".utf8)
private let verifier = TokenVerifier(
    rules: TokenRules(keys: KeyRing(keys: [KeyRing.Key(id: "k1", verifyingKey: VerifyingKey(secret: secret))])))

private func tokens(_ input: [UInt8]) {
    let now = Timestamp(milliseconds: 1_700_000_000_000)
    func identity(_ token: [UInt8]) -> Identity? { try? verifier.identity(of: token, at: now) }

    if identity(input) != nil {
        let dot = input.lastIndex(of: UInt8(ascii: ".")) ?? 0
        check(
            Base64URL.decode(input[(dot + 1)...]) == HMACSHA256.code(of: input[..<dot], secret: secret),
            "a valid token has its key's signature")
    }
    // The input with a valid signature: as a header, and as claims.
    let header = try? TokenHeader(input)
    let isKnown = header?.algorithm == .hs256 && ["k1", nil].contains(header?.keyID)
    checkSignature(
        of: input, Array(#"{"sub":"alice","exp":1800000000}"#.utf8), gives: { isKnown == (identity($0) != nil) })
    let claimed = (try? Claims(input)).flatMap { try? verifier.identity(of: $0, at: now) }
    check(claimed.map { $0.user != nil && $0.user != .deleted } ?? true, "an identity has a user")
    checkSignature(of: Array(#"{"alg":"HS256"}"#.utf8), input, gives: { identity($0) == claimed })

    func checkSignature(of header: [UInt8], _ payload: [UInt8], gives isExpected: ([UInt8]) -> Bool) {
        let text = Base64URL.encode(header) + "." + Base64URL.encode(payload)
        var signature = HMACSHA256.code(of: Array(text.utf8)[...], secret: secret)
        check(isExpected(Array("\(text).\(Base64URL.encode(signature))".utf8)), "a signed token is what its parts are")
        signature[input.count % signature.count] ^= 1 << UInt8(input.count / signature.count % 8)
        check(
            identity(Array("\(text).\(Base64URL.encode(signature))".utf8)) == nil,
            "no token with another signature is valid")
    }
}

// MARK: PROXY headers

private func proxy(_ input: [UInt8]) {
    struct Reading: Equatable {
        var outcome: ProxyHeader.Outcome
        var taken = 0
    }
    let reading = checkCuts(input, "headers are the same, however they are cut") { pieces in
        var header = ProxyHeader()
        var taken = 0
        for piece in pieces {
            let count = header.take(piece.span)
            check(count <= piece.count, "no more bytes than there are")
            taken += count
            if header.outcome != .needMoreBytes { break }
        }
        return Reading(outcome: header.outcome, taken: taken)
    }
    check(reading.taken <= 16 + ProxyHeader.longestPayload, "a header within its bound")
}

// MARK: Positions

private func since(_ input: [UInt8]) {
    let parts = String(decoding: input, as: UTF8.self).split(
        separator: "\n", maxSplits: 1, omittingEmptySubsequences: false
    ).map(String.init)
    guard let position = try? SincePosition(parsing: parts[0], epoch: parts.count > 1 ? parts[1] : nil) else { return }
    check(position.rev >= 0, "a revision is not negative")
    let text = (position.epoch.map { $0 + ":" } ?? "") + String(position.rev)
    check((try? SincePosition(parsing: text)) == position, "a position is the same when it is parsed again")
    if let epoch = position.epoch {
        check(position.rev(inHistory: epoch + "x") == .max, "a position of another history is beyond every revision")
    }
}

// MARK: Imports

private func imports(_ input: [UInt8]) {
    guard let line = try? TransferLine.decode(input) else { return }
    // An export names the seq of each message; other programs' lines need not.
    if case .message(let message) = line, message.seq == nil { return }
    var first: [UInt8] = []
    line.encode(into: &first)
    check(first.last == UInt8(ascii: "\n") && !first.dropLast().contains(UInt8(ascii: "\n")), "a line is one line")
    guard let again = try? TransferLine.decode(first) else { fatalError("a line is decoded again") }
    var second: [UInt8] = []
    again.encode(into: &second)
    check(first == second, "a line is the same when it is decoded again")
}
