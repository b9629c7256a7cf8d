/// Reads the JSON of one line at a time, strictly and without building a tree.
///
/// The caller reads objects that it knows with `beginObject` and `nextKey`, and values with `value`, which returns arrays and objects as their source
/// text. It is stricter than RFC 8259 where a store couldn't return the same document: integers beyond 64 bits, reals beyond the range of a double,
/// NUL, lone surrogates and repeated keys are refused, at any depth. So is a depth over 64, which also limits the recursion.
///
/// Numbers keep their kind: `1` is an integer, `1.0` and `1e3` are reals. `-0` is the real `-0.0`, because no integer is.
///
/// Returned slices are valid until the next `start`, and as long as the line's own memory is.
struct JSONScanner: ~Copyable {
    static let depthLimit = 64

    /// The line. Methods keep `0 <= position <= end`, and every read of `base` is below `end`.
    var base: UnsafePointer<UInt8>
    var position = 0
    var end = 0
    var depth = 0
    /// White space skipped so far; shows whether the source of a container is minified already.
    var skippedWhitespace = 0
    var keys = JSONKeySet()

    /// Memory for resolved escapes, minified containers and decoded blobs. It is made large enough before the first slice of a line is returned, so
    /// it never moves while slices point into it. Twice the line is enough: text takes at most the length of its source, a container that for the
    /// text inside and once more minified, and a blob has no escapes inside.
    var scratch: UnsafeMutablePointer<UInt8>
    var scratchUsed = 0
    private var scratchCapacity = 4096

    init() {
        scratch = .allocate(capacity: 4096)
        base = UnsafePointer(scratch)
    }

    deinit { scratch.deallocate() }

    /// Begins a new line. All slices returned before become invalid.
    mutating func start(_ line: UnsafeRawBufferPointer) {
        keys.startLine()
        if scratchCapacity < 2 * line.count {
            scratch.deallocate()
            scratchCapacity = max(2 * line.count, scratchCapacity * 2)
            scratch = .allocate(capacity: scratchCapacity)
        }
        // An empty buffer has no address; any will do, because nothing is read from it.
        base = line.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafePointer(scratch)
        end = line.count
        position = 0
        depth = 0
        skippedWhitespace = 0
        scratchUsed = 0
    }

    /// The first byte of the next token, zero at the end of the line.
    mutating func peek() -> UInt8 {
        skipWhitespace()
        return position < end ? base[position] : 0
    }

    /// Reads any value.
    mutating func value() throws(InputError) -> HistoryValue {
        skipWhitespace()
        guard position < end else { throw endOfLine() }
        switch base[position] {
        case UInt8(ascii: "\""):
            position += 1
            return .text(try string())
        case UInt8(ascii: "{"), UInt8(ascii: "["): return try container()
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw notAValue()
        }
    }

    /// Checks that nothing follows.
    mutating func finish() throws(InputError) {
        skipWhitespace()
        guard position == end else {
            throw fail("there is more after the end of the value", "Write one JSON object a line and nothing else.")
        }
    }

    @inline(__always)
    mutating func skipWhitespace() {
        while position < end {
            let byte = base[position]
            guard byte <= 0x20, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d else { return }
            position += 1
            skippedWhitespace += 1
        }
    }

    mutating func literal(_ word: StaticString) throws(InputError) {
        let length = word.utf8CodeUnitCount
        guard end - position >= length, slice(position, position + length).equals(word) else { throw notAValue() }
        position += length
    }

    @inline(__always)
    func slice(_ from: Int, _ to: Int) -> ByteSlice {
        ByteSlice(start: base + from, count: to - from)
    }
}

extension JSONScanner {
    @inline(never)
    func fail(_ problem: String, _ remedy: String, at offset: Int? = nil) -> InputError {
        InputError(offset: offset ?? position, problem: problem, remedy: remedy)
    }

    @inline(never)
    func endOfLine() -> InputError {
        fail("the line ends inside a value", "Write the whole JSON object on one line; a line break in text is \\n.")
    }

    @inline(never)
    func notAValue() -> InputError {
        fail(
            "this isn't a JSON value",
            "Values are text in double quotes, numbers, true, false, null, objects and arrays.")
    }
}
