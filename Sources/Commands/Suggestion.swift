/// The suggestion in an error about an unknown option.
///
/// ArgumentParser suggests an option that differs in up to three letters, so that it suggests `--host` for `--nope`.
enum Suggestion {
    /// Returns the text of an error, without its suggestion if more than half of the letters differ.
    static func removed(ifFarFetched text: String) -> String {
        guard let match = text.firstMatch(of: /Unknown option '-*(.+?)'(\. Did you mean '-*(.+?)'\?)/) else {
            return text
        }
        let (given, suggested) = (Array(String(match.1).utf8), Array(String(match.3).utf8))
        guard distance(given, suggested) * 2 > given.count else { return text }
        var text = text
        text.removeSubrange(match.2.startIndex..<match.2.endIndex)
        return text
    }

    /// Returns the number of letters to insert, remove or replace to turn one text into the other (Levenshtein).
    private static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        var row = Array(0...second.count)
        for (index, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in second.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
