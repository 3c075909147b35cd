import Signatures

/// Returns the first 4 bytes of the digest of SQL in hexadecimal digits, of which comments and white space are no part.
func digest(ofTables sql: String) -> String {
    let tokens = sql.split(separator: "\n").flatMap { line in
        line.prefix(upTo: line.firstRange(of: "--")?.lowerBound ?? line.endIndex).split(separator: " ")
    }
    return SHA256.digest(of: Array(tokens.joined(separator: " ").utf8)).prefix(4).map {
        String(UInt16($0) + 0x100, radix: 16).dropFirst()
    }.joined()
}
