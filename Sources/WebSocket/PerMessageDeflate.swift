/// What two ends have agreed on about the compression of messages (RFC 7692 §7.1).
///
/// Neither end ever refers to an earlier message (`no_context_takeover`, both ways). So a message that goes to many is
/// compressed once for all of them, and a connection costs no memory while nothing is on its way.
public struct PerMessageDeflate: Equatable, Sendable {
    /// The base-2 logarithms of the windows that zlib can compress with. The RFC's smallest, 8, is not among them.
    public static let windowBits = 9...15

    /// The base-2 logarithm of the window that the server's messages have to keep to; nil: any.
    public let serverMaxWindowBits: Int?

    /// What a client offers.
    static let offer = "\(name); \(Parameters.serverNoContextTakeover); \(Parameters.clientNoContextTakeover)"

    private static let name = "permessage-deflate"

    /// Accepts the first offer that can be met. Nil when there is none; nothing is then compressed.
    ///
    /// - Parameters:
    ///   - offers: what the client has sent, the best first.
    ///   - windowBits: the windows that the server can compress with. An offer that asks for a smaller one is declined.
    init?(accepting offers: ExtensionList, within windowBits: ClosedRange<Int>) {
        precondition(Self.windowBits.contains(windowBits.lowerBound) && Self.windowBits.contains(windowBits.upperBound))
        for offer in offers.elements where offer.name == Self.name {
            guard let asked = Parameters(offer) else { continue }
            guard let bits = asked.serverMaxWindowBits else {
                self.init(serverMaxWindowBits: nil)
                return
            }
            if bits >= windowBits.lowerBound {
                self.init(serverMaxWindowBits: min(bits, windowBits.upperBound))
                return
            }
        }
        return nil
    }

    /// Takes what the server has made of ``offer``. Nil when it may not be so.
    init?(answeredBy element: ExtensionList.Element) {
        guard element.name == Self.name, let parameters = Parameters(element) else { return nil }
        // The first was asked for (§7.1.1.1), and the second only a client that has offered it may be given (§7.1.2.2).
        guard parameters.hasServerNoContextTakeover, !parameters.hasClientMaxWindowBits else { return nil }
        self.init(serverMaxWindowBits: parameters.serverMaxWindowBits)
    }

    private init(serverMaxWindowBits: Int?) {
        self.serverMaxWindowBits = serverMaxWindowBits
    }

    /// The value of `Sec-WebSocket-Extensions` in the server's answer.
    public var answer: String {
        Self.offer + (serverMaxWindowBits.map { "; \(Parameters.serverMaxWindowBits)=\($0)" } ?? "")
    }
}

extension PerMessageDeflate {
    /// The parameters of an offer or an answer.
    private struct Parameters {
        static let serverNoContextTakeover = "server_no_context_takeover"
        static let clientNoContextTakeover = "client_no_context_takeover"
        static let serverMaxWindowBits = "server_max_window_bits"
        static let clientMaxWindowBits = "client_max_window_bits"

        private(set) var hasServerNoContextTakeover = false
        private(set) var hasClientMaxWindowBits = false
        private(set) var serverMaxWindowBits: Int?

        /// Nil for what has to be declined (§7): unknown parameters, one of them twice, values that may not be so.
        init?(_ element: ExtensionList.Element) {
            var seen: Set<String> = []
            for parameter in element.parameters {
                guard seen.insert(parameter.name).inserted else { return nil }
                switch (parameter.name, parameter.value) {
                case (Self.serverNoContextTakeover, nil):
                    hasServerNoContextTakeover = true
                case (Self.clientNoContextTakeover, nil):
                    break
                case (Self.serverMaxWindowBits, let value?):
                    guard let bits = Self.windowBits(value) else { return nil }
                    serverMaxWindowBits = bits
                case (Self.clientMaxWindowBits, let value):
                    guard value == nil || Self.windowBits(value!) != nil else { return nil }
                    hasClientMaxWindowBits = true
                default:
                    return nil
                }
            }
        }

        /// A number from 8 to 15 without leading zeros (§7.1.2.1).
        private static func windowBits(_ value: String) -> Int? {
            guard let bits = Int(value), (8...15).contains(bits), String(bits) == value else { return nil }
            return bits
        }
    }
}
