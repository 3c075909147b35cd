import TextSearch

/// The blocks of the table `words`, each for the messages of a span of time.
///
/// An index of words knows no order. So each token begins with the number of a block, and a search for the newest messages
/// looks into the newest block first.
struct WordBlocks {
    struct Block {
        let number: Int64
        /// The time of its first message, in milliseconds since 1970. The block ends where the next one starts.
        let start: Int64
    }

    /// The blocks, oldest first.
    let blocks: [Block]

    init(_ result: PostgresResult) {
        blocks = (0..<result.count).map { Block(number: result.integer($0, 0), start: result.integer($0, 1)) }
    }

    /// Selects the blocks.
    static let select = "SELECT id, start FROM word_blocks ORDER BY id"

    /// Returns the block of messages of a time.
    func block(at time: Int64) -> Block {
        blocks.last { $0.start <= time } ?? blocks[0]
    }

    /// Returns a token as the block has it.
    static func token(_ token: String, in block: Int64) -> String { "\(block):\(token)" }

    /// Returns the token of a room. No word begins with `#`.
    static func room(_ room: Int64) -> String { "#\(room)" }

    /// Returns the tokens of a message with a space between them, as its block has them. They may repeat.
    func tokens(of text: String, in room: Int64, at time: Int64) -> String {
        let prefix = Array("\(block(at: time).number):".utf8)
        var tokens = prefix + Self.room(room).utf8
        for token in SearchTokens.joined(of: text).utf8.split(separator: UInt8(ascii: " ")) {
            tokens.append(UInt8(ascii: " "))
            tokens += prefix
            tokens += token
        }
        return String(decoding: tokens, as: UTF8.self)
    }
}
