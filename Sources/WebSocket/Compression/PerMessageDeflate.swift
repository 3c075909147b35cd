/// The compression that both ends have negotiated (RFC 7692 §7.1).
///
/// No message refers to an earlier one (`no_context_takeover`, both ways). A broadcast message is therefore compressed
/// once for all receivers, and an idle connection costs no memory.
public struct PerMessageDeflate: Equatable, Sendable {
    /// The base-2 logarithms of the windows that zlib supports. The RFC's smallest, 8, is not among them.
    public static let windowBits = 9...15

    /// The base-2 logarithm of the largest window that the server may use; nil means no bound.
    public let serverMaxWindowBits: Int?

    /// The offer that a client sends.
    static let offer = "\(name); \(Parameters.serverNoContextTakeover); \(Parameters.clientNoContextTakeover)"

    private static let name = "permessage-deflate"

    /// Accepts the first offer that can be met. Returns nil if there is none; messages are then not compressed.
    ///
    /// - Parameters:
    ///   - offers: the client's offers, in order of preference.
    ///   - windowBits: the windows that the server can compress with. An offer that requires a smaller one is declined.
    init?(accepting offers: ExtensionList, within windowBits: ClosedRange<Int>) {
        precondition(Self.windowBits.contains(windowBits.lowerBound) && Self.windowBits.contains(windowBits.upperBound))
        for offer in offers.elements where offer.name == Self.name {
            guard let asked = Parameters(offer) else { continue }
            let bits = asked.serverMaxWindowBits
            if let bits, bits < windowBits.lowerBound { continue }
            serverMaxWindowBits = bits.map { min($0, windowBits.upperBound) }
            return
        }
        return nil
    }

    /// Reads the server's answer to ``offer``. Returns nil if the answer is not allowed.
    init?(answeredBy element: ExtensionList.Element) {
        guard element.name == Self.name, let parameters = Parameters(element) else { return nil }
        // The first parameter was requested (§7.1.1.1). The second is allowed only for a client that offered it
        // (§7.1.2.2).
        guard parameters.hasServerNoContextTakeover, !parameters.hasClientMaxWindowBits else { return nil }
        serverMaxWindowBits = parameters.serverMaxWindowBits
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

        /// Returns nil for parameters that must be declined (§7): unknown or repeated ones, and invalid values.
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

        /// Parses a number from 8 to 15 without leading zeros (§7.1.2.1).
        private static func windowBits(_ value: String) -> Int? {
            guard let bits = Int(value), (8...15).contains(bits), String(bits) == value else { return nil }
            return bits
        }
    }
}
