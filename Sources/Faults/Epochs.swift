/// The fault `new-epoch`: answers and frames have another epoch, and only its cursors are valid.
///
/// The other epoch is the true one with a suffix, so a client that has reloaded its rooms can continue.
enum Epochs {
    private static let suffix = "fault"

    /// Returns bytes of the server with the other epoch in place of the true one.
    static func renamed(_ bytes: [UInt8], _ epoch: String) -> [UInt8] {
        bytes.replacing(epoch.utf8, with: (epoch + suffix).utf8)
    }

    /// Returns a client's query or frame with the true epoch in place of the other one. The server refuses a true epoch,
    /// because it gets the suffix.
    static func restored(in text: String) -> String {
        text.replacing(#/(since|cursor|epoch)("\s*:\s*"|=)([A-Za-z0-9]+)(:|%3[Aa]|"|&|$)/#) { match in
            let (_, name, opening, epoch, end) = match.output
            // A position without an epoch is a revision.
            guard name == "epoch" || end == ":" || end.hasPrefix("%") else { return String(match.0) }
            return "\(name)\(opening)\(restored(epoch))\(end)"
        }
    }

    /// Returns the id of an event, EPOCH:REV, with the true epoch in place of the other one.
    static func restored(eventID id: String) -> String {
        guard let colon = id.firstIndex(of: ":") else { return id }
        return restored(id[..<colon]) + id[colon...]
    }

    private static func restored(_ epoch: Substring) -> String {
        epoch.hasSuffix(suffix) ? String(epoch.dropLast(suffix.count)) : epoch + suffix
    }
}
