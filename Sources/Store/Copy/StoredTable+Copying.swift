import Wire

/// Copying rows of a table.
extension StoredTable {
    // MARK: Statements

    /// Returns the statement that reads up to `limit` rows, after a key or from the first row on.
    func select(after hasPlace: Bool, limit: Int) -> String {
        let key = columns.prefix(keyCount).map(\.quoted).joined(separator: ", ")
        let marks = (1...keyCount).map { "$\($0)" }.joined(separator: ", ")
        return "SELECT \(columns.map { $0.source ?? $0.quoted }.joined(separator: ", ")) FROM \(name)"
            + (hasPlace ? " WHERE (\(key)) > (\(marks))" : "") + " ORDER BY \(key) LIMIT \(limit)"
    }

    /// Returns the statement that inserts a row.
    ///
    /// - Parameter overriding: The words by which a numbered row keeps its number.
    func insert(overriding: String) -> String {
        let names = columns.map(\.quoted).joined(separator: ", ")
        let marks = (1...columns.count).map { "$\($0)" }.joined(separator: ", ")
        let overriding = isNumbered ? overriding : ""
        return "INSERT INTO \(name) (\(names))\(overriding) VALUES (\(marks))"
    }

    /// Returns the values of a row that ``select(after:limit:)`` has selected.
    func values(of row: some SQLStatement) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(columns.count)
        for (index, column) in columns.enumerated() {
            let index = Int32(index)
            if row.isNull(index) {
                values.append(.null)
                continue
            }
            switch column.kind {
            case .integer: values.append(.integer(row.integer(index)))
            case .text: values.append(.text(row.text(index)))
            case .bytes: values.append(.bytes(row.bytes(index)))
            }
        }
        return values
    }

    // MARK: Progress

    /// Returns the text of a row's key, to store.
    func text(ofKey values: ArraySlice<Value>) -> String {
        values.map { value in
            switch value {
            case .integer(let integer): "\(integer)"
            case .text(let text): text
            case .null, .bytes: ""
            }
        }.joined(separator: "\t")
    }

    /// Reads a stored key. No part of a key contains a tab.
    func key(_ text: String) -> [Value] {
        zip(columns.prefix(keyCount), text.split(separator: "\t", omittingEmptySubsequences: false)).map {
            $0.kind == .integer ? .integer(Int64($1) ?? 0) : .text(String($1))
        }
    }
}

extension SQLStatement {
    /// Binds values, from the first parameter on.
    func bind(_ values: some Sequence<StoredTable.Value>) throws {
        var index: Int32 = 1
        for value in values {
            switch value {
            case .null: try bindNull(at: index)
            case .integer(let integer): try bind(integer, at: index)
            case .text(let text): try bind(text, at: index)
            case .bytes(let bytes): try bind(bytes, at: index)
            }
            index += 1
        }
    }
}
