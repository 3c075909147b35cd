/// The parameters of a statement, in binary format, numbered from 1 in the order in which they are appended.
struct PostgresParameters {
    /// The types of parameters (pg_type.oid).
    enum ValueType: UInt32 {
        /// The type that follows from the statement. Only for NULL.
        case inferred = 0
        case bytes = 17
        case integer = 20
        case text = 25
        case textArray = 1009
        case integerArray = 1016
    }

    private(set) var types: [ValueType] = []
    /// The values; `nil` for NULL.
    private(set) var values: [[UInt8]?] = []

    /// Sets the value with a number, from 1.
    mutating func set(_ value: [UInt8]?, as type: ValueType, at number: Int) {
        while values.count < number { append(nil, as: .inferred) }
        values[number - 1] = value
        types[number - 1] = type
    }

    /// Appends a value in PostgreSQL's binary format.
    mutating func append(_ value: [UInt8]?, as type: ValueType) {
        types.append(type)
        values.append(value)
    }

    mutating func append(_ value: Int64) { append(Self.bytes(of: value), as: .integer) }

    /// Appends a text, or NULL.
    mutating func append(_ value: String?) { append(value.map { Array($0.utf8) }, as: .text) }

    /// Appends an array of integers.
    mutating func append(_ values: [Int64]) {
        var bytes = Self.arrayHead(of: .integer, count: values.count, elementBytes: values.count * 8)
        for value in values {
            bytes.append(bigEndian: UInt32(8))
            bytes.append(bigEndian: UInt64(bitPattern: value))
        }
        append(bytes, as: .integerArray)
    }

    /// Appends an array of texts, some of which may be NULL.
    mutating func append(_ values: [String?]) { append(Self.bytes(of: values), as: .textArray) }

    /// Returns an integer's eight bytes in network order.
    static func bytes(of value: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt64(bitPattern: value))
        return bytes
    }

    /// Returns an array of texts, some of which may be NULL.
    static func bytes(of values: [String?]) -> [UInt8] {
        var array = TextArray(count: values.count, bytes: values.reduce(0) { $0 + ($1?.utf8.count ?? 0) })
        for value in values { array.append(value) }
        return array.bytes
    }

    /// Returns the beginning of an array with one dimension, as `array_recv` of PostgreSQL reads it. Each element follows
    /// as its number of bytes and the bytes.
    fileprivate static func arrayHead(of type: ValueType, count: Int, elementBytes: Int) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(20 + 4 * count + elementBytes)
        // The number of dimensions, 1 because there may be NULLs, and the elements' type.
        out.append(bigEndian: UInt32(count == 0 ? 0 : 1))
        out.append(bigEndian: UInt32(1))
        out.append(bigEndian: type.rawValue)
        if count == 0 { return out }
        // The size and the first index.
        out.append(bigEndian: UInt32(count))
        out.append(bigEndian: UInt32(1))
        return out
    }
}

extension PostgresParameters {
    /// An array of texts as a parameter, built without a string for each.
    struct TextArray {
        /// The array as `array_recv` of PostgreSQL reads it.
        private(set) var bytes: [UInt8]

        /// Creates an array that will have `count` elements.
        ///
        /// - Parameter size: An estimate of their bytes.
        init(count: Int, bytes size: Int) {
            bytes = PostgresParameters.arrayHead(of: .text, count: count, elementBytes: size)
        }

        mutating func append(_ text: ArraySlice<UInt8>) {
            bytes.append(bigEndian: UInt32(text.count))
            bytes.append(contentsOf: text)
        }

        /// Appends a text, or NULL.
        mutating func append(_ text: String?) {
            bytes.append(bigEndian: text.map { UInt32($0.utf8.count) } ?? .max)
            if let text { bytes.append(contentsOf: text.utf8) }
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append<T: FixedWidthInteger>(bigEndian value: T) {
        var shift = T.bitWidth
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: value >> T(shift)))
        }
    }
}
