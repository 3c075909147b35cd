import Glibc

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

/// Returns the input without its first byte, which is the place of a cut, and the two pieces.
private func cut(_ input: [UInt8]) -> (whole: [UInt8], pieces: [[UInt8]]) {
    guard let first = input.first else { return ([], []) }
    let bytes = Array(input.dropFirst())
    let place = min(Int(first), bytes.count)
    return (bytes, [Array(bytes[..<place]), Array(bytes[place...])])
}

// MARK: Requests

private func http(_ input: [UInt8]) {
    var limits = HTTPLimits()
    limits.headBytes = 400
    limits.bodyBytes = 64
    func read(_ pieces: [[UInt8]]) -> [String] {
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
                        events.append("\(request.head.method) \(request.head.path ?? "") \(request.body)")
                    }
                } catch {
                    events.append(error.description)
                    return events
                }
            }
        }
        return events
    }
    let (whole, pieces) = cut(input)
    check(read([whole]) == read(pieces), "requests are the same, however they are cut")
}

// MARK: Frames

private func webSocket(_ input: [UInt8]) {
    func read(_ pieces: [[UInt8]]) -> [String] {
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
    let (whole, pieces) = cut(input)
    check(read([whole]) == read(pieces), "messages are the same, however they are cut")
    let lines = String(decoding: whole, as: UTF8.self).split(separator: "\n").map(String.init)
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
    if let message = try? Message(decoding: input) {
        var bytes: [UInt8] = []
        message.encode(into: &bytes)
        check((try? Message(decoding: bytes)) != nil, "a message is decoded again")
    }
    _ = try? ClientFrame.decode(input)
}

// MARK: Tokens

private let verifier = TokenVerifier(rules: TokenRules(keys: KeyRing(keys: [])))

private func tokens(_ input: [UInt8]) {
    let now = Timestamp(milliseconds: 1_700_000_000_000)
    check((try? verifier.identity(of: input, at: now)) == nil, "no token is valid without its key")
    _ = try? TokenHeader(input)
    if let claims = try? Claims(input), let identity = try? verifier.identity(of: claims, at: now) {
        check(identity.user != nil && identity.user != .deleted, "an identity has a user")
    }
}

// MARK: PROXY headers

private func proxy(_ input: [UInt8]) {
    func read(_ pieces: [[UInt8]]) -> (outcome: ProxyHeader.Outcome, taken: Int) {
        var header = ProxyHeader()
        var taken = 0
        for piece in pieces {
            let count = header.take(piece.span)
            check(count <= piece.count, "no more bytes than there are")
            taken += count
            if header.outcome != .needMoreBytes { break }
        }
        return (header.outcome, taken)
    }
    let (whole, pieces) = cut(input)
    let (first, second) = (read([whole]), read(pieces))
    check(first == second, "headers are the same, however they are cut")
    check(first.taken <= 16 + ProxyHeader.longestPayload, "a header within its bound")
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
