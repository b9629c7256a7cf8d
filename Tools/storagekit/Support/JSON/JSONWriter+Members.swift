import StorageCore

/// Writes members of objects, one for each call. Nil is written as null.
extension JSONWriter {
    mutating func member(_ name: String, _ value: Bool) {
        key(name)
        bool(value)
    }

    mutating func member(_ name: String, _ value: Int64?) {
        key(name)
        if let value { integer(value) } else { null() }
    }

    mutating func member(_ name: String, _ value: Int) { member(name, Int64(value)) }

    mutating func member(_ name: String, _ value: Double) {
        key(name)
        real(value)
    }

    mutating func member(_ name: String, _ value: String?) {
        key(name)
        if let value { text(value) } else { null() }
    }

    /// - Parameter time: Microseconds since 1970.
    mutating func member(_ name: String, time value: Int64?) {
        key(name)
        if let value { time(value) } else { null() }
    }

    mutating func member(_ name: String, _ texts: [String]) {
        key(name)
        beginArray()
        for value in texts { text(value) }
        endArray()
    }

    mutating func member(_ name: String, _ record: (some JSONRecord)?) throws {
        key(name)
        if let record { try object(record) } else { null() }
    }

    mutating func member(_ name: String, _ records: [some JSONRecord]) throws {
        key(name)
        beginArray()
        for record in records { try object(record) }
        endArray()
    }

    mutating func member(_ name: String, _ records: JSONStream<some JSONRecord>) throws {
        key(name)
        beginArray()
        try records.forEach { try object($0) }
        endArray()
    }

    /// An object with a member for each name, in the order of names.
    mutating func member<Value>(
        _ name: String, byName values: [String: Value], _ write: (inout JSONWriter, Value) throws -> Void
    ) rethrows {
        try member(name, byName: values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, write)
    }

    /// An object with a member for each pair. Two spellings of é are two names, which a dictionary couldn't hold.
    mutating func member<Value>(
        _ name: String, byName values: [(String, Value)], _ write: (inout JSONWriter, Value) throws -> Void
    ) rethrows {
        key(name)
        beginObject()
        for (name, value) in values {
            key(name)
            try write(&self, value)
        }
        endObject()
    }

    mutating func object(_ record: some JSONRecord) throws {
        beginObject()
        try record.write(to: &self)
        endObject()
    }
}
